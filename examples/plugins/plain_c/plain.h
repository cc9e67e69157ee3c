/* Shared by the files of this plugin: its objects, and the kernels' prepare functions.
 *
 * Read plugin.c first, the interface to the host. Then read device.c (memory and streams) and
 * kernels.c (the kernels). All of it is C99 and needs no library of Tenon. */

#ifndef PLAIN_H_
#define PLAIN_H_

#include <tenon/plugin.h>

/* ---- objects: definitions of the handles that tenon/plugin.h declares
 * -------------------------- */

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

struct tenon_buffer_p {
  tenon_device_p* device;
  unsigned char* data;
  uint64_t size;
};

struct tenon_stream_p {
  tenon_device_p* device;
};

enum { kSpatial = 3 }; /* Maximum number of spatial axes of convolutions and pools. */

/* How a window moves over an input, for convolutions and pools. If there are fewer than kSpatial
 * axes, leading axes of size 1 are added. */
typedef struct plain_window {
  int64_t taps[kSpatial]; /* Size of the window. */
  int64_t steps[kSpatial];
  int64_t pads[kSpatial]; /* Padding before the first element. */
  int64_t dilations[kSpatial];
  int64_t gaps[kSpatial]; /* Distance between neighbouring input elements in the dilated input. */
} plain_window;

/* A prepared kernel: the function that runs it, and the values from attributes that this function
 * needs. It is immutable, because several threads may launch it at the same time. */
struct tenon_kernel_p {
  void (*run)(const tenon_kernel_p* self, const tenon_launch* launch);
  /* Returns the workspace size in bytes; NULL if the kernel needs no workspace. */
  uint64_t (*workspace)(const tenon_launch* launch);
  size_t axis;
  uint32_t axes; /* Mask of the reduced axes. */
  int32_t reduction;
  int64_t groups;
  plain_window window;
};

/* ---- errors ------------------------------------------------------------------------------------
 */

static inline tenon_error* plain_error(const tenon_host* host, tenon_code code, const char* text) {
  return host->make_error(code, tenon_str(text));
}

/* ---- structs that may grow ----------------------------------------------------------------------
 */

/* Whether a struct from the host contains a field. */
#define PLAIN_HAS(pointer, field) \
  ((pointer)->struct_size >=      \
   (const char*)&(pointer)->field - (const char*)(pointer) + sizeof(pointer)->field)

/* Copies `filled` to a struct of the host that may be shorter: writes at most its struct_size,
 * and sets struct_size to the number written. Both begin with struct_size. */
static inline void plain_fill_struct(void* out, void* filled, uint32_t size) {
  uint32_t room;
  memcpy(&room, out, sizeof room);
  if (room < size) size = room;
  memcpy(filled, &size, sizeof size);
  memcpy(out, filled, size);
}

/* ---- preparing ---------------------------------------------------------------------------------
 */

/* Completes a prepare function: returns a copy of `made` as the kernel. `flags`: TENON_KERNEL_*. */
tenon_error* plain_make_kernel(tenon_device_p* device, const tenon_kernel_p* made, uint32_t flags,
                               tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits);

/* Copies the request's attributes over the defaults in `attrs`, because a host that is older than
 * this plugin sends a shorter struct. Lists in `attrs` are valid only until `prepare`
 * returns. */
void plain_read_attrs(const tenon_kernel_request* request, void* attrs, size_t size);

/* Returns the axis counted from the front; an axis attribute may count from the end. */
static inline size_t plain_axis(int64_t axis, size_t rank) {
  return (size_t)(axis < 0 ? axis + (int64_t)rank : axis);
}

/* Defines the prepare function of a kernel whose only attribute is an axis of `view`, an operand
 * of the request. */
#define PLAIN_PREPARE_ALONG_AXIS(name, attrs_type, defaults, run_function, view)                 \
  PLAIN_PREPARE(name) {                                                                          \
    attrs_type attrs = defaults;                                                                 \
    tenon_kernel_p made = {.run = run_function};                                                 \
    (void)out_reason;                                                                            \
    plain_read_attrs(request, &attrs, sizeof attrs);                                             \
    made.axis = plain_axis(attrs.axis, request->view.rank);                                      \
    return plain_make_kernel(device, &made, TENON_KERNEL_DETERMINISTIC, out_kernel, out_traits); \
  }

/* y += a b, for dense matrices m x k and k x n. */
void plain_multiply_add(const float* a, const float* b, float* y, int64_t m, int64_t k, int64_t n);

#define PLAIN_PREPARE(name)                                                       \
  tenon_error* name(tenon_device_p* device, const tenon_kernel_request* request,  \
                    tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits, \
                    tenon_string* out_reason)

PLAIN_PREPARE(plain_prepare_elementwise);
PLAIN_PREPARE(plain_prepare_cast);
PLAIN_PREPARE(plain_prepare_copy);
PLAIN_PREPARE(plain_prepare_fill);
PLAIN_PREPARE(plain_prepare_concat);
PLAIN_PREPARE(plain_prepare_iota);
PLAIN_PREPARE(plain_prepare_gather);
PLAIN_PREPARE(plain_prepare_gather_elements);
PLAIN_PREPARE(plain_prepare_scatter_elements);
PLAIN_PREPARE(plain_prepare_sum);
PLAIN_PREPARE(plain_prepare_max);
PLAIN_PREPARE(plain_prepare_matmul);
PLAIN_PREPARE(plain_prepare_conv);
PLAIN_PREPARE(plain_prepare_conv_backward_filter);
PLAIN_PREPARE(plain_prepare_max_pool);
PLAIN_PREPARE(plain_prepare_rng_bits);

/* Number of kernels. kernels.c defines the table; it does not compile if this number is wrong. */
enum { PLAIN_N_KERNELS = 32 };
extern const tenon_kernel plain_kernels[PLAIN_N_KERNELS];

/* Declares the slots that device.c defines, with the signatures of plugin_slots.def. */
#define TENON_SLOT(result, name, parameters) result plain_##name parameters;
#include <tenon/plugin_slots.def>

#endif /* PLAIN_H_ */
