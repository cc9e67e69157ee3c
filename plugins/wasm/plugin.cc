// The entry point of the plugin for WebAssembly, which runs the kernels of plugins/simd on 128-bit
// vectors.
//
// WebAssembly has no fused multiply-add, so the plugin does not declare TENON_FEATURE_IEEE_FMA
// (docs/numerics.md).

#include <tenon/plugin.h>

#include <iterator>

#include "plugins/simd/plugin_table.h"
#include "plugins/wasm/features.h"

namespace tenon_simd {
namespace {

constexpr tenon_plugin kPlugin = {
    .struct_size = sizeof(tenon_plugin),
    .name = TENON_STR("wasm"),
    .version = TENON_STR("0.1.0"),
    .provides = kWasmFeatures,
    .requires_of_host = TENON_HOST_FEATURE_BROADCAST_VIEWS,
    .create = tenon_sdk::host_device::create<Instance>,
    .calls = &kCalls,
    .kernels = kKernels,
    .n_kernels = std::size(kKernels),
    .kernel_size = sizeof(tenon_kernel),
};

}  // namespace
}  // namespace tenon_simd

TENON_PLUGIN_ENTRY(wasm)(const tenon_host*, const tenon_plugin** out_plugin) {
  *out_plugin = &tenon_simd::kPlugin;
  return nullptr;
}
