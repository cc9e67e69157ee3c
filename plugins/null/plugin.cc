// The smallest plugin that works: a device in host memory with three kernels. It is what
// `./dev new plugin` copies, so it is meant to be changed. In this order:
//
//   1. Here: what the device is, and when it is not to be had on a machine.
//   2. The calls: memory and streams come from plugins/sdk/host_device.h, whose every function
//      stands for one slot of tenon/plugin_slots.def. Replace them one by one by your driver's.
//   3. kernels.def and kernels.cc: what runs on it. Begin with copy, fill and cast, which the host
//      needs most, then the primitives of docs/ops; whatever is missing is composed from those.
//   4. Run the conformance kit, which says what is wrong: ./dev conformance null
//
// The contract is tenon/plugin.h. Nothing here may throw, exit, or call a symbol of the host.

#include <tenon/plugin.h>

#include <iterator>

#include "kernels.h"
#include "plugins/sdk/host_device.h"
#include "plugins/sdk/kernel.h"

namespace tenon_null {

// One for each context that uses the plugin: what would otherwise be a global lives here, such as a
// driver's handle or a thread pool. The constructor may throw; the context then says why.
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

// The slots. One that is defined in this namespace goes before the SDK's of the same name. Give it
// the signature that plugin_slots.def has.
namespace calls {
using namespace tenon_sdk::host_device;

// How many devices of yours this machine has; open_device gets an index below that.
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

// A line of kernels.def each. A new kernel needs no line here.
constexpr tenon_kernel kKernels[] = {
#define TENON_KERNEL(op, signature, prepare) TENON_SDK_KERNEL(op, signature, prepare),
#include "kernels.def"
#undef TENON_KERNEL
};

// Say of `provides` only what is true of every device: the host relies on it and the kit checks it.
// A device that runs behind the caller's back is not SYNCHRONOUS, and one whose memory the host
// cannot see is not HOST_VISIBLE.
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

// The only symbol that the library exports. Where the device cannot work, answer instead
//
//   return tenon_sdk::Host(host).error(TENON_UNAVAILABLE, "null: no driver is installed");
//
// which is noted, not fatal. Load the driver at run time, so that the plugin opens without it.
TENON_PLUGIN_ENTRY(null)(const tenon_host*, const tenon_plugin** out_plugin) {
  *out_plugin = &tenon_null::kPlugin;
  return nullptr;
}
