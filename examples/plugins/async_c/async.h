/* Shared by the files of this plugin: its objects, and the kernels' prepare functions.
 *
 * Read plugin.c first, the interface to the host. Then read device.c (memory, streams and
 * launches), kernels.c and helpers.h. All of it is C99 with POSIX threads, and needs no library of
 * Tenon. */

#ifndef ASYNC_H_
#define ASYNC_H_

#include "helpers.h"

struct tenon_instance_p {
  const tenon_host* host;
};

struct tenon_device_p {
  const tenon_host* host;
  /* Statistics, which any thread may update, because buffers are allocated and released on any
   * thread. */
  uint64_t allocated_bytes;
  uint64_t peak_bytes;
  uint64_t allocations;
};

/* Device memory. The host has no address of it: there is no `map`, and views of launches have only
 * a buffer and an offset. In this example it is ordinary host memory, because there is no real
 * device. */
struct tenon_buffer_p {
  tenon_device_p* device;
  unsigned char* data;
  uint64_t size;
};

struct tenon_stream_p {
  tenon_device_p* device;
  async_ring ring;
};

/* An event. Its owner and the jobs that signal it or wait for it share it, because it may be
 * released while these jobs are pending. */
struct tenon_event_p {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool done;
  int users;
};

enum { kMaxInstructions = 16, kMaxInputs = 16 };

/* An instruction of a loop: a function of one or two earlier values. */
typedef struct async_instruction {
  uint32_t op;
  uint32_t inputs[2];
} async_instruction;

/* A prepared kernel: the function that runs it, and the values from attributes that this function
 * needs. It is immutable, because several streams may run it at the same time. */
struct tenon_kernel_p {
  void (*run)(const tenon_kernel_p* self, const tenon_launch* launch);
  size_t axis;
  uint32_t n_instructions;
  async_instruction instructions[kMaxInstructions];
  uint32_t outputs[kMaxInstructions]; /* Numbers of the values that are outputs. */
};

static inline tenon_error* async_error(const tenon_host* host, tenon_code code, const char* text) {
  return host->make_error(code, tenon_str(text));
}

/* Number of kernels. kernels.c defines the table; it does not compile if this number is wrong. */
enum { ASYNC_N_KERNELS = 8 };
extern const tenon_kernel async_kernels[ASYNC_N_KERNELS];

/* Declares the slots that device.c and kernels.c define, with the signatures of
 * plugin_slots.def. */
#define TENON_SLOT(result, name, parameters) result async_##name parameters;
#include <tenon/plugin_slots.def>

#endif /* ASYNC_H_ */
