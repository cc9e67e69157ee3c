# Builds the kernels for processors with vector units, which the plugins cpu and wasm contain.
#
# A plugin that includes this file also defines what plugins/simd declares: Instance::describe and
# the threads of parallel_raw.h. It may set Instance::find_blas.

include_guard(GLOBAL)

# tenon_simd_kernels(target) adds an object library of the kernels for the plugin in the current
# folder. Sources of the plugin that need the same options may be added to it. The interface library
# tenon_simd_options contains compile options that the plugin's tests also need.
function(tenon_simd_kernels target)
  set(folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/kernels/*.cc ${folder}/vectors/*.cc)
  if(EMSCRIPTEN)
    list(FILTER sources EXCLUDE REGEX "/channel_gradient\\.cc$")
  endif()
  add_library(${target} OBJECT ${sources} ${folder}/packed_operands.cc
              ${folder}/parallel.cc)
  if(EMSCRIPTEN)
    set_source_files_properties(${folder}/packed_operands.cc PROPERTIES COMPILE_OPTIONS "${tenon_for_size}")
  endif()
  target_link_libraries(${target} PRIVATE tenon::sdk tenon_simd_options tenon_compile_options)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # When the plugin is loaded, it checks whether the processor supports these instruction sets.
    target_compile_options(${target} PRIVATE -march=x86-64-v3)
  endif()
  if(EMSCRIPTEN)
    # Web pages download the kernels, so only those in which networks spend most time are optimised
    # for speed. The others are optimised for size.
    list(FILTER sources EXCLUDE REGEX
         "/(batch_norm|conv|conv_filter|copy|cross_entropy|elementwise|loop|matmul|optimizer|pool|reduce|row_loop|softmax|vectors/(arithmetic|bytes|exponentials|halve|multiply|reduce|select|shifted))\\.cc$")
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${tenon_for_size}")
    return()
  endif()
  tenon_precompile(${target} <cmath> <limits> ${folder}/kernels.h
                   ${folder}/kernels/axes.h)
  # -O3 vectorises the plain loops of these files and unrolls their loops over registers. It is not
  # used under a sanitizer, under which it makes GCC 12 crash.
  list(FILTER sources INCLUDE REGEX
       "/(arg_reduce|attention|batch_norm|blocked|cast|col2im|compare|conv|conv_filter|copy|create|cross_entropy|gather|gru_cell|half_table|histogram|int8_matmul|int_reduce|integers|l2_norm|loop|lstm_cell|matmul|move|norm|optimizer|order|pool|random|reduce|remainders|row_loop|scan|scatter|search|softmax|sort|structured|unique|vectors/.*)\\.cc$")
  if(NOT TENON_SANITIZE)
    # GCC compiles a file with the optimisation level of its precompiled header.
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -O3 SKIP_PRECOMPILE_HEADERS ON)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # At -O2, these analyses of GCC 12 conclude that cummax of half types has no effects, and remove it.
    set_property(SOURCE ${folder}/kernels/scan.cc APPEND PROPERTY COMPILE_OPTIONS -fno-ipa-modref -fno-ipa-pure-const)
  endif()
endfunction()

add_library(tenon_simd_options INTERFACE)
# Setting errno and honouring traps would prevent vectorisation.
target_compile_options(tenon_simd_options INTERFACE -fno-math-errno -fno-trapping-math)
if(EMSCRIPTEN)
  tenon_header_only(tenon_hwy hwy highway.h)
  target_link_libraries(tenon_simd_options INTERFACE tenon_hwy)
else()
  find_path(TENON_HWY_INCLUDE hwy/highway.h REQUIRED)
  find_library(TENON_HWY_LIBRARY hwy)
  if(TENON_HWY_LIBRARY)
    # Highway's assertions are in this library. If they are disabled, --as-needed removes the
    # dependency.
    target_link_libraries(tenon_simd_options INTERFACE ${TENON_HWY_LIBRARY})
  endif()
  target_include_directories(tenon_simd_options SYSTEM INTERFACE ${TENON_HWY_INCLUDE})
  # A plugin's thread_local variables are part of each thread's first memory block. Otherwise the C library would
  # allocate memory at a thread's first access, and end the process if that failed.
  target_compile_options(tenon_simd_options INTERFACE -ftls-model=initial-exec)
endif()
# Without this definition, Highway's AVX2 target requires AES instructions, which no kernel uses.
target_compile_definitions(tenon_simd_options INTERFACE HWY_DISABLE_PCLMUL_AES)
if(TENON_SANITIZE OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Compiles for one instruction set only, because instrumented vector code compiles slowly, and
  # only on x86-64 is a second instruction set useful.
  target_compile_definitions(tenon_simd_options INTERFACE HWY_COMPILE_ONLY_STATIC)
endif()
