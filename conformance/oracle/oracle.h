// The oracle: the kernels of plugins/ref, linked into the kit and compiled with support for
// binary128.

#pragma once

#include <tenon/plugin.h>

namespace tenon_kit {

// The query function of the plugin `oracle`.
tenon_error* query_oracle(const tenon_host* host, const tenon_plugin** out_plugin);

}  // namespace tenon_kit
