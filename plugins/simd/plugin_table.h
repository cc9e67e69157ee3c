// The kernel table and the call table of a plugin that consists of these sources. Each plugin (cpu,
// wasm) defines its own entry function, which passes the tables to the host.

#pragma once

#include <tenon/plugin.h>

#include "plugins/simd/kernels.h"

namespace tenon_simd {

inline constexpr tenon_kernel kKernels[] = {
#define TENON_KERNEL(op, signature, prepare) TENON_SDK_KERNEL(op, signature, prepare),
#include "plugins/simd/kernels.def"
#undef TENON_KERNEL
};

// The functions of the call table: those of the SDK and those that are defined here.
namespace calls {
using namespace tenon_sdk::host_device;

inline constexpr auto prepare_loop = tenon_sdk::prepare_loop<tenon_simd::prepare_loop>;

// Runs independent tasks of the host on the threads of the pool.
inline void run_tasks(tenon_stream_p* stream, const tenon_tasks* tasks) {
  const auto& instance = static_cast<const Instance&>(tenon_sdk::from_c(stream).device.instance);
  instance.pool.parallel_for(static_cast<int64_t>(tasks->n), [&](int64_t i) {
    tasks->run(tasks->payload, static_cast<size_t>(i));
  });
}

}  // namespace calls

inline constexpr tenon_plugin_calls kCalls = {
    .struct_size = sizeof(tenon_plugin_calls),
#define TENON_SLOT(result, name, parameters) .name = calls::name,
#include <tenon/plugin_slots.def>
};

}  // namespace tenon_simd
