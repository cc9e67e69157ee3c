// Allocates work memory for OpenBLAS. Implemented by the library tenon_cpu_openblas.so.
//
// Nearly every function of OpenBLAS takes a work buffer. OpenBLAS's own allocator retries forever
// if the system is out of memory. In its serial build, the allocator searches the table of buffers
// without a lock, so that two threads may get the same buffer. Therefore this library defines
// OpenBLAS's allocation functions. It depends on libopenblas.so.0, and the plugin opens only this
// library. The dynamic linker then searches this library before OpenBLAS, also for OpenBLAS's own
// calls. This fails only if other code in the process has already loaded OpenBLAS. In this case the
// plugin does not use OpenBLAS.

#pragma once

// The table that tenon_cpu_openblas.so exports.
struct TenonBlasBuffers {
  // Reserves a buffer for calls of OpenBLAS on this thread until leave(). Pairs of calls may nest.
  // Returns false if memory is exhausted. Buffers are reused and never unmapped.
  bool (*enter)();
  void (*leave)();
  // Whether OpenBLAS has called the functions of this library.
  bool (*was_called_by_openblas)();
};

extern "C" const TenonBlasBuffers tenon_blas_buffers;
