// Work memory for OpenBLAS, in the library tenon_cpu_openblas.so.
//
// OpenBLAS takes a buffer in nearly every call. Its own allocator retries forever if the system is
// out of memory, and its serial build searches the table of buffers without a lock, so that two
// threads may get the same buffer. This library therefore defines OpenBLAS's allocation functions,
// and it needs libopenblas.so.0. The plugin opens this library alone. The dynamic linker then
// searches this library before OpenBLAS, also for OpenBLAS's own calls. That fails only if
// something else in the process loaded OpenBLAS before; the plugin does not use OpenBLAS then.

#pragma once

// The table that tenon_cpu_openblas.so exports.
struct TenonBlasBuffers {
  // Reserves a buffer for calls of OpenBLAS on this thread until leave(). Pairs nest. Returns false
  // if there is no memory. Buffers are reused and never unmapped.
  bool (*enter)();
  void (*leave)();
  // Whether OpenBLAS has called the functions of this library.
  bool (*has_served)();
};

extern "C" const TenonBlasBuffers tenon_blas_buffers;
