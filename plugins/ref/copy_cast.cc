// copy and cast: inputs with any strides, dense outputs.

#include <cmath>
#include <limits>

#include "plugins/ref/kernels.h"
#include "plugins/ref/scalar.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {
namespace {

// Converts an element. Float to integer: truncates, then saturates; NaN becomes 0. Integer to
// integer: wraps. To bool: everything but zero is true, including NaN. To float: rounds once, ties
// to even.
template <class To, class From>
To convert(From x) {
  if constexpr (std::is_floating_point_v<From> && tenon_sdk::kIsInt<To>) {
    using Limits = std::numeric_limits<To>;
    if (std::isnan(x)) return 0;
    const From whole = std::trunc(x);
    // `From` may be unable to represent Limits::max(), but it represents the power of two after it.
    if (whole < static_cast<From>(Limits::min())) return Limits::min();
    if (whole >= std::ldexp(static_cast<From>(1), Limits::digits)) return Limits::max();
    return static_cast<To>(whole);
  } else {
    return narrow<To>(x);
  }
}

// Each dtype has one load and one store function. They exchange elements as W, which is int64_t,
// uint64_t or double and represents every value of the source dtype exactly.
template <class W>
using Load = W (*)(const void* x, int64_t at);
template <class W>
using Store = void (*)(void* y, int64_t at, W value);

// Reads element `at` of an array of From.
template <class From>
Exact<From> load(const void* x, int64_t at) {
  return widen<Exact<From>>(static_cast<const From*>(x)[at]);
}

// Converts `value` to To and stores it as element `at`.
template <class To, class W>
void store(void* y, int64_t at, W value) {
  static_cast<To*>(y)[at] = convert<To>(value);
}

// Prepares a cast from the dtype that `load` reads to dtype `to`.
template <class W>
Prepared cast_kernel(Load<W> load, tenon_dtype to) {
  Store<W> store_to = nullptr;
  tenon_sdk::dispatch<tenon_sdk::Any>(to, [&]<class To>(Type<To>) {
    store_to = store<To, W>;
    return 0;
  });
  if (store_to == nullptr) return {};
  return tenon_sdk::kernel(kTraits, [load, store_to](const tenon_launch& launch) {
    const tenon_view& in = launch.inputs[0];
    const tenon_view& out = launch.outputs[0];
    const tenon_sdk::Walk<2> walk(out.rank, out.sizes, {tenon_sdk::strides_of(in), out.strides});
    walk.elements([&](const auto& at) { store_to(out.data, at[1], load(in.data, at[0])); });
  });
}

}  // namespace

Prepared prepare_copy(const Request& request) {
  return tenon_sdk::dispatch_size(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [](const tenon_launch& launch) {
      const tenon_view& in = launch.inputs[0];
      const tenon_view& out = launch.outputs[0];
      const T* x = tenon_sdk::data<const T>(in);
      T* y = tenon_sdk::data<T>(out);
      const tenon_sdk::Walk<2> walk(out.rank, out.sizes, {tenon_sdk::strides_of(in), out.strides});
      walk.elements([&](const auto& at) { y[at[1]] = x[at[0]]; });
    });
  });
}

Prepared prepare_cast(const Request& request) {
  const tenon_dtype to = request.output(0).dtype;
  return tenon_sdk::dispatch<tenon_sdk::Any>(request.input(0).dtype, [&]<class From>(Type<From>) {
    return cast_kernel<Exact<From>>(load<From>, to);
  });
}

}  // namespace tenon_ref
