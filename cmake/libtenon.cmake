# libtenon: the core behind the C ABI.  tenon_core is an object library, so that tests and the
# registry dump link the core itself while the shared library shows only tenon_*.

file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/*.cc)
list(FILTER core_sources EXCLUDE REGEX "_test\\.cc$|/core/testing/|/core/io/fuzz/")
file(GLOB capi_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/capi/src/*.cc)

# The contract: what a program or a plugin outside this tree sees.
add_library(tenon_headers INTERFACE)
add_library(tenon::headers ALIAS tenon_headers)
target_include_directories(
  tenon_headers INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/capi/include>
                          $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

if(NOT core_sources)
  set(core_sources ${PROJECT_BINARY_DIR}/none.cc)
  file(TOUCH ${core_sources})
endif()
if(NOT capi_sources)
  set(capi_sources ${PROJECT_BINARY_DIR}/none.cc)
  file(TOUCH ${capi_sources})
endif()
add_library(tenon_core OBJECT ${core_sources})
target_include_directories(tenon_core PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(tenon_core PUBLIC tenon_headers tenon_compile_options tenon_fmt tenon_json)
target_compile_definitions(tenon_core PUBLIC TENON_BUILDING=1)
tenon_precompile(tenon_core ${PROJECT_SOURCE_DIR}/core/ops/formulas.h)
file(GLOB op_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/ops/*.cc)
file(GLOB_RECURSE io_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/io/*.cc)
# Below -O2 GCC 12 takes the sizes of a shape for unset; what is compiled with it warns of those that are.
set(unset_sizes $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
if(TENON_TESTS AND NOT TENON_SANITIZE STREQUAL "thread")
  # The documents and cases of ops, which tests and ./dev gen read; no user's libtenon holds them.
  target_compile_definitions(tenon_core PUBLIC TENON_WITH_DOCS=1)
  if(NOT TENON_SANITIZE)
    # What an op's file says, and files of programs, are read once: there optimising costs more than it can give.
    set_source_files_properties(${op_sources} ${io_sources} PROPERTIES COMPILE_OPTIONS "-O1;${unset_sizes}")
  endif()
endif()
if(TENON_SANITIZE AND NOT TENON_SANITIZE_ALL)
  # Lines of what ops say cost a tenth of their compile time; a report still names the function.
  set_source_files_properties(${op_sources} PROPERTIES COMPILE_OPTIONS "${tenon_left_out};-g0")
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # An op's rules and derivatives are small rather than fast, but for what every call passes through.
  # So is what writes code down, what is called once for many launches, and what opens devices.
  file(GLOB_RECURSE trace_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/trace/*.cc
       ${PROJECT_SOURCE_DIR}/core/dispatch/profile*.cc)
  list(FILTER trace_sources EXCLUDE REGEX "trace/(composite_programs|executable|program_replay|program_run|segment|slice|trace).cc$")
  set(cold_sources ${io_sources} ${op_sources} ${trace_sources} ${capi_sources}
      ${PROJECT_SOURCE_DIR}/core/base/size_table.cc ${PROJECT_SOURCE_DIR}/core/base/error.cc)
  foreach(name device/elf_check device/loop_table device/plugin_files device/plugin_library device/signature
               dispatch/explain tensor/number_text)
    list(APPEND cold_sources ${PROJECT_SOURCE_DIR}/core/${name}.cc)
  endforeach()
  list(FILTER cold_sources EXCLUDE REGEX
       "ops/(binary_arithmetic|define|formulas|registry|type_rules|unary_math|unary_trig).cc$")
  list(FILTER cold_sources EXCLUDE REGEX "trace/function.cc$|capi/src/(boundary|call|function|tape|tensor|variable).cc$")
  set_source_files_properties(${cold_sources} PROPERTIES COMPILE_OPTIONS "-Os;${unset_sizes}")
endif()
if(NOT EMSCRIPTEN)
  # libtenon is linked at start-up or opened once, and its current scope is read on every call.
  target_compile_options(tenon_core PUBLIC -ftls-model=initial-exec)
endif()

if(TENON_STATIC_PLUGINS)
  add_library(tenon STATIC ${capi_sources})
  target_compile_definitions(tenon_core PUBLIC TENON_STATIC=1)
else()
  add_library(tenon SHARED ${capi_sources})
  set_target_properties(tenon PROPERTIES VERSION ${PROJECT_VERSION}
                                         SOVERSION ${PROJECT_VERSION_MAJOR})
  set(map ${CMAKE_CURRENT_LIST_DIR}/libtenon.map)
  target_link_options(tenon PRIVATE LINKER:--version-script=${map})
  # Threads that end call back into it (core/base/pool.cc), so dlclose() leaves it in place.
  target_link_options(tenon PRIVATE LINKER:-z,nodelete)
  set_target_properties(tenon PROPERTIES LINK_DEPENDS ${map})
  if(NOT TENON_SANITIZE)
    target_link_options(tenon PRIVATE LINKER:-z,defs)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    # Functions that came out alike are one, where nobody compares their addresses: a thirtieth of the whole.
    include(CheckLinkerFlag)
    check_linker_flag(CXX "-fuse-ld=gold;LINKER:--icf=safe" TENON_HAS_ICF)
    if(TENON_HAS_ICF)
      target_link_options(tenon PRIVATE -fuse-ld=gold LINKER:--icf=safe)
    endif()
  endif()
endif()
add_library(tenon::tenon ALIAS tenon)
target_link_libraries(tenon PUBLIC tenon_headers PRIVATE tenon_core)
tenon_precompile(tenon ${PROJECT_SOURCE_DIR}/capi/src/boundary.h
                 ${PROJECT_SOURCE_DIR}/core/dispatch/dispatch.h)
