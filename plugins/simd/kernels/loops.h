// Spans that are made from scalar functions, for dtypes and ops whose loops the compiler
// vectorises.

#pragma once

#include "plugins/simd/kernels/elementwise.h"

namespace tenon_simd {

// Returns the span of a unary function. `Function` has no state, so the compiler inlines its call
// into the loop.
template <class In, class Out, class Function>
Span unary_loop(Function) {
  return [](const void* const* in, const size_t* step, void* out, size_t n, const SpanParams&) {
    const In* x = static_cast<const In*>(in[0]);
    Out* y = static_cast<Out*>(out);
    if (step[0] == 0) {
      std::fill_n(y, n, static_cast<Out>(Function{}(*x)));
      return;
    }
    for (size_t i = 0; i < n; ++i) y[i] = static_cast<Out>(Function{}(x[i]));
  };
}

template <class In, class Out, class Function>
Span binary_loop(Function) {
  return [](const void* const* in, const size_t* step, void* out, size_t n, const SpanParams&) {
    const In* a = static_cast<const In*>(in[0]);
    const In* b = static_cast<const In*>(in[1]);
    Out* y = static_cast<Out*>(out);
    if (step[0] != 0 && step[1] != 0) {
      for (size_t i = 0; i < n; ++i) y[i] = static_cast<Out>(Function{}(a[i], b[i]));
    } else if (step[0] != 0) {
      const In right = *b;
      for (size_t i = 0; i < n; ++i) y[i] = static_cast<Out>(Function{}(a[i], right));
    } else if (step[1] != 0) {
      const In left = *a;
      for (size_t i = 0; i < n; ++i) y[i] = static_cast<Out>(Function{}(left, b[i]));
    } else {
      std::fill_n(y, n, static_cast<Out>(Function{}(*a, *b)));
    }
  };
}

template <class A, class B, class C, class Out, class Function>
Span ternary_loop(Function) {
  return [](const void* const* in, const size_t* step, void* out, size_t n, const SpanParams&) {
    const A* a = static_cast<const A*>(in[0]);
    const B* b = static_cast<const B*>(in[1]);
    const C* c = static_cast<const C*>(in[2]);
    Out* y = static_cast<Out*>(out);
    if (step[0] != 0 && step[1] != 0 && step[2] != 0) {
      for (size_t i = 0; i < n; ++i) y[i] = static_cast<Out>(Function{}(a[i], b[i], c[i]));
    } else if (step[0] != 0 && step[1] == 0 && step[2] == 0) {
      const B second = *b;
      const C third = *c;
      for (size_t i = 0; i < n; ++i) y[i] = static_cast<Out>(Function{}(a[i], second, third));
    } else {
      for (size_t i = 0; i < n; ++i) {
        y[i] = static_cast<Out>(Function{}(a[i * step[0]], b[i * step[1]], c[i * step[2]]));
      }
    }
  };
}

// The floating-point types that spans support. Half types are converted to float32 before the span
// runs.
using SpanFloats = tenon_sdk::Types<float, double>;
using SpanAny = tenon_sdk::Types<Bool, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t,
                                 uint16_t, uint32_t, uint64_t>;

// Returns a kernel that runs `span`, or a refusal if `span` is NULL.
inline Prepared kernel_of(const Request& request, Span span, Cost cost = Cost::kLight) {
  if (span == nullptr) return refuse("does not support this op for this dtype");
  return make_elementwise(request, span, cost);
}

}  // namespace tenon_simd
