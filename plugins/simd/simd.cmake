# The kernels for processors with vectors, which the plugins that run on a processor compile.
#
# A plugin that includes this file also defines what plugins/simd declares: Instance::describe and
# the threads of parallel_raw.h. It may set Instance::find_blas.

include_guard(GLOBAL)

# tenon_simd_kernels(target): an object library of the kernels, for the plugin in this folder.
# Sources of the plugin itself with the same options may be added to it. The interface library
# tenon_simd_options has the compile options, which the plugin's tests need too.
function(tenon_simd_kernels target)
  set(folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/kernels/*.cc ${folder}/vectors/*.cc)
  add_library(${target} OBJECT ${sources} ${folder}/parallel.cc)
  target_link_libraries(${target} PRIVATE tenon::sdk tenon_simd_options tenon_compile_options)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # The plugin checks for these instruction sets when it is loaded.
    target_compile_options(${target} PRIVATE -march=x86-64-v3)
  endif()
  tenon_precompile(${target} <cmath> <limits> ${folder}/kernels.h
                   ${folder}/kernels/axes.h)
  if(EMSCRIPTEN)
    # A page downloads the kernels, so only those in which networks spend their time are optimised
    # for speed.
    list(FILTER sources EXCLUDE REGEX
         "/(attention|batch_norm|conv[a-z_]*|copy|elementwise|loop|matmul|norm|optimizer|pool|row_loop|softmax|vectors/(arithmetic|bytes|exponentials|halve|multiply|reduce|select|shifted))\\.cc$")
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${tenon_for_size}")
    return()
  endif()
  # -O3 vectorises the plain loops of these files, and unrolls their loops over registers. Not under
  # a sanitizer, which also keeps GCC 12 from crashing.
  list(FILTER sources INCLUDE REGEX
       "/(attention|batch_norm|blocked|cast|compare|conv|conv_filter|copy|cross_entropy|gru_cell|int8_matmul|int_reduce|integers|loop|lstm_cell|matmul|nextafter|norm|optimizer|reduce|row_loop|search|softmax|sort|unique|vectors/.*)\\.cc$")
  if(NOT TENON_SANITIZE)
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -O3)
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
    # Highway's assertions are in this library; --as-needed drops it where they are disabled.
    target_link_libraries(tenon_simd_options INTERFACE ${TENON_HWY_LIBRARY})
  endif()
  target_include_directories(tenon_simd_options SYSTEM INTERFACE ${TENON_HWY_INCLUDE})
endif()
# Without it Highway asks for AES instructions beside AVX2, which no kernel uses.
target_compile_definitions(tenon_simd_options INTERFACE HWY_DISABLE_PCLMUL_AES)
if(TENON_SANITIZE OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # One instruction set only: instrumented vector code compiles slowly, and only x86-64 has more
  # than one that is worth it.
  target_compile_definitions(tenon_simd_options INTERFACE HWY_COMPILE_ONLY_STATIC)
endif()
