# Functions that add tests. Each test has a ctest label for its kind: unit, c or example. Test names
# begin with TENON_TEST_PREFIX, which makes them unique when one ctest run covers several builds.

enable_testing()

# Hides CUDA and Vulkan drivers from tests, except the driver that a test names: the start-up time,
# the memory and the output of a driver must not affect other tests. Vulkan loaders before 1.3.207
# use the older name VK_ICD_FILENAMES.
set(TENON_TEST_ENVIRONMENT TENON_PLUGIN_PATH=${PROJECT_BINARY_DIR}/plugins TENON_CUDA_DRIVER=/none VK_DRIVER_FILES=/none
                           VK_ICD_FILENAMES=/none)

# Makes sanitizers return NULL for failed allocations, as malloc() does, because tests check that
# Tenon reports them as errors.
if(TENON_SANITIZE)
  list(APPEND TENON_TEST_ENVIRONMENT ASAN_OPTIONS=allocator_may_return_null=1
       TSAN_OPTIONS=allocator_may_return_null=1)
endif()

# tenon_register_test(name LABEL label COMMAND command... [ENVIRONMENT NAME=value...])
# Registers a command with ctest. A target's name in COMMAND is replaced by the path of its
# executable. Each test runs in its own folder, so that tests do not overwrite each other's files.
# Under emulation a test has four times as much time.
function(tenon_register_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL" "COMMAND;ENVIRONMENT")
  set(folder ${PROJECT_BINARY_DIR}/test_runs/${name})
  file(MAKE_DIRECTORY ${folder})
  add_test(NAME ${TENON_TEST_PREFIX}${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${folder})
  set(seconds 300)
  if(CMAKE_CROSSCOMPILING)
    set(seconds 1200)
  endif()
  set_tests_properties(
    ${TENON_TEST_PREFIX}${name}
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${seconds}
               ENVIRONMENT "${TENON_TEST_ENVIRONMENT};${arg_ENVIRONMENT}")
endfunction()

# Tests write all shaders that they compile to this folder. A later test validates them
# (plugins/vulkan).
set(TENON_VULKAN_SHADERS ${PROJECT_BINARY_DIR}/vulkan_shaders)

# tenon_register_on_driver(name driver LABEL label COMMAND target argument... [ENVIRONMENT
# NAME=value...])
# Registers the test NAME.DRIVER, which runs on a Vulkan driver that needs no GPU. If the driver is
# not installed, ctest reports the test as skipped, with the reason.
function(tenon_register_on_driver name driver)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "LABEL" "COMMAND;ENVIRONMENT")
  list(POP_FRONT arg_COMMAND target)
  tenon_register_test(
    ${name}.${driver} LABEL ${arg_LABEL}
    COMMAND ${PROJECT_SOURCE_DIR}/tools/gpu/on_driver.sh ${driver} $<TARGET_FILE:${target}> ${arg_COMMAND}
    ENVIRONMENT TENON_VULKAN_SHADERS=${TENON_VULKAN_SHADERS} ${arg_ENVIRONMENT})
  set_tests_properties(${TENON_TEST_PREFIX}${name}.${driver} PROPERTIES SKIP_RETURN_CODE 77 FIXTURES_REQUIRED
                                                                        ${TENON_TEST_PREFIX}vulkan_shaders)
endfunction()

# tenon_register_skipped(name reason): registers a test that does not run and that ctest reports as
# skipped, with the reason.
function(tenon_register_skipped name reason)
  tenon_register_test(${name} LABEL unit COMMAND sh -c "echo 'skipped: ${reason}' && exit 77")
  set_tests_properties(${TENON_TEST_PREFIX}${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# tenon_register_in_browser(name LABEL label COMMAND script argument...): registers a test that Node
# runs and that controls Chromium. The arguments PLAYWRIGHT and CHROMIUM stand for the folder of
# playwright-core and for the browser. Without them, the test is reported as skipped.
function(tenon_register_in_browser name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL" "COMMAND")
  find_program(TENON_NODE node)
  find_program(TENON_CHROMIUM chromium)
  set(playwright ${PROJECT_SOURCE_DIR}/build/browser)
  if(NOT TENON_NODE OR NOT TENON_CHROMIUM OR NOT EXISTS ${playwright}/packages)
    tenon_register_skipped(${name} "Chromium or playwright-core is missing; ./dev setup --browser installs them")
    return()
  endif()
  list(TRANSFORM arg_COMMAND REPLACE "^PLAYWRIGHT$" ${playwright})
  list(TRANSFORM arg_COMMAND REPLACE "^CHROMIUM$" ${TENON_CHROMIUM})
  tenon_register_test(${name} LABEL ${arg_LABEL} COMMAND ${TENON_NODE} ${arg_COMMAND})
endfunction()

# tenon_add_gtest(target [UNREGISTERED] SOURCES file... [LIBS library...] [PRECOMPILE header...])
# Builds a googletest program. Each of its test suites is one ctest test, because starting a process
# takes longer than most test cases. Under a sanitizer, starting takes even longer, so ctest runs
# the program as eight shards. With UNREGISTERED, no ctest tests are added.
function(tenon_add_gtest target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "UNREGISTERED" "" "SOURCES;LIBS;PRECOMPILE")
  find_package(GTest REQUIRED)
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LIBS} tenon_compile_options GTest::gtest_main)
  list(LENGTH arg_SOURCES n_sources)
  if(n_sources GREATER 2)
    tenon_precompile(${target} <gtest/gtest.h> ${arg_PRECOMPILE})
  endif()
  tenon_compile_quickly(${target})
  target_compile_options(${target} PRIVATE ${tenon_left_out})
  if(arg_UNREGISTERED)
    return()
  endif()
  set(folder ${PROJECT_BINARY_DIR}/test_runs/${target})
  file(MAKE_DIRECTORY ${folder})
  if(TENON_SANITIZE)
    foreach(part RANGE 7)
      tenon_register_test(${target}.part${part} LABEL unit COMMAND ${target} ENVIRONMENT
                          GTEST_TOTAL_SHARDS=8 GTEST_SHARD_INDEX=${part})
      set_tests_properties(${TENON_TEST_PREFIX}${target}.part${part} PROPERTIES TIMEOUT 1200)
    endforeach()
    return()
  endif()
  set(prefix ${TENON_TEST_PREFIX}${target})
  set(program $<TARGET_FILE:${target}>)
  set(properties "LABELS unit TIMEOUT 300 WORKING_DIRECTORY ${folder}")
  string(APPEND properties " ENVIRONMENT \"${TENON_TEST_ENVIRONMENT}\"")
  # Fails if no test has the given name. googletest itself reports success in this case.
  string(APPEND properties " FAIL_REGULAR_EXPRESSION \"Running 0 tests\"")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/suites.cmake.in ${folder}/suites.cmake.in @ONLY)
  file(GENERATE OUTPUT ${folder}/suites.cmake INPUT ${folder}/suites.cmake.in)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${folder}/suites.cmake)
endfunction()

# tenon_add_c_test(name SOURCES file...)
# Builds a C99 program that uses only the public C ABI. The test passes if it returns 0.
function(tenon_add_c_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE -pedantic)
  target_link_libraries(${name} PRIVATE tenon tenon_compile_options)
endfunction()
