// The kernel table and the call table of a plugin that consists of these sources. Each plugin (cpu,
// wasm) defines its own entry function, which passes the tables to the host.

#pragma once

#include <tenon/plugin.h>

#include "plugins/simd/kernels.h"

#if defined(TENON_KEPT_OPS)
#include TENON_KEPT_OPS  // Written by bindings/js/small/small.cmake: defines tenon_kept::contains().
#endif

namespace tenon_simd {

#if defined(TENON_KEPT_OPS)
// The prepare function of ops that a small build leaves out.
inline Prepared prepare_left_out(const Request&) { return refuse("is left out of this build"); }
#define TENON_PREPARE(op, prepare) (tenon_kept::contains(#op) ? prepare : prepare_left_out)
#else
#define TENON_PREPARE(op, prepare) prepare
#endif

inline constexpr tenon_kernel kKernels[] = {
#define TENON_KERNEL(op, signature, prepare) \
  TENON_SDK_KERNEL(op, signature, TENON_PREPARE(op, prepare)),
#include "plugins/simd/kernels.def"
#undef TENON_KERNEL
#undef TENON_PREPARE
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
