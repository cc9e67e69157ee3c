/* docs/plugins.md: lists the available devices, and the state of every plugin that was found. */

#include "docs/snippets/snippet.h"

int main(void) {
  static const char* const states[] = {"not tried", "loaded", "refused"};
  tenon_context* context = NULL;
  size_t n_devices = 0;
  must(tenon_context_create(NULL, &context));

  must(tenon_context_count_devices(context, &n_devices));
  for (size_t i = 0; i < n_devices; ++i) {
    tenon_device* device = NULL;
    must(tenon_context_get_device(context, i, &device));
    printf("device %s\n", tenon_device_name(device).data);
    tenon_device_release(device);
  }

  for (size_t i = 0; i < tenon_context_count_candidates(context); ++i) {
    tenon_plugin_candidate plugin;
    plugin.struct_size = sizeof plugin;
    must(tenon_context_get_candidate(context, i, &plugin));
    printf("plugin %s, %s%s%s\n", plugin.name.data, states[plugin.state],
           plugin.reason.size ? ": " : "", plugin.reason.data);
  }

  tenon_context_release(context);
  return 0;
}
