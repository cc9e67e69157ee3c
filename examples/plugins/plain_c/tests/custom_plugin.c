/* A plugin with kernels for custom ops, which it identifies by name. The device and the other
 * kernels are those of examples/plugins/plain_c. Two of its lines are SHAPED, one by name and
 * one by number. It logs what it does, and the op test.counts returns the numbers of prepared
 * and of live kernels of those two lines. */

#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <stdlib.h>

#include "examples/plugins/plain_c/plain.h"

enum { kLines = 4, kMaxLines = 64 };

struct scale_attrs {
  uint32_t struct_size;
  float factor;
};

/* A prepared kernel of this plugin; plain_release_kernel frees it. */
struct own_kernel {
  tenon_kernel_p base; /* The first member, so that both structs have the same address. */
  float factor;
  int64_t prepared_for; /* Number of elements for which the kernel was prepared. */
};

/* For SHAPED lines: the number of kernels prepared so far, and of those not released yet. Any
 * thread may update them. */
static int prepared_shaped, live_shaped;

static tenon_error* give(const struct own_kernel* made, tenon_device_p* device,
                         tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits) {
  tenon_kernel_traits traits = {0};
  struct own_kernel* kernel = malloc(sizeof *kernel);
  if (!kernel) return plain_error(device->host, TENON_OUT_OF_MEMORY, "no memory for a kernel");
  *kernel = *made;
  plain_fill_struct(out_traits, &traits, sizeof traits);
  *out_kernel = &kernel->base;
  return NULL;
}

static int64_t count(const tenon_view* view) {
  int64_t n = 1;
  uint16_t axis;
  for (axis = 0; axis < view->rank; ++axis) n *= view->sizes[axis];
  return n;
}

/* Computes y = factor x + 1000. The implementation in the test program does not add 1000, so the
 * test can tell which one ran. */
static void run_scale(const tenon_kernel_p* self, const tenon_launch* launch) {
  const struct own_kernel* kernel = (const struct own_kernel*)self;
  const float* x = launch->inputs[0].data;
  float* y = launch->outputs[0].data;
  const int64_t n = count(&launch->outputs[0]);
  int64_t i;
  for (i = 0; i < n; ++i) y[i] = kernel->factor * x[i] + 1000;
}

static PLAIN_PREPARE(prepare_scale) {
  struct own_kernel made = {{.run = run_scale}, 0, 0};
  made.factor = ((const struct scale_attrs*)request->attrs)->factor;
  if (made.factor == 0) {
    *out_reason = tenon_str("does not multiply by zero");
    return NULL;
  }
  return give(&made, device, out_kernel, out_traits);
}

/* Computes |x| + 1000, or -1 for all elements if the kernel was prepared for other sizes. */
static void run_shaped(const tenon_kernel_p* self, const tenon_launch* launch) {
  const struct own_kernel* kernel = (const struct own_kernel*)self;
  const float* x = launch->inputs[0].data;
  float* y = launch->outputs[0].data;
  const int64_t n = count(&launch->outputs[0]);
  int64_t i;
  for (i = 0; i < n; ++i) {
    y[i] = n == kernel->prepared_for ? (x[i] < 0 ? -x[i] : x[i]) + 1000 : -1;
  }
}

static PLAIN_PREPARE(prepare_shaped) {
  struct own_kernel made = {{.run = run_shaped}, 0, 1};
  tenon_error* error;
  uint16_t axis;
  if (!request->inputs[0].sizes || !request->outputs[0].sizes) {
    *out_reason = tenon_str("needs sizes, but the request has none");
    return NULL;
  }
  for (axis = 0; axis < request->outputs[0].rank; ++axis) {
    made.prepared_for *= request->outputs[0].sizes[axis];
  }
  error = give(&made, device, out_kernel, out_traits);
  if (error) return error;
  __atomic_fetch_add(&prepared_shaped, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&live_shaped, 1, __ATOMIC_RELAXED);
  return NULL;
}

