// Comparisons, tests of floats, and where.

#include <cmath>

#include "plugins/simd/kernels/loops.h"

namespace tenon_simd {
namespace {

struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};

// Returns a span that computes Function with swapped operands: a > b is computed as b < a.
template <class T, class Function>
Span swapped_loop(Function) {
  return
      [](const void* const* in, const size_t* step, void* out, size_t n, const SpanParams& params) {
        const void* const operands[] = {in[1], in[0]};
        const size_t steps[] = {step[1], step[0]};
        binary_loop<T, Bool>(Function{})(operands, steps, out, n, params);
      };
}

// Returns the span of an order comparison, such as `less`.
template <class T>
Span order_span(uint32_t op) {
  switch (op) {
    case TENON_OP_less:
      return binary_loop<T, Bool>(Less{});
    case TENON_OP_less_equal:
      return binary_loop<T, Bool>(LessEqual{});
    case TENON_OP_greater:
      return swapped_loop<T>(Less{});
    default:
      return swapped_loop<T>(LessEqual{});
  }
}

// Returns the span of `equal` or `not_equal`.
template <class T>
Span equality_span(uint32_t op) {
  if (op == TENON_OP_equal) return binary_loop<T, Bool>([](T a, T b) { return a == b; });
  return binary_loop<T, Bool>([](T a, T b) { return a != b; });
}

// Returns the span of a test of floats, such as `isnan`.
template <class T>
Span test_span(uint32_t op) {
  switch (op) {
    case TENON_OP_isnan:
      return unary_loop<T, Bool>([](T x) { return x != x; });
    case TENON_OP_isinf:
      return unary_loop<T, Bool>([](T x) { return std::fabs(x) == HUGE_VAL; });
    case TENON_OP_isfinite:
      return unary_loop<T, Bool>([](T x) { return std::fabs(x) < HUGE_VAL; });
    case TENON_OP_signbit:
      return unary_loop<T, Bool>([](T x) { return std::copysign(T{1}, x) < 0; });
    default:
      return nullptr;
  }
}

}  // namespace

Prepared prepare_compare(const Request& request) {
  const tenon_dtype dtype = compute_dtype(request.input(0).dtype);
  const uint32_t op = request.op();
  if (op != TENON_OP_equal && op != TENON_OP_not_equal) {
    const Span span = dispatch<SpanAny>(dtype, [&]<class T>(Type<T>) { return order_span<T>(op); });
    return kernel_of(request, span);
  }
  const Span span = dispatch<SpanAny>(dtype, [&]<class T>(Type<T>) {
    if constexpr (std::is_integral_v<T>) {  // Integers are equal if their bits are equal.
      return equality_span<std::make_unsigned_t<T>>(op);
    } else {
      return equality_span<T>(op);
    }
  });
  return kernel_of(request, span);
}

Prepared prepare_test(const Request& request) {
  const tenon_dtype dtype = compute_dtype(request.input(0).dtype);
  const Span span =
      dispatch<SpanFloats>(dtype, [&]<class T>(Type<T>) { return test_span<T>(request.op()); });
  return kernel_of(request, span);
}

// where. It does not compute with elements, so half types need no conversion.
Prepared prepare_where(const Request& request) {
  return make_without_conversion(request, where_span(size_of(request.input(1).dtype)));
}

}  // namespace tenon_simd
