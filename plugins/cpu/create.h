#pragma once

#include <tenon/plugin.h>

namespace tenon_simd {

// Makes an instance of the plugin. Option `openblas`: "auto" uses OpenBLAS where it is installed,
// "off" does not.
tenon_error* create_instance(const tenon_host* host, const tenon_instance_options* options,
                             tenon_instance_p** out_instance);

}  // namespace tenon_simd