static void release_kernel(tenon_kernel_p* kernel) {
  if (kernel->run == run_shaped) __atomic_fetch_sub(&live_shaped, 1, __ATOMIC_RELAXED);
  plain_release_kernel(kernel);
}

/* Writes the two counts, followed by zeros. */
static void run_counts(const tenon_kernel_p* self, const tenon_launch* launch) {
  float* y = launch->outputs[0].data;
  const int64_t n = count(&launch->outputs[0]);
  float counts[2];
  int64_t i;
  (void)self;
  counts[0] = (float)__atomic_load_n(&prepared_shaped, __ATOMIC_RELAXED);
  counts[1] = (float)__atomic_load_n(&live_shaped, __ATOMIC_RELAXED);
  for (i = 0; i < n; ++i) y[i] = i < 2 ? counts[i] : 0;
}

static PLAIN_PREPARE(prepare_counts) {
  const struct own_kernel made = {{.run = run_counts}, 0, 0};
  (void)request;
  (void)out_reason;
  return give(&made, device, out_kernel, out_traits);
}

static const tenon_kernel own_kernels[kLines] = {
    {0, sizeof(struct scale_attrs), TENON_STR("f32->f32"), TENON_STR("test.scale"), prepare_scale},
    {0, 0, TENON_STR("f32->f32 SHAPED"), TENON_STR("test.sizes"), prepare_shaped},
    {TENON_OP_abs, 0, TENON_STR("f32->f32 SHAPED"), TENON_STR(""), prepare_shaped},
    {0, 0, TENON_STR("f32->f32"), TENON_STR("test.counts"), prepare_counts},
};

/* ---- the other kernels and the device are those of plain_c ---------------- */

/* The entry of plain_c, under its name in static builds. */
tenon_error* tenon_plugin_query_v1_plain_c(const tenon_host* host, const tenon_plugin** out_plugin);

static const tenon_plugin* plain;
static tenon_plugin plugin;

static tenon_error* create(const tenon_host* host, const tenon_instance_options* options,
                           tenon_instance_p** out_instance) {
  host->log(options->log_context, TENON_LOG_INFO, tenon_str("custom: opens its eyes"));
  host->log(options->log_context, TENON_LOG_DEBUG, tenon_str("custom: looks around"));
  return plain->create(host, options, out_instance);
}

static tenon_error* make_plugin(const tenon_host* host) {
  static tenon_kernel lines[kMaxLines];
  static tenon_plugin_calls calls;
  tenon_error* error = tenon_plugin_query_v1_plain_c(host, &plain);
  if (error) return error;
  if (plain->n_kernels + kLines > kMaxLines) {
    return plain_error(host, TENON_INTERNAL, "kMaxLines is too small");
  }
  memcpy(lines, own_kernels, sizeof own_kernels);
  memcpy(lines + kLines, plain->kernels, plain->n_kernels * sizeof *lines);
  calls = *plain->calls;
  calls.release_kernel = release_kernel;
  plugin = *plain;
  plugin.name = tenon_str("custom");
  plugin.create = create;
  plugin.calls = &calls;
  plugin.kernels = lines;
  plugin.n_kernels = plain->n_kernels + kLines;
  return NULL;
}

TENON_PLUGIN_ENTRY(custom)(const tenon_host* host, const tenon_plugin** out_plugin);

/* The plugin's description is made once, because the host may query it several times, from any
 * thread, and read the result at any time. */
TENON_PLUGIN_ENTRY(custom)(const tenon_host* host, const tenon_plugin** out_plugin) {
  static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
  static int is_made;
  tenon_error* error = NULL;
  pthread_mutex_lock(&making);
  if (!is_made) error = make_plugin(host);
  if (!error) is_made = 1;
  pthread_mutex_unlock(&making);
  if (error) return error;
  *out_plugin = &plugin;
  return NULL;
}
