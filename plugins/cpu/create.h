#pragma once

#include <tenon/plugin.h>

namespace tenon_simd {

// Creates an instance of the plugin. Option `openblas`: with "auto", the instance uses OpenBLAS if
// it is installed; with "off", it does not.
tenon_error* create_instance(const tenon_host* host, const tenon_instance_options* options,
                             tenon_instance_p** out_instance);

}  // namespace tenon_simd
