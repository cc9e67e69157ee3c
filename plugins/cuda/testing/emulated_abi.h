// The interface between the emulated driver and code that the emulated NVRTC compiles.
// cuda_builtins.h has the same declarations for device code.

#pragma once

#include <cstdint>

struct TenonIndex {
  unsigned x, y, z;
};
struct TenonEmulatedThread {
  TenonIndex thread, block, block_size, grid_size;
  void (*barrier)(void* place);
  const unsigned long long* (*exchange)(unsigned mask, unsigned long long value);
  void (*fault)(const char* text);
};

// Header of the code that the emulated NVRTC returns as a cubin. A shared library follows it.
struct TenonEmulatedCode {
  char magic[8];
  uint64_t size;  // Size of the shared library in bytes.
};
inline constexpr char kTenonEmulatedMagic[8] = {'t', 'e', 'n', 'o', 'n', 'e', 'm', '1'};
