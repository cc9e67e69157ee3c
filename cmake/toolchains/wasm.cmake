# Compiles to WebAssembly with Debian's Emscripten. Programs run in Node.

include(/usr/share/emscripten/cmake/Modules/Platform/Emscripten.cmake)
if(TENON_WASM_THREADS)
  # For threads, every object must be compiled with -pthread.
  set(threads " -pthread")
endif()
set(CMAKE_CXX_FLAGS_INIT "-fwasm-exceptions -msimd128${threads}")
set(CMAKE_C_FLAGS_INIT "-msimd128${threads}")
# Node 20 has a fetch(), from which Emscripten's loader wrongly concludes that it runs in a browser.
set(CMAKE_CROSSCOMPILING_EMULATOR node --no-experimental-fetch)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-fwasm-exceptions -sALLOW_MEMORY_GROWTH${threads}")
