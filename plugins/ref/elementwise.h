// The loop of every elementwise primitive.

#pragma once

#include <array>
#include <utility>

#include "plugins/ref/kernels.h"
#include "plugins/ref/scalar.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {

// Computes y[i] = f(x0[i], x1[i], ...). Inputs have type In and are widened to W; outputs have type
// Out. `f` is a function pointer rather than a template argument, so that all ops with the same
// signature share one loop per dtype.
template <class Out, class In, class Result, class... W>
void map(const tenon_launch& launch, Result (*f)(W...)) {
  constexpr size_t n_inputs = sizeof...(W);
  std::array<const int64_t*, n_inputs + 1> strides;
  std::array<const In*, n_inputs> x;
  for (size_t k = 0; k < n_inputs; ++k) {
    strides[k] = tenon_sdk::strides_of(launch.inputs[k]);
    x[k] = tenon_sdk::data<const In>(launch.inputs[k]);
  }
  const tenon_view& out = launch.outputs[0];
  strides[n_inputs] = out.strides;
  Out* y = tenon_sdk::data<Out>(out);

  const tenon_sdk::Walk<n_inputs + 1> walk(out.rank, out.sizes, strides);
  const auto call = [&]<size_t... k>(const auto& at, std::index_sequence<k...>) {
    return f(widen<W>(x[k][at[k]])...);
  };
  walk.elements([&](const auto& at) {
    y[at[n_inputs]] = narrow<Out>(call(at, std::make_index_sequence<n_inputs>()));
  });
}

// Returns a kernel that maps `f`; a refusal if `f` is NULL because the op does not support this
// dtype.
template <class Out, class In, class Result, class... W>
Prepared map_kernel(Result (*f)(W...)) {
  if (f == nullptr) return tenon_sdk::refuse("does not support this op for this dtype");
  constexpr uint32_t traits = std::is_same_v<Out, In> ? kElementwise : kTraits;
  return tenon_sdk::kernel(traits, [f](const tenon_launch& launch) { map<Out, In>(launch, f); });
}

}  // namespace tenon_ref
