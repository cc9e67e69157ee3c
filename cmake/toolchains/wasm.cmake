# Builds for WebAssembly with Debian's Emscripten; what it builds runs in Node.

include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
if(TENON_WASM_THREADS)
  # Every object must be compiled for shared memory.
  set(threads " -pthread")
endif()
set(CMAKE_CXX_FLAGS_INIT "-fwasm-exceptions -msimd128${threads}")
set(CMAKE_C_FLAGS_INIT "-msimd128${threads}")
# Node 20 has its own fetch, which Emscripten's loader mistakes for a browser's.
set(CMAKE_CROSSCOMPILING_EMULATOR node --no-experimental-fetch)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-fwasm-exceptions -sALLOW_MEMORY_GROWTH${threads}")
