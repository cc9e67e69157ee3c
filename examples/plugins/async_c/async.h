/* Shared by the files of this plugin: its objects, and the kernels' prepare functions.
 *
 * Read plugin.c first, which the host sees, then device.c (memory, streams and launches), kernels.c
 * and helpers.h. All of it is C99 with POSIX threads, and needs no library of Tenon. */

#ifndef ASYNC_H_
#define ASYNC_H_

#include "helpers.h"

struct tenon_instance_p {
  const tenon_host* host;
};

struct tenon_device_p {
  const tenon_host* host;
  /* The statistics. Buffers come and go on any thread. */
  uint64_t allocated_bytes;
  uint64_t peak_bytes;
  uint64_t allocations;
};

/* Memory of the device. The host has no address of it: there is no `map`, and views of launches
 * have a buffer and an offset only. Here it is ordinary memory, as for want of a board. */
struct tenon_buffer_p {
  tenon_device_p* device;
  unsigned char* data;
  uint64_t size;
};

struct tenon_stream_p {
  tenon_device_p* device;
  async_ring ring;
};

/* Shared by its owner and the jobs that signal it or wait for it, since it may be released while
 * they are pending. */
struct tenon_event_p {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool done;
  int users;
};

enum { kMaxInstructions = 16, kMaxInputs = 16 };

/* A step of a loop: a function of one or two earlier values. */
typedef struct async_instruction {
  uint32_t op;
  uint32_t inputs[2];
} async_instruction;

/* A prepared kernel: the function that runs it, and what that needs of the attributes. It is
 * immutable, since the streams of a device may run it at once. */
struct tenon_kernel_p {
  void (*run)(const tenon_kernel_p* self, const tenon_launch* launch);
  size_t axis;
  uint32_t n_instructions;
  async_instruction instructions[kMaxInstructions];
  uint32_t outputs[kMaxInstructions]; /* Numbers of the values that are written. */
};

static inline tenon_error* async_error(const tenon_host* host, tenon_code code, const char* text) {
  return host->make_error(code, tenon_str(text));
}

/* kernels.c defines the table, and does not compile if this count is wrong. */
enum { ASYNC_N_KERNELS = 8 };
extern const tenon_kernel async_kernels[ASYNC_N_KERNELS];

/* The slots in device.c and kernels.c, with the signatures that plugin_slots.def declares. */
#define TENON_SLOT(result, name, parameters) result async_##name parameters;
#include <tenon/plugin_slots.def>

#endif /* ASYNC_H_ */
