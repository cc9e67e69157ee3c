// The features that the plugin and its device declare.

#pragma once

#include "plugins/sdk/host_device.h"

namespace tenon_simd {

inline constexpr tenon_features kWasmFeatures =
    tenon_sdk::kHostDeviceFeatures | TENON_FEATURE_IEEE_DIV | TENON_FEATURE_FLOAT64;

}  // namespace tenon_simd
