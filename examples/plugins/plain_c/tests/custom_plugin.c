/* A plugin with kernels for custom ops, which it knows by name: the device and the other kernels
 * are those of examples/plugins/plain_c. Two of its lines are SHAPED, one by name and one by
 * number. It writes to the log what it does. */

#include <stdlib.h>

#include "examples/plugins/plain_c/plain.h"

enum { kLines = 3, kMostLines = 64 };

struct scale_attrs {
  uint32_t struct_size;
  float factor;
};

/* A prepared kernel of ours; plain_release_kernel frees it. */
struct own_kernel {
  tenon_kernel_p base; /* The first member. */
  float factor;
  int64_t prepared_for; /* How many elements. */
};

static tenon_error* give(const struct own_kernel* made, tenon_device_p* device,
                         tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits) {
  tenon_kernel_traits traits = {0};
  struct own_kernel* kernel = malloc(sizeof *kernel);
  if (!kernel) return plain_error(device->host, TENON_OUT_OF_MEMORY, "no memory for a kernel");
  *kernel = *made;
  plain_answer(out_traits, &traits, sizeof traits);
  *out_kernel = &kernel->base;
  return NULL;
}

static int64_t count(const tenon_view* view) {
  int64_t n = 1;
  uint16_t axis;
  for (axis = 0; axis < view->rank; ++axis) n *= view->sizes[axis];
  return n;
}

/* y = factor x + 1000, where the program's own loop adds nothing. */
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

/* |x| + 1000, or -1 everywhere if it was prepared for other sizes. */
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
  uint16_t axis;
  if (!request->inputs[0].sizes || !request->outputs[0].sizes) {
    *out_reason = tenon_str("was given no sizes");
    return NULL;
  }
  for (axis = 0; axis < request->outputs[0].rank; ++axis) {
    made.prepared_for *= request->outputs[0].sizes[axis];
  }
  return give(&made, device, out_kernel, out_traits);
}

static const tenon_kernel own_kernels[kLines] = {
    {0, sizeof(struct scale_attrs), TENON_STR("f32->f32"), TENON_STR("test.scale"), prepare_scale},
    {0, 0, TENON_STR("f32->f32 SHAPED"), TENON_STR("test.sizes"), prepare_shaped},
    {TENON_OP_abs, 0, TENON_STR("f32->f32 SHAPED"), TENON_STR(""), prepare_shaped},
};

/* ---- the rest is plain_c ------------------------------------------------ */

/* Its entry, under the name that a static build gives it. */
tenon_error* tenon_plugin_query_v1_plain_c(const tenon_host* host, const tenon_plugin** out_plugin);

static const tenon_plugin* plain;

static tenon_error* create(const tenon_host* host, const tenon_instance_options* options,
                           tenon_instance_p** out_instance) {
  host->log(options->log_context, TENON_LOG_INFO, tenon_str("custom: opens its eyes"));
  host->log(options->log_context, TENON_LOG_DEBUG, tenon_str("custom: looks around"));
  return plain->create(host, options, out_instance);
}

TENON_PLUGIN_ENTRY(custom)(const tenon_host* host, const tenon_plugin** out_plugin);
TENON_PLUGIN_ENTRY(custom)(const tenon_host* host, const tenon_plugin** out_plugin) {
  static tenon_kernel lines[kMostLines];
  static tenon_plugin plugin;
  tenon_error* error = tenon_plugin_query_v1_plain_c(host, &plain);
  if (error) return error;
  if (plain->n_kernels + kLines > kMostLines) {
    return plain_error(host, TENON_INTERNAL, "kMostLines is too small");
  }
  memcpy(lines, own_kernels, sizeof own_kernels);
  memcpy(lines + kLines, plain->kernels, plain->n_kernels * sizeof *lines);
  plugin = *plain;
  plugin.name = tenon_str("custom");
  plugin.create = create;
  plugin.kernels = lines;
  plugin.n_kernels = plain->n_kernels + kLines;
  *out_plugin = &plugin;
  return NULL;
}
