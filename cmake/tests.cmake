# Builds and registers the tests of the core and of the C ABI. Plugins add their own tests.

# The unit tests of the core use internals, which libtenon does not export, so they link tenon_core.
file(GLOB_RECURSE core_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/*_test.cc
     ${PROJECT_SOURCE_DIR}/core/testing/*.cc)
if(TENON_SANITIZE STREQUAL "thread")
  # Under ThreadSanitizer, tests of single-threaded code are omitted: op definitions, their cases
  # and expansions, and program files.
  list(FILTER core_tests EXCLUDE REGEX "/core/(ops|io/(onnx|program|save)|trace/op_cases|testing/(op_problem|expansion_cases))")
endif()
if(NOT TENON_ONNX_FOREIGN)
  list(FILTER core_tests EXCLUDE REGEX "/core/io/onnx/foreign/")
endif()
if(core_tests AND NOT CMAKE_CROSSCOMPILING)
  tenon_add_gtest(core_test SOURCES ${core_tests} LIBS tenon_core PRECOMPILE
                  ${PROJECT_SOURCE_DIR}/core/testing/test.h)
  target_compile_definitions(
    core_test PRIVATE TENON_TEST_PLUGINS="${PROJECT_BINARY_DIR}/plugins"
                      TENON_REF_PLUGIN="${PROJECT_BINARY_DIR}/plugins/libtenon_ref.so")
  foreach(name ref cpu null fake)
    if(TARGET tenon_plugin_${name})
      add_dependencies(core_test tenon_plugin_${name})
    endif()
  endforeach()
  if(TARGET tenon_plugin_fake)
    target_compile_definitions(core_test PRIVATE TENON_FAKE_PLUGIN="$<TARGET_FILE:tenon_plugin_fake>")
  endif()
endif()

# The fuzz targets need Clang's libFuzzer; without it, they read their corpus as a test.
file(GLOB fuzz_targets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/io/fuzz/*_fuzz.cc)
if(TARGET tenon_plugin_ref AND NOT CMAKE_CROSSCOMPILING AND NOT TENON_SANITIZE STREQUAL "thread")
  foreach(source IN LISTS fuzz_targets)
    cmake_path(GET source STEM stem)
    string(REPLACE "_fuzz" "" name ${stem})
    add_executable(replay_${name} ${source} ${PROJECT_SOURCE_DIR}/core/io/fuzz/replay.cc)
    target_link_libraries(replay_${name} PRIVATE tenon_core tenon_compile_options ${CMAKE_DL_LIBS})
    target_compile_definitions(replay_${name} PRIVATE TENON_FUZZ_PLUGINS="${PROJECT_BINARY_DIR}/plugins")
    add_dependencies(replay_${name} tenon_plugin_ref)
    tenon_register_test(fuzz.corpus.${name} LABEL unit COMMAND replay_${name}
                        ${PROJECT_SOURCE_DIR}/core/io/fuzz/corpus/${name})
  endforeach()
endif()

# Plugins with one fault each, which the C tests load.
set(test_plugins ${PROJECT_BINARY_DIR}/test_plugins)
if(NOT TENON_STATIC_PLUGINS)
  foreach(fault symbol load epoch error nothing feature name calls table kernels signature prepare
                create devices many nulltext custom count)
    add_library(tenon_bad_${fault} MODULE ${PROJECT_SOURCE_DIR}/capi/tests/plugins/bad_plugin.c)
    target_compile_definitions(tenon_bad_${fault} PRIVATE BAD_${fault})
    target_link_libraries(tenon_bad_${fault} PRIVATE tenon_headers tenon_compile_options)
    set_target_properties(tenon_bad_${fault} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${test_plugins})
    list(APPEND bad_plugins tenon_bad_${fault})
  endforeach()
endif()

# Each C test runs once on every device of this build, and on four configurations of the plugin
# `fake`: asynchronous work with memory that is not host-visible; slow work on a device that does
# not support blocking waits; synchronous work with memory that is not host-visible; and streams
# whose work overtakes that of other streams.
set(fake_queue "asynchronous=1")
set(fake_slow "asynchronous=1,visible=1,blocking=0,delay_us=20")
set(fake_wall "asynchronous=0")
set(fake_order "out_of_order=1,delay_us=5")
file(GLOB c_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/capi/tests/*_test.c)
file(GLOB c_test_helpers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/capi/tests/*.c)
list(FILTER c_test_helpers EXCLUDE REGEX "_test\\.c$")
if(TENON_STATIC_PLUGINS)
  # WebAssembly builds cannot load plugin files, and have no environment variables to select a
  # device. They only run the test of struct layouts.
  list(FILTER c_tests INCLUDE REGEX "layouts_gen_test")
endif()
foreach(file IN LISTS c_tests)
  cmake_path(GET file STEM name)
  tenon_add_c_test(c_${name} SOURCES ${file} ${c_test_helpers})
  foreach(device ref cpu)
    if(TARGET tenon_plugin_${device})
      tenon_register_test(c.${device}.${name} LABEL c COMMAND c_${name}
                          ENVIRONMENT TENON_TEST_DEVICE=${device}
                                      TENON_TEST_PLUGINS=${test_plugins})
    endif()
  endforeach()
  if(TARGET tenon_plugin_vulkan AND NOT TENON_SANITIZE AND NOT CMAKE_CROSSCOMPILING
     AND NOT name STREQUAL "steady_test")  # It runs a million steps.
    tenon_register_on_driver(c.vulkan.${name} lavapipe LABEL c COMMAND c_${name} ENVIRONMENT
                             TENON_TEST_DEVICE=vulkan TENON_TEST_PLUGINS=${test_plugins})
  endif()
  # On the emulated driver of CUDA. Its streams run their work late.
  if(TARGET tenon_plugin_cuda AND TARGET tenon_emulated_cuda AND name STREQUAL "stream_test")
    tenon_register_test(c.cuda.${name} LABEL c COMMAND c_${name} ENVIRONMENT ${TENON_EMULATED_CUDA}
                        TENON_EMULATED_CUDA_LATE=200 TENON_TEST_DEVICE=cuda
                        TENON_TEST_PLUGINS=${test_plugins})
  endif()
  if(TARGET tenon_plugin_fake)
    foreach(device fake_queue fake_slow fake_wall fake_order)
      if("${device}.${name}" MATCHES "^fake_(slow|order).steady_test$")
        continue()  # A million steps, each with delays.
      endif()
      tenon_register_test(
        c.${device}.${name} LABEL c COMMAND c_${name}
        ENVIRONMENT TENON_TEST_DEVICE=fake TENON_TEST_OPTIONS=${${device}}
                    TENON_TEST_PLUGIN=$<TARGET_FILE:tenon_plugin_fake>
                    TENON_TEST_PLUGINS=${test_plugins})
    endforeach()
  endif()
endforeach()

# Tests of injected failures on the plugin `fake`.
if(TARGET tenon_plugin_fake)
  tenon_add_c_test(c_faults_test SOURCES ${PROJECT_SOURCE_DIR}/capi/tests/fake/faults_test.c
                                         ${c_test_helpers})
  tenon_register_test(
    c.fake.faults_test LABEL c COMMAND c_faults_test
    ENVIRONMENT TENON_TEST_DEVICE=fake TENON_TEST_PLUGIN=$<TARGET_FILE:tenon_plugin_fake>)
  if(TARGET tenon_plugin_cpu)
    tenon_add_c_test(c_fallback_test SOURCES ${PROJECT_SOURCE_DIR}/capi/tests/fake/fallback_test.c
                                             ${c_test_helpers})
    target_link_libraries(c_fallback_test PRIVATE ${CMAKE_DL_LIBS})
    tenon_register_test(
      c.fake.fallback_test LABEL c COMMAND c_fallback_test
      ENVIRONMENT TENON_TEST_DEVICE=fake TENON_TEST_PLUGIN=$<TARGET_FILE:tenon_plugin_fake>)
  endif()
endif()
if(bad_plugins)
  add_dependencies(c_plugin_test ${bad_plugins})
endif()

# Tests of exhausted memory and of process termination. c_allocation_test replaces malloc(), which
# the sanitizers also do, so it is not built with them. It makes every 17th allocation fail in the
# ordinary test run, and every allocation in the full one.
if(NOT TENON_STATIC_PLUGINS AND NOT TENON_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  file(GLOB memory_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/capi/tests/memory/*.c)
  tenon_add_c_test(c_allocation_test SOURCES ${memory_tests})
  # Exports the test's malloc(), so that shared libraries use it, too.
  set_target_properties(c_allocation_test PROPERTIES ENABLE_EXPORTS ON C_VISIBILITY_PRESET default)
  tenon_add_c_test(c_address_space_test
                   SOURCES ${PROJECT_SOURCE_DIR}/capi/tests/limits/address_space_test.c)
  target_link_libraries(c_address_space_test PRIVATE m)
  find_package(Threads REQUIRED)
  tenon_add_c_test(c_late_calls_test
                   SOURCES ${PROJECT_SOURCE_DIR}/capi/tests/lifetime/late_calls_test.cc)
  target_link_libraries(c_late_calls_test PRIVATE Threads::Threads)
  foreach(device ref cpu)
    if(NOT TARGET tenon_plugin_${device})
      continue()
    endif()
    set(environment TENON_TEST_DEVICE=${device})
    tenon_register_test(c.${device}.address_space_test LABEL c COMMAND c_address_space_test
                        ENVIRONMENT ${environment})
    tenon_register_test(c.${device}.late_calls_test LABEL c COMMAND c_late_calls_test ENVIRONMENT
                        ${environment})
    tenon_register_test(c.${device}.allocation_test LABEL c COMMAND c_allocation_test 17 199
                        ENVIRONMENT ${environment})
    tenon_register_test(c.${device}.allocation_test.each LABEL full COMMAND c_allocation_test 1 7
                        ENVIRONMENT ${environment})
    set_tests_properties(${TENON_TEST_PREFIX}c.${device}.allocation_test.each PROPERTIES TIMEOUT 3000)
  endforeach()
endif()

# A plugin with kernels for custom ops, based on the example of a plugin in C.
if(NOT TENON_STATIC_PLUGINS AND TARGET tenon_plugin_ref)
  set(example ${PROJECT_SOURCE_DIR}/examples/plugins/plain_c)
  file(GLOB plain_c CONFIGURE_DEPENDS ${example}/*.c ${example}/tests/custom_plugin.c)
  tenon_add_plugin(NAME custom FOR_TESTS SOURCES ${plain_c} LIBS m)
  set_source_files_properties(${example}/plugin.c PROPERTIES COMPILE_DEFINITIONS
                                                             TENON_PLUGIN_STATIC=1)
  tenon_add_c_test(
    c_custom_kernels_test SOURCES ${PROJECT_SOURCE_DIR}/capi/tests/plugins/custom_kernels_test.c
                                  ${c_test_helpers})
  add_dependencies(c_custom_kernels_test tenon_plugin_custom)
  tenon_register_test(
    c.custom.custom_kernels_test LABEL c COMMAND c_custom_kernels_test
    ENVIRONMENT TENON_TEST_DEVICE=custom TENON_TEST_PLUGIN=$<TARGET_FILE:tenon_plugin_custom>)
endif()

# If the examples are not built, the first example still runs, to check that another architecture
# gives the same output.
if(NOT TENON_EXAMPLES AND CMAKE_CROSSCOMPILING)
  add_executable(hello ${PROJECT_SOURCE_DIR}/examples/c/hello.c)
  target_link_libraries(hello PRIVATE tenon tenon_compile_options)
  string(REPLACE ";" " " emulator "${CMAKE_CROSSCOMPILING_EMULATOR}")
  tenon_register_test(
    example.hello LABEL example
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:hello> "-DEMULATOR=${emulator}"
            -DEXPECTED=${PROJECT_SOURCE_DIR}/examples/c/hello.expected
            -P ${PROJECT_SOURCE_DIR}/examples/compare.cmake)
endif()
