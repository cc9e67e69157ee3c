/* A complete plugin in plain C for an asynchronous device, like most accelerators: the host cannot
 * access its memory, and its work runs after the call that enqueues it has returned.
 *
 * It shows how to implement such memory and such work, not how to write kernels;
 * examples/plugins/plain_c has more kernels. This file is the plugin's interface to the host: one
 * symbol, which returns the description below. */

#include <stdio.h>

#include "async.h"

/* Creates an instance. Each context that uses the plugin has its own instance, which contains state
 * that would otherwise be global. */
static tenon_error* create(const tenon_host* host, const tenon_instance_options* options,
                           tenon_instance_p** out_instance) {
  if (ASYNC_HAS(options, n_options) && options->n_options > 0) {
    char text[200];
    const tenon_string key = options->option_keys[0];
    snprintf(text, sizeof text, "unknown option '%.*s'", key.size < 150 ? (int)key.size : 150,
             key.data);
    return async_error(host, TENON_INVALID_ARGUMENT, text);
  }
  tenon_instance_p* instance = malloc(sizeof *instance);
  if (!instance) return async_error(host, TENON_OUT_OF_MEMORY, "no memory for an instance");
  instance->host = host;
  *out_instance = instance;
  return NULL;
}

/* The table of slots. Optional slots are NULL. There is no `map` and no `import_host`, so `plugin`
 * declares neither HOST_VISIBLE nor IMPORT_HOST. */
static const tenon_plugin_calls calls = {
    .struct_size = sizeof(tenon_plugin_calls),
    .destroy = async_destroy,
    .count_devices = async_count_devices,
    .open_device = async_open_device,
    .close_device = async_close_device,
    .describe_device = async_describe_device,
    .allocate = async_allocate,
    .release = async_release,
    .copy = async_copy,
    .fill = async_fill,
    .memory_statistics = async_memory_statistics,
    .open_stream = async_open_stream,
    .close_stream = async_close_stream,
    .record_event = async_record_event,
    .wait_event = async_wait_event,
    .release_event = async_release_event,
    .notify = async_notify,
    .wait = async_wait,
    .workspace = async_workspace,
    .launch = async_launch,
    .release_kernel = async_release_kernel,
    .prepare_loop = async_prepare_loop,
};

TENON_PLUGIN_ENTRY(async_c)(const tenon_host* host, const tenon_plugin** out_plugin);

TENON_PLUGIN_ENTRY(async_c)(const tenon_host* host, const tenon_plugin** out_plugin) {
  static const tenon_plugin plugin = {
      .struct_size = sizeof(tenon_plugin),
      .name = TENON_STR("async_c"),
      .version = TENON_STR("1.0.0"),
      .provides = TENON_FEATURE_HOST_BLOCKING | TENON_FEATURE_IEEE_DIV,
      .create = create,
      .calls = &calls,
      .kernels = async_kernels,
      .n_kernels = ASYNC_N_KERNELS,
      .kernel_size = sizeof(tenon_kernel),
  };
  (void)host;
  *out_plugin = &plugin;
  return NULL;
}
