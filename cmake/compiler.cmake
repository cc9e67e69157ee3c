# Compiler options for our own code. Every target of ours links tenon_compile_options.

set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# A WebAssembly module is position-independent only if it loads plugins at run time.
if(EMSCRIPTEN AND NOT TENON_WASM_PLUGINS)
  set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
else()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# -O2 keeps profiles readable and libtenon small. Kernels that are faster with -O3 set it
# themselves. Line tables are enough for backtraces, and have a third of the size of full debug
# information.
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

set(tenon_for_size -Os)
if(EMSCRIPTEN)
  # Pages download the module. For size, Emscripten also sets -fno-inline-functions, which would
  # double the size of C++ code.
  set(tenon_for_size -Oz -finline-functions)
endif()

find_program(TENON_CCACHE ccache)
if(TENON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${TENON_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TENON_CCACHE})
endif()

add_library(tenon_compile_options INTERFACE)
# Forbids the contraction of a * b + c to a fused multiply-add, which would round once instead of
# twice (docs/numerics.md).
target_compile_options(tenon_compile_options INTERFACE -Wall -Wextra -Werror -ffp-contract=off)
# Permits designated initialisers to omit fields that have default values.
target_compile_options(tenon_compile_options
                       INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-missing-field-initializers>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 wrongly reports accesses past the end of a small vector's inlined storage.
  target_compile_options(tenon_compile_options INTERFACE -Wno-array-bounds -Wno-stringop-overflow)
  if(TENON_SANITIZE)
    # GCC falsely warns of uninitialised variables in instrumented code. Builds without sanitizers
    # report real ones.
    target_compile_options(tenon_compile_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(EMSCRIPTEN)
  # Permits & and | of bools. Loops use them, because the compiler does not vectorise && and ||.
  target_compile_options(tenon_compile_options INTERFACE -Wno-bitwise-instead-of-logical)
  # Pages download the module. No code uses run-time type information.
  target_compile_options(tenon_compile_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
  if(NOT TENON_WASM_THREADS)
    target_compile_options(tenon_compile_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-threadsafe-statics>)
  endif()
else()
  target_compile_options(tenon_compile_options INTERFACE -fno-plt -ffunction-sections
                                                        -fdata-sections)
  target_link_options(tenon_compile_options INTERFACE LINKER:--gc-sections LINKER:--as-needed)
endif()

# Sanitizers must instrument all objects and links of the build, including third-party ones.
if(TENON_SANITIZE STREQUAL "address")
  set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(TENON_SANITIZE)
  set(sanitize -fsanitize=${TENON_SANITIZE})
endif()
# With AddressSanitizer, -O1 takes twice as long to compile as -Og. Reports need line numbers only.
if(TENON_SANITIZE)
  add_compile_options(${sanitize} -fno-omit-frame-pointer -Og -g1)
  add_link_options(${sanitize})
endif()
if(TENON_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
# The sanitizer checks to disable for code that does not need all of them.
set(tenon_left_out "")
if(TENON_SANITIZE STREQUAL "address" AND NOT TENON_SANITIZE_ALL)
  set(tenon_left_out -fno-sanitize-address-use-after-scope -fno-sanitize=null,alignment,object-size)
endif()

# tenon_compile_quickly(target): disables most optimisations for a target whose run time is shorter than
# the compile time that they would add.
function(tenon_compile_quickly target)
  if(CMAKE_CROSSCOMPILING OR TENON_SANITIZE)
    return()
  endif()
  set(level -O1)
  if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    set(level -Og)
  endif()
  target_compile_options(${target} PRIVATE ${level} $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endfunction()

# Builds for arm64 do not precompile headers, and compile each file on its own, so that missing includes
# are errors there and all warnings are reported.
if(CMAKE_CROSSCOMPILING AND NOT EMSCRIPTEN)
  set(TENON_PRECOMPILED OFF)
else()
  set(TENON_PRECOMPILED ON)
endif()

# tenon_precompile(target [HEADER...]): precompiles headers for a target of many C++ files: the
# standard library's and the given ones.
function(tenon_precompile target)
  if(NOT TENON_PRECOMPILED)
    return()
  endif()
  # Paths relative to the generated file make that file equal in all checkouts. Thus ccache can
  # share its results between them.
  set(headers "")
  foreach(header ${ARGN})
    if(IS_ABSOLUTE "${header}")
      file(RELATIVE_PATH header ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir ${header})
      set(header "\"${header}\"")
    endif()
    list(APPEND headers ${header})
  endforeach()
  target_precompile_headers(${target} PRIVATE <algorithm> <functional> <map> <memory> <mutex> <string>
                            <unordered_map> <vector> ${headers})
  tenon_take_precompiled(${target})
endfunction()

# tenon_unite(target): compiles six files of a target as one, because they include large headers. Their
# names in unnamed namespaces must differ.
function(tenon_unite target)
  if(TENON_PRECOMPILED)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  endif()
endfunction()

# tenon_precompile_binding(target): lets single-file programs share one precompiled C++ binding.
function(tenon_precompile_binding target)
  if(NOT TENON_PRECOMPILED)
    return()
  endif()
  get_property(first GLOBAL PROPERTY TENON_PRECOMPILED_BINDING)
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY TENON_PRECOMPILED_BINDING ${target})
    target_precompile_headers(${target} PRIVATE <iostream> <tenon/tenon.hpp>)
  endif()
  tenon_take_precompiled(${target})
endfunction()

function(tenon_take_precompiled target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # ccache requires -fpch-preprocess. With precompiled headers, GCC 12 falsely warns of overreads.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess;-Wno-stringop-overread>)
  else()
    # ccache requires that Clang does not compare time stamps.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endfunction()
