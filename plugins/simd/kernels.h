// Declarations for all kernels of the plugin. Read next kernels.def, the list of kernels, and
// kernels/elementwise.h, which runs half of them.

#pragma once

#include "plugins/sdk/host_device.h"
#include "plugins/sdk/kernel.h"
#include "plugins/simd/blas_table.h"
#include "plugins/simd/packed_operands.h"
#include "plugins/simd/parallel.h"

namespace tenon_simd {

using tenon_sdk::BFloat16;
using tenon_sdk::Bool;
using tenon_sdk::count;
using tenon_sdk::data;
using tenon_sdk::dispatch;
using tenon_sdk::Half;
using tenon_sdk::is_present;
using tenon_sdk::kernel;
using tenon_sdk::List;
using tenon_sdk::list;
using tenon_sdk::list_or;
using tenon_sdk::Prepared;
using tenon_sdk::refuse;
using tenon_sdk::Request;
using tenon_sdk::size_of;
using tenon_sdk::Type;

// The plugin's instance for one context, with its threads.
class Instance : public tenon_sdk::Instance {
 public:
  Instance(const tenon_host* host, const tenon_instance_options& options);
  tenon_device_properties describe() const override;

  // Returns the BLAS for large products and decompositions, or NULL if Tenon's own code computes
  // them. The first call may load a library.
  const Blas* blas() const { return find_blas != nullptr ? find_blas() : nullptr; }

  // Returns the packed forms of operands, for any thread.
  PackedOperands& packed() const { return packed_; }

  const Pool pool;
  // Returns the BLAS or NULL. Set by plugins that can use a BLAS.
  const Blas* (*find_blas)() = nullptr;

 private:
  mutable PackedOperands packed_;
};

// Whether kernels that few networks use favour size over speed: they convert most dtypes to a wider
// one (kernels/through_wide.h) instead of being compiled for each. Web pages download the kernels.
#if defined(__EMSCRIPTEN__)
inline constexpr bool kIsCompact = true;
#else
inline constexpr bool kIsCompact = false;
#endif

// Returns the instance of the plugin to which the device belongs.
inline const Instance& instance_of(tenon_device_p* device) {
  return static_cast<const Instance&>(tenon_sdk::from_c(device).instance);
}
inline const Instance& instance_of(const Request& request) { return instance_of(request.device()); }
inline const Pool& pool_of(tenon_device_p* device) { return instance_of(device).pool; }
inline const Pool& pool_of(const Request& request) { return pool_of(request.device()); }

// Traits of all kernels: they accept inputs with any strides and are deterministic.
inline constexpr uint32_t kTraits = TENON_KERNEL_STRIDED_INPUTS | TENON_KERNEL_DETERMINISTIC;
// Traits of kernels that read all inputs at an index before they write the output at that index.
inline constexpr uint32_t kElementwise = kTraits | TENON_KERNEL_MAY_ALIAS;

inline bool is_half(tenon_dtype dtype) { return dtype == TENON_FLOAT16 || dtype == TENON_BFLOAT16; }
inline bool is_float(tenon_dtype dtype) {
  return TENON_DTYPE_CODE(dtype) == TENON_CODE_FLOAT || is_half(dtype);
}
// Returns the dtype in which elements of this dtype are computed.
inline tenon_dtype compute_dtype(tenon_dtype dtype) {
  return is_half(dtype) ? TENON_FLOAT32 : dtype;
}

// Calls f(Type<U>{}), where U is the unsigned integer type with the size of the dtype's elements.
template <class F>
auto dispatch_bits(tenon_dtype dtype, F&& f) {
  switch (size_of(dtype)) {
    case 1:
      return f(Type<uint8_t>{});
    case 2:
      return f(Type<uint16_t>{});
    case 4:
      return f(Type<uint32_t>{});
    default:
      return f(Type<uint64_t>{});
  }
}

// Whether the op has an optional input `i`.
inline bool has_input(const Request& request, size_t i) {
  return i < request.n_inputs() && request.input(i).strides != TENON_STRIDES_ABSENT;
}
inline bool has_input(const tenon_launch& launch, size_t i) {
  return i < launch.n_inputs && is_present(launch.inputs[i]);
}

// Refuses ops with data-dependent output sizes if the call does not specify the size.
inline Prepared refuse_unsized() {
  return refuse("needs the attribute size, without which the output sizes depend on data");
}

// Implemented in kernels/loop.cc, and in kernels/row_loop.cc for loops over rows.
Prepared prepare_loop(const tenon_sdk::LoopRequest& request);
Prepared prepare_row_loop(const tenon_sdk::LoopRequest& request);

// Declares the functions that kernels.def names.
#define TENON_KERNEL(op, signature, prepare) Prepared prepare(const Request& request);
#include "plugins/simd/kernels.def"
#undef TENON_KERNEL

}  // namespace tenon_simd
