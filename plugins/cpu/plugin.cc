// The entry of the CPU plugin.
//
// Read this file, then plugins/simd: plugin_table.h for the calls, kernels.def for the kernels and
// kernels/ for their loops. Memory and streams are in plugins/sdk/host_device.h. Only this file is
// compiled for the baseline processor of its architecture, so that it can report an unsupported
// processor.

#include <tenon/plugin.h>

#include <iterator>

#include "plugins/cpu/create.h"
#include "plugins/simd/plugin_table.h"

namespace tenon_simd {
namespace {

constexpr tenon_features kFeatures = tenon_sdk::kHostDeviceFeatures | TENON_FEATURE_IEEE_DIV |
                                     TENON_FEATURE_IEEE_FMA | TENON_FEATURE_FLOAT64;

constexpr tenon_plugin kPlugin = {
    .struct_size = sizeof(tenon_plugin),
    .name = TENON_STR("cpu"),
    .version = TENON_STR("0.1.0"),
    .provides = kFeatures,
    .requires_of_host = TENON_HOST_FEATURE_BROADCAST_VIEWS,
    .create = create_instance,
    .calls = &kCalls,
    .kernels = kKernels,
    .n_kernels = std::size(kKernels),
    .kernel_size = sizeof(tenon_kernel),
};

bool has_required_simd() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
#else
  return true;
#endif
}

}  // namespace
}  // namespace tenon_simd

TENON_PLUGIN_ENTRY(cpu)(const tenon_host* host, const tenon_plugin** out_plugin) {
  *out_plugin = nullptr;
  if (!tenon_simd::has_required_simd()) {
    return host->make_error(
        TENON_UNAVAILABLE,
        TENON_STR("cpu: this processor does not support AVX2, FMA, F16C or BMI2"));
  }
  *out_plugin = &tenon_simd::kPlugin;
  return nullptr;
}
