# The small build: a module with a list of ops, and with the code that a program calls. It is linked
# from the same libtenon.a as the variant `simd`, with its own tables of ops and kernels. So the linker
# omits the code of other ops. leave_out.mjs then removes the functions that the program does not call.
#
# The target tenon_js_small builds the package in build/js_small.

set(small ${CMAKE_CURRENT_LIST_DIR})
set(TENON_SMALL_OPS ${small}/ops.txt CACHE FILEPATH "List of the ops of the small build, one per line")
set(TENON_SMALL_PROGRAM ${small}/program.mjs CACHE FILEPATH "Program that calls what the small build must contain")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TENON_SMALL_OPS})
file(STRINGS ${TENON_SMALL_OPS} kept REGEX "^[a-z]")
file(READ ${PROJECT_SOURCE_DIR}/core/ops/ops.def defined)
foreach(op ${kept})
  if(NOT defined MATCHES "TENON_OP\\([0-9]+, ${op}\\)")
    message(FATAL_ERROR "${TENON_SMALL_OPS} lists ${op}, which is not an op")
  endif()
endforeach()
list(JOIN kept "\", \"" names)
set(kept_ops ${CMAKE_CURRENT_BINARY_DIR}/kept_ops.h)
file(CONFIGURE OUTPUT ${kept_ops} CONTENT [[
// Written by bindings/js/small/small.cmake.
#pragma once

#include <string_view>

namespace tenon_kept {

constexpr std::string_view kOps[] = {"@names@"};

constexpr bool contains(std::string_view op) {
  for (std::string_view kept : kOps) {
    if (kept == op) return true;
  }
  return false;
}

}  // namespace tenon_kept
]] @ONLY)

# The linker prefers these objects to those in libtenon.a. Tapes are optimised for size here.
set(tapes ${PROJECT_SOURCE_DIR}/core/autograd/tape.cc ${PROJECT_SOURCE_DIR}/core/autograd/tape_gradient.cc)
set_source_files_properties(${tapes} PROPERTIES COMPILE_OPTIONS "${tenon_for_size}")
add_library(tenon_small_ops OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/core/dispatch/memory_order.cc
                                                    ${PROJECT_SOURCE_DIR}/core/ops/definition/registry.cc ${tapes})
target_link_libraries(tenon_small_ops PRIVATE tenon_core)
add_library(tenon_small_kernels OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/plugins/wasm/plugin.cc)
target_link_libraries(tenon_small_kernels PRIVATE tenon::sdk tenon_simd_options tenon_compile_options)
target_compile_definitions(tenon_small_kernels PRIVATE TENON_PLUGIN_STATIC=1)
target_compile_definitions(tenon_small_ops PRIVATE TENON_KEPT_OPS="${kept_ops}")
target_compile_definitions(tenon_small_kernels PRIVATE TENON_KEPT_OPS="${kept_ops}")

set(linked ${CMAKE_CURRENT_BINARY_DIR}/small)
tenon_js_module(tenon_js_small_module simd ${linked})
set_target_properties(tenon_js_small_module PROPERTIES EXCLUDE_FROM_ALL TRUE)
target_sources(tenon_js_small_module PRIVATE $<TARGET_OBJECTS:tenon_small_ops> $<TARGET_OBJECTS:tenon_small_kernels>)
target_compile_definitions(tenon_js_small_module PRIVATE TENON_SMALL)
target_link_options(tenon_js_small_module PRIVATE -O1 --profiling-funcs LINKER:--no-demangle -sFILESYSTEM=0
                    -sEXPORTED_FUNCTIONS=@${exports})
set(leave_out ${TENON_NODE} --no-experimental-fetch ${root}/tools/js/leave_out.mjs)
set(profiled ${CMAKE_CURRENT_BINARY_DIR}/profiled)
set(small_package ${root}/build/js_small)
set(assemble_small ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR} -DSMALL=ON)
add_custom_target(
  tenon_js_small
  COMMAND ${leave_out} instrument ${linked}/tenon_simd.mjs ${profiled}/dist
  COMMAND ${assemble_small} -DPACKAGE=${profiled} -P ${CMAKE_CURRENT_SOURCE_DIR}/assemble.cmake
  COMMAND ${leave_out} run ${profiled} ${TENON_SMALL_PROGRAM} ${root}/examples/page/network.js
  COMMAND ${leave_out} apply ${linked}/tenon_simd.mjs ${profiled}/profile ${small}/kept.txt ${small_package}/dist
  COMMAND ${assemble_small} -DPACKAGE=${small_package} -P ${CMAKE_CURRENT_SOURCE_DIR}/assemble.cmake
  DEPENDS tenon_js_small_module
  VERBATIM)
