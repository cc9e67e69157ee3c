/* A complete device plugin in plain C: a second CPU device with one thread and its own memory.
 *
 * It is small but complete: it trains examples/c/fashion.c and passes the conformance kit.
 * docs/certifying_a_plugin.md explains the steps.
 *
 * This file is the plugin's interface to the host: one symbol, which returns the description
 * below. */

#include <stdio.h>
#include <stdlib.h>

#include "plain.h"

/* Creates an instance. Each context that uses the plugin has its own instance, which contains state
 * that would otherwise be global. */
static tenon_error* create(const tenon_host* host, const tenon_instance_options* options,
                           tenon_instance_p** out_instance) {
  if (PLAIN_HAS(options, n_options) && options->n_options > 0) {
    char text[200];
    const tenon_string key = options->option_keys[0];
    snprintf(text, sizeof text, "unknown option '%.*s'", key.size < 150 ? (int)key.size : 150,
             key.data);
    return plain_error(host, TENON_INVALID_ARGUMENT, text);
  }
  tenon_instance_p* instance = malloc(sizeof *instance);
  if (!instance) return plain_error(host, TENON_OUT_OF_MEMORY, "no memory for an instance");
  instance->host = host;
  *out_instance = instance;
  return NULL;
}

/* The table of twenty slots. The missing slots are optional, and `plugin` does not declare their
 * features in `provides`. */
static const tenon_plugin_calls calls = {
    .struct_size = sizeof(tenon_plugin_calls),
    .destroy = plain_destroy,
    .count_devices = plain_count_devices,
    .open_device = plain_open_device,
    .close_device = plain_close_device,
    .describe_device = plain_describe_device,
    .allocate = plain_allocate,
    .release = plain_release,
    .map = plain_map,
    .copy = plain_copy,
    .fill = plain_fill,
    .memory_statistics = plain_memory_statistics,
    .open_stream = plain_open_stream,
    .close_stream = plain_close_stream,
    .record_event = plain_record_event,
    .wait_event = plain_wait_event,
    .release_event = plain_release_event,
    .notify = plain_notify,
    .workspace = plain_workspace,
    .launch = plain_launch,
    .release_kernel = plain_release_kernel,
};

TENON_PLUGIN_ENTRY(plain_c)(const tenon_host* host, const tenon_plugin** out_plugin);

/* The only symbol that the library exports. If the device were unavailable, it would return
 *
 *   return plain_error(host, TENON_UNAVAILABLE, "plain_c: no board answers on the bus"); */
TENON_PLUGIN_ENTRY(plain_c)(const tenon_host* host, const tenon_plugin** out_plugin) {
  static const tenon_plugin plugin = {
      .struct_size = sizeof(tenon_plugin),
      .name = TENON_STR("plain_c"),
      .version = TENON_STR("1.0.0"),
      .provides = TENON_FEATURE_HOST_VISIBLE | TENON_FEATURE_SYNCHRONOUS | TENON_FEATURE_IEEE_DIV,
      .create = create,
      .calls = &calls,
      .kernels = plain_kernels,
      .n_kernels = PLAIN_N_KERNELS,
      .kernel_size = sizeof(tenon_kernel),
  };
  (void)host;
  *out_plugin = &plugin;
  return NULL;
}
