// The entry point of the reference plugin, with its description and its table of functions.
//
// This device is the oracle that other devices are compared with, so its code must be verifiable by
// reading. It uses one thread, one loop for each primitive, and wide accumulators. The device and
// its memory come from plugins/sdk/host_device.h. kernels.def lists the loops, which have one file
// per family of ops.

#include <tenon/plugin.h>

#include <iterator>

#include "plugins/ref/kernels.h"
#include "plugins/sdk/host_device.h"
#include "plugins/sdk/kernel.h"

namespace tenon_ref {
namespace {

constexpr tenon_features kFeatures = tenon_sdk::kHostDeviceFeatures | TENON_FEATURE_IEEE_DIV |
                                     TENON_FEATURE_IEEE_FMA | TENON_FEATURE_FLOAT64;

class Instance final : public tenon_sdk::Instance {
 public:
  using tenon_sdk::Instance::Instance;
  tenon_device_properties describe() const override {
    return {.kind = TENON_DEVICE_CPU,
            .description = TENON_STR("reference loops, one thread"),
            .vendor = TENON_STR("Tenon"),
            .driver = TENON_STR(""),
            .features = kFeatures,
            .compute_units = 1};
  }
};

constexpr tenon_kernel kKernels[] = {
#define TENON_KERNEL(op, signature, prepare) TENON_SDK_KERNEL(op, signature, prepare),
#include "plugins/ref/kernels.def"
#undef TENON_KERNEL
};

constexpr tenon_plugin_calls kCalls = {
    .struct_size = sizeof(tenon_plugin_calls),
#define TENON_SLOT(result, name, parameters) .name = tenon_sdk::host_device::name,
#include <tenon/plugin_slots.def>
};

constexpr tenon_plugin kPlugin = {
    .struct_size = sizeof(tenon_plugin),
    .name = TENON_STR("ref"),
    .version = TENON_STR("0.1.0"),
    .provides = kFeatures,
    .requires_of_host = TENON_HOST_FEATURE_BROADCAST_VIEWS,
    .create = tenon_sdk::host_device::create<Instance>,
    .calls = &kCalls,
    .kernels = kKernels,
    .n_kernels = std::size(kKernels),
    .kernel_size = sizeof(tenon_kernel),
};

}  // namespace
}  // namespace tenon_ref

TENON_PLUGIN_ENTRY(ref)(const tenon_host*, const tenon_plugin** out_plugin) {
  *out_plugin = &tenon_ref::kPlugin;
  return nullptr;
}
