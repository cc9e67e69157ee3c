// The plugin that contains the mutants: the mutated `fake`, which wraps the mutated `ref`. In
// synchronous mode with host-visible memory it behaves like `ref`.

#include <tenon/plugin.h>

TENON_EXTERN_C tenon_error* tenon_plugin_query_v1_fake(const tenon_host* host,
                                                       const tenon_plugin** out_plugin);

TENON_PLUGIN_ENTRY(mutant)(const tenon_host* host, const tenon_plugin** out_plugin) {
  static tenon_plugin plugin;
  const tenon_plugin* fake = nullptr;
  if (tenon_error* error = tenon_plugin_query_v1_fake(host, &fake)) return error;
  plugin = *fake;
  plugin.name = TENON_STR("mutant");
  *out_plugin = &plugin;
  return nullptr;
}
