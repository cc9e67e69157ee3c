# Tests, each registered with ctest under a label for its kind: unit, c, example.  Names start with
# TENON_TEST_PREFIX, so that one ctest run over several builds tells them apart.

enable_testing()
include(GoogleTest)

set(TENON_TEST_ENVIRONMENT TENON_PLUGIN_PATH=${PROJECT_BINARY_DIR}/plugins)
if(TENON_SANITIZE)
  list(APPEND TENON_TEST_ENVIRONMENT
       ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:check_initialization_order=1
       UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1)
endif()

# tenon_register_test(name LABEL label [DEPENDS target...] COMMAND command...)
# A command that ctest runs; a target's name stands for the file it builds.
function(tenon_register_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL" "COMMAND;ENVIRONMENT")
  add_test(NAME ${TENON_TEST_PREFIX}${name} COMMAND ${arg_COMMAND})
  set_tests_properties(
    ${TENON_TEST_PREFIX}${name}
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT 300
               ENVIRONMENT "${TENON_TEST_ENVIRONMENT};${arg_ENVIRONMENT}")
endfunction()

# tenon_add_gtest(target SOURCES file... [LIBS library...])
# A googletest program, each of its tests one test of ctest.
function(tenon_add_gtest target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  find_package(GTest REQUIRED)
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LIBS} tenon_compile_options GTest::gtest_main)
  gtest_discover_tests(
    ${target}
    TEST_PREFIX "${TENON_TEST_PREFIX}"
    DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT "${TENON_TEST_ENVIRONMENT}")
endfunction()

# tenon_add_c_test(name SOURCES file...)
# A C99 program that sees what a user sees and passes by returning 0.
function(tenon_add_c_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE -pedantic)
  target_link_libraries(${name} PRIVATE tenon tenon_compile_options)
endfunction()

# The core's unit tests reach behind the C ABI, so they link its objects.
file(GLOB_RECURSE core_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/*_test.cc
     ${PROJECT_SOURCE_DIR}/core/testing/*.cc)
if(core_tests AND NOT CMAKE_CROSSCOMPILING)
  tenon_add_gtest(core_test SOURCES ${core_tests} LIBS tenon_core)
  target_compile_definitions(
    core_test PRIVATE TENON_TEST_PLUGINS="${PROJECT_BINARY_DIR}/plugins"
                      TENON_REF_PLUGIN="${PROJECT_BINARY_DIR}/plugins/libtenon_ref.so")
  if(TARGET tenon_plugin_ref)
    add_dependencies(core_test tenon_plugin_ref)
  endif()
endif()

# The C tests run once on each device that this build has.
file(GLOB c_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/capi/tests/*_test.c)
file(GLOB c_test_helpers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/capi/tests/*.c)
list(FILTER c_test_helpers EXCLUDE REGEX "_test\\.c$")
foreach(file IN LISTS c_tests)
  cmake_path(GET file STEM name)
  tenon_add_c_test(c_${name} SOURCES ${file} ${c_test_helpers})
  foreach(device ref cpu)
    if(TARGET tenon_plugin_${device})
      tenon_register_test(c.${device}.${name} LABEL c COMMAND c_${name}
                          ENVIRONMENT TENON_TEST_DEVICE=${device})
    endif()
  endforeach()
endforeach()
