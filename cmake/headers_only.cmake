# Header-only libraries from the system, each reached through a folder that holds only its own
# headers: a cross compiler, Emscripten among them, must never see the rest of /usr/include.

# tenon_header_only(target folder probe) makes `target` from the headers under `folder`.
function(tenon_header_only target folder probe)
  find_path(${target}_ROOT ${folder}/${probe} PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH)
  if(NOT ${target}_ROOT)
    message(FATAL_ERROR "${folder}/${probe} is missing; run ./dev setup")
  endif()
  set(only ${PROJECT_BINARY_DIR}/headers/${target})
  file(MAKE_DIRECTORY ${only})
  file(CREATE_LINK ${${target}_ROOT}/${folder} ${only}/${folder} SYMBOLIC)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${only})
endfunction()

tenon_header_only(tenon_fmt fmt format.h)
target_compile_definitions(tenon_fmt INTERFACE FMT_HEADER_ONLY=)
tenon_header_only(tenon_json nlohmann json.hpp)
