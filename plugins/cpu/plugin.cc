// The entry of the CPU plugin: its description and its table of calls.
//
// Read this file, then kernels.def for the kernels and kernels/ for their loops. Memory and streams
// are in plugins/sdk/host_device.h. Only this file is compiled for the baseline processor of its
// architecture, so that it can report an unsupported processor.

#include <tenon/plugin.h>

#include <iterator>

#include "plugins/simd/kernels.h"

namespace tenon_simd {
namespace {

constexpr tenon_features kFeatures = tenon_sdk::kHostDeviceFeatures | TENON_FEATURE_IEEE_DIV |
                                     TENON_FEATURE_IEEE_FMA | TENON_FEATURE_FLOAT64;

constexpr tenon_kernel kKernels[] = {
#define TENON_KERNEL(op, signature, prepare) TENON_SDK_KERNEL(op, signature, prepare),
#include "plugins/simd/kernels.def"
#undef TENON_KERNEL
};

// The slots: the SDK's, except those defined here.
namespace calls {
using namespace tenon_sdk::host_device;

constexpr auto prepare_loop = tenon_sdk::prepare_loop<tenon_simd::prepare_loop>;

void run_tasks(tenon_stream_p* stream, const tenon_tasks* tasks) {
  const auto& instance = static_cast<const Instance&>(tenon_sdk::from_c(stream).device.instance);
  instance.pool.parallel_for(static_cast<int64_t>(tasks->n), [&](int64_t i) {
    tasks->run(tasks->payload, static_cast<size_t>(i));
  });
}

}  // namespace calls

constexpr tenon_plugin_calls kCalls = {
    .struct_size = sizeof(tenon_plugin_calls),
#define TENON_SLOT(result, name, parameters) .name = calls::name,
#include <tenon/plugin_slots.def>
};

constexpr tenon_plugin kPlugin = {
    .struct_size = sizeof(tenon_plugin),
    .name = TENON_STR("cpu"),
    .version = TENON_STR("0.1.0"),
    .provides = kFeatures,
    .requires_of_host = TENON_HOST_FEATURE_BROADCAST_VIEWS,
    .create = tenon_sdk::host_device::create<Instance>,
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
