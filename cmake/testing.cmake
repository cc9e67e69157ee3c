# How tests are added. Each is registered with ctest under a label for its kind: unit, c, example.
# Names start with TENON_TEST_PREFIX, so that one ctest run over several builds has unique names.

enable_testing()

# Tests find no CUDA driver, and no Vulkan driver except the one that they run on: a driver's
# start-up time, memory and output must not affect them. Loaders before 1.3.207 know only the older
# name.
set(TENON_TEST_ENVIRONMENT TENON_PLUGIN_PATH=${PROJECT_BINARY_DIR}/plugins TENON_CUDA_DRIVER=/none VK_DRIVER_FILES=/none
                           VK_ICD_FILENAMES=/none)

# A failed allocation is an error to handle, under the sanitizers too.
if(TENON_SANITIZE)
  list(APPEND TENON_TEST_ENVIRONMENT ASAN_OPTIONS=allocator_may_return_null=1
       TSAN_OPTIONS=allocator_may_return_null=1)
endif()

# tenon_register_test(name LABEL label COMMAND command... [ENVIRONMENT NAME=value...])
# Registers a command that ctest runs; a target's name stands for the file it builds. It runs in a
# folder of its own, so that tests do not overwrite each other's files. An emulated processor gets
# more time.
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

# The tests write all shaders that they build here, and a later test validates them
# (plugins/vulkan).
set(TENON_VULKAN_SHADERS ${PROJECT_BINARY_DIR}/vulkan_shaders)

# tenon_register_on_driver(name driver LABEL label COMMAND target argument... [ENVIRONMENT
# NAME=value...])
# The same on a Vulkan driver that needs no GPU, as NAME.DRIVER: skipped, with the reason, where
# that driver is not installed.
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

# tenon_register_skipped(name reason): registers a test that ctest reports as skipped.
function(tenon_register_skipped name reason)
  tenon_register_test(${name} LABEL unit COMMAND sh -c "echo 'skipped: ${reason}' && exit 77")
  set_tests_properties(${TENON_TEST_PREFIX}${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# tenon_add_gtest(target [UNREGISTERED] SOURCES file... [LIBS library...] [PRECOMPILE header...])
# A googletest program. Each of its suites is one ctest test, because starting a process takes
# longer than most tests. Under a sanitizer starting takes longer still, so there ctest runs the
# program as eight shards. The caller registers an UNREGISTERED program itself.
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
  # A program that finds no test with the given name reports success.
  string(APPEND properties " FAIL_REGULAR_EXPRESSION \"Running 0 tests\"")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/suites.cmake.in ${folder}/suites.cmake.in @ONLY)
  file(GENERATE OUTPUT ${folder}/suites.cmake INPUT ${folder}/suites.cmake.in)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${folder}/suites.cmake)
endfunction()

# tenon_add_c_test(name SOURCES file...)
# A C99 program that uses only the public C ABI and passes by returning 0.
function(tenon_add_c_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE -pedantic)
  target_link_libraries(${name} PRIVATE tenon tenon_compile_options)
endfunction()
