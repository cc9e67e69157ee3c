# libtenon: the core and its C ABI. The shared library exports only tenon_*. Tests and dump_ops use
# internals, so they link the object library tenon_core instead.

include(${CMAKE_CURRENT_LIST_DIR}/optimisation.cmake)

file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/*.cc)
list(FILTER core_sources EXCLUDE REGEX "_test\\.cc$|/core/testing/|/core/io/fuzz/")
if(TENON_ONNX_FOREIGN)
  set(with_foreign 1)
else()
  set(with_foreign 0)
  list(FILTER core_sources EXCLUDE REGEX "/core/io/onnx/foreign/")
endif()
set_source_files_properties(${PROJECT_SOURCE_DIR}/core/io/onnx/adapters.cc
                            PROPERTIES COMPILE_DEFINITIONS TENON_WITH_FOREIGN_ONNX=${with_foreign})
file(GLOB capi_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/capi/src/*.cc)

# The public headers for programs and plugins outside this tree.
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
# The usage requirements of the core.
add_library(tenon_core_options INTERFACE)
target_include_directories(tenon_core_options INTERFACE ${PROJECT_SOURCE_DIR})
target_link_libraries(tenon_core_options INTERFACE tenon_headers tenon_compile_options tenon_fmt tenon_json)
target_compile_definitions(tenon_core_options INTERFACE TENON_BUILDING=1)
file(GLOB_RECURSE op_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/ops/*.cc)
# The files of ops all define the same names.
file(GLOB control_ops CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/trace/control/*_op.cc)
set_source_files_properties(${op_sources} ${control_ops} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
set(io_sources ${core_sources})
list(FILTER io_sources INCLUDE REGEX "/core/io/")
# Below -O2, GCC 12 falsely warns that a shape's sizes are uninitialised. Files compiled with -O2
# report the true cases.
set(unset_sizes $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
if(TENON_TESTS AND NOT CMAKE_CROSSCOMPILING AND NOT TENON_SANITIZE STREQUAL "thread")
  # Test builds include the documentation and the test cases of ops, which tests and ./dev gen read.
  # The libtenon of a release omits them.
  target_compile_definitions(tenon_core_options INTERFACE TENON_WITH_DOCS=1)
  if(NOT TENON_SANITIZE)
    # Op definitions and program files are used once per process, so optimising them costs more time
    # than it saves.
    set_source_files_properties(${op_sources} PROPERTIES COMPILE_OPTIONS "-O1;${unset_sizes}")
    set(io_options -O1 ${unset_sizes})
  endif()
endif()
if(TENON_SANITIZE AND NOT TENON_SANITIZE_ALL)
  # For op definitions, line tables take a tenth of the compile time. Backtraces still show
  # functions.
  set_source_files_properties(${op_sources} PROPERTIES COMPILE_OPTIONS "${tenon_left_out};-g0")
endif()
if(NOT EMSCRIPTEN)
  # Every call reads the thread's current scope. The initial-exec model makes that fast; it requires
  # that libtenon is linked at start-up or loaded early.
  target_compile_options(tenon_core_options INTERFACE -ftls-model=initial-exec)
endif()

# Files with other options than the rest of libtenon are targets of their own, because precompiled headers
# require equal options. Builds without precompiled headers set the options of files instead.
set(core_headers ${PROJECT_SOURCE_DIR}/core/ops/definition/formulas.h)
set(capi_headers ${PROJECT_SOURCE_DIR}/capi/src/boundary.h ${PROJECT_SOURCE_DIR}/core/dispatch/dispatch.h)
set(core_parts "")
if(NOT TENON_PRECOMPILED)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    tenon_cold_sources(cold ${core_sources} ${capi_sources})
    set_source_files_properties(${cold} PROPERTIES COMPILE_OPTIONS "${tenon_for_size};${unset_sizes}")
  endif()
else()
  # tenon_part(target HEADERS header... SOURCES source... OPTIONS option...): defines such a target.
  function(tenon_part target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SOURCES;OPTIONS")
    add_library(${target} OBJECT ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE tenon_core_options)
    target_compile_options(${target} PRIVATE ${arg_OPTIONS})
    tenon_precompile(${target} ${arg_HEADERS})
  endfunction()

  if(NOT TENON_STATIC_PLUGINS)
    # A static libtenon keeps its files apart, so that programs can link a part of them.
    if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT TENON_FUZZ)
      set(io_options ${tenon_for_size} ${unset_sizes})
    endif()
    list(REMOVE_ITEM core_sources ${io_sources})
    tenon_part(tenon_core_io HEADERS ${core_headers} SOURCES ${io_sources} OPTIONS ${io_options})
    tenon_unite(tenon_core_io)
    list(APPEND core_parts tenon_core_io)
  endif()
  if(TENON_FUZZ)
    # The code that does not parse input is compiled without optimisation and UndefinedBehaviorSanitizer. This
    # saves a quarter of the build time.
    set(cold ${core_sources})
    list(FILTER cold EXCLUDE REGEX "core/(base|tensor)/")
    list(REMOVE_ITEM core_sources ${cold})
    tenon_part(tenon_core_cold HEADERS ${core_headers} SOURCES ${cold} OPTIONS -O0 -fno-sanitize=undefined)
    list(APPEND core_parts tenon_core_cold)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    foreach(part core capi)
      tenon_cold_sources(cold ${${part}_sources})
      list(REMOVE_ITEM ${part}_sources ${cold})
      tenon_part(tenon_${part}_cold HEADERS ${${part}_headers} SOURCES ${cold} OPTIONS ${tenon_for_size}
                 ${unset_sizes})
      if(NOT TENON_STATIC_PLUGINS)
        tenon_unite(tenon_${part}_cold)
      endif()
    endforeach()
    list(APPEND core_parts tenon_core_cold)
  endif()
endif()
add_library(tenon_core OBJECT ${core_sources})
target_link_libraries(tenon_core PUBLIC tenon_core_options)
if(NOT TENON_STATIC_PLUGINS)
  foreach(part IN LISTS core_parts)
    # The list of objects also contains the precompiled headers.
    target_link_libraries(tenon_core INTERFACE $<FILTER:$<TARGET_OBJECTS:${part}>,EXCLUDE,ch$>)
  endforeach()
endif()
tenon_precompile(tenon_core ${core_headers})
if(NOT TENON_STATIC_PLUGINS)
  tenon_unite(tenon_core)
endif()

if(TENON_STATIC_PLUGINS)
  add_library(tenon STATIC ${capi_sources})
  target_compile_definitions(tenon_core_options INTERFACE TENON_STATIC=1)
else()
  add_library(tenon SHARED ${capi_sources})
  set_target_properties(tenon PROPERTIES VERSION ${PROJECT_VERSION}
                                         SOVERSION ${PROJECT_VERSION_MAJOR})
  set(map ${CMAKE_CURRENT_LIST_DIR}/libtenon.map)
  target_link_options(tenon PRIVATE LINKER:--version-script=${map})
  # Destructors of threads call into libtenon (core/base/pool.cc), so dlclose() must not unload it.
  target_link_options(tenon PRIVATE LINKER:-z,nodelete)
  set_target_properties(tenon PROPERTIES LINK_DEPENDS ${map})
  if(NOT TENON_SANITIZE)
    target_link_options(tenon PRIVATE LINKER:-z,defs)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    # Merges identical functions whose addresses are not compared, which reduces the size by 3 %.
    include(CheckLinkerFlag)
    check_linker_flag(CXX "-fuse-ld=gold;LINKER:--icf=safe" TENON_HAS_ICF)
    if(TENON_HAS_ICF)
      target_link_options(tenon PRIVATE -fuse-ld=gold LINKER:--icf=safe)
    endif()
  endif()
endif()
add_library(tenon::tenon ALIAS tenon)
target_link_libraries(tenon PUBLIC tenon_headers PRIVATE tenon_core)
if(TENON_STATIC_PLUGINS)
  target_link_libraries(tenon PRIVATE ${core_parts})
endif()
if(TARGET tenon_capi_cold)
  target_link_libraries(tenon PRIVATE tenon_capi_cold)
endif()
tenon_precompile(tenon ${capi_headers})
