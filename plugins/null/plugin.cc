// The smallest complete plugin: a device in host memory with three kernels. `./dev new plugin`
// copies it as a starting point. Change the copy in this order:
//
//   1. This file: describe the device, and report when it is unavailable.
//   2. The calls: memory and streams come from plugins/sdk/host_device.h, which has one function
//      for each slot of tenon/plugin_slots.def. Replace them one by one with calls of your driver.
//   3. kernels.def and kernels.cc: the kernels. Begin with copy, fill and cast, which the host
//      uses most. Then add the primitives of docs/ops. The host composes all other ops from them.
//   4. Run the conformance kit, which reports what is wrong: ./dev conformance null
//
// tenon/plugin.h is the contract. No function here may throw, exit, or call a symbol of the host.

#include <tenon/plugin.h>

#include <iterator>

#include "kernels.h"
#include "plugins/sdk/host_device.h"
#include "plugins/sdk/kernel.h"

namespace tenon_null {

// The instance that a context creates when it uses the plugin. It holds what would otherwise be
// global, such as a driver's handle or a thread pool. The constructor may throw; the context then
// reports the error.
class Instance final : public tenon_sdk::Instance {
 public:
  using tenon_sdk::Instance::Instance;
  tenon_device_properties describe() const override {
    return {.kind = TENON_DEVICE_CPU,
            .description = TENON_STR("host memory"),
            .vendor = TENON_STR("Tenon"),
            .driver = TENON_STR(""),
            .features = tenon_sdk::kHostDeviceFeatures};
  }
};

// The functions of the plugin's table (slots). A function in this namespace overrides the SDK's
// function of the same name. It must have the signature that plugin_slots.def declares.
namespace calls {
using namespace tenon_sdk::host_device;

// Returns the number of devices on this machine. The host passes an index below it to open_device.
tenon_error* count_devices(tenon_instance_p*, size_t* out_count) {
  *out_count = 1;
  return nullptr;
}

}  // namespace calls

namespace {

constexpr tenon_plugin_calls kCalls = {
    .struct_size = sizeof(tenon_plugin_calls),
#define TENON_SLOT(result, name, parameters) .name = calls::name,
#include <tenon/plugin_slots.def>
};

// The kernel table: one element for each entry of kernels.def.
constexpr tenon_kernel kKernels[] = {
#define TENON_KERNEL(op, signature, prepare) TENON_SDK_KERNEL(op, signature, prepare),
#include "kernels.def"
#undef TENON_KERNEL
};

// `provides` must hold only features that are true for every device: the host relies on them, and
// the conformance kit checks them. Remove SYNCHRONOUS if the device is asynchronous, and
// HOST_VISIBLE if the host cannot access its memory.
constexpr tenon_plugin kPlugin = {
    .struct_size = sizeof(tenon_plugin),
    .name = TENON_STR("null"),
    .version = TENON_STR("0.1.0"),
    .provides = tenon_sdk::kHostDeviceFeatures,
    .requires_of_host = 0,
    .create = tenon_sdk::host_device::create<Instance>,
    .calls = &kCalls,
    .kernels = kKernels,
    .n_kernels = std::size(kKernels),
    .kernel_size = sizeof(tenon_kernel),
};

}  // namespace
}  // namespace tenon_null

// The only symbol that the library exports. If the device cannot work, return an error instead:
//
//   return tenon_sdk::Host(host).error(TENON_UNAVAILABLE, "null: no driver is installed");
//
// The host then reports this reason. Load the driver at run time, so that the plugin can be opened
// on a machine without it.
TENON_PLUGIN_ENTRY(null)(const tenon_host*, const tenon_plugin** out_plugin) {
  *out_plugin = &tenon_null::kPlugin;
  return nullptr;
}
