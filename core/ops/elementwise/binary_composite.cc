// Elementwise ops of two inputs that are composed of other ops.
//
// Constraints of all of them:
//   C1  a and b are floating point (squared_difference: numeric).
//   C2  a and b can be broadcast to a common shape.
//   y has their common dtype and the shape that they broadcast to.

#include <limits>

#include "core/ops/definition/type_rules.h"
#include "core/ops/elementwise/binary_cases.h"

namespace tenon::ops {
namespace {

using None = NoAttrs;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Returns 0 where the condition holds, and `otherwise` elsewhere.
Tensor zero_if(const Tensor& condition, const Tensor& otherwise) {
  return where(condition, number(0), otherwise);
}

// Computes larger * sqrt(1 + (smaller / larger)^2), in which no square overflows. If both operands
// are 0, or the larger is infinite, the quotient is undefined and the larger is the result.
Tensors hypot_decompose(const None&, TensorSpan in) {
  const Tensor a = abs(in[0]), b = abs(in[1]);
  const Tensor larger = maximum(a, b);
  const Tensor is_end = logical_or(equal(larger, number(0)), equal(larger, number(kInf)));
  const Tensor quotient = minimum(a, b) / where(is_end, number(1), larger);
  const Tensor length = where(is_end, larger, larger * sqrt(1.0 + quotient * quotient));
  // An infinite operand makes the result infinite, even if the other one is NaN.
  return {where(logical_or(isinf(a), isinf(b)), number(kInf), length)};
}

Tensors hypot_vjp(const None&, const VjpArgs& v) {
  const Tensor &g = v.cotangent(0), &y = v.output(0);
  const Tensor is_zero = equal(y, number(0));
  const Tensor length = where(is_zero, number(1), y), reached = zero_if(is_zero, g);
  return gradients(
      v, [&] { return v.input(0) / length * reached; },
      [&] { return v.input(1) / length * reached; });
}

Tensors squared_difference_decompose(const None&, TensorSpan in) { return {square(in[0] - in[1])}; }

// If a is 0, the result is 0, even where log(b) is infinite or NaN. Only a NaN in b propagates.
Tensors xlogy_decompose(const None&, TensorSpan in) {
  const Tensor &a = in[0], &b = in[1];
  return {where(equal(a, number(0)), where(isnan(b), b, number(0)), a * log(b))};
}

Tensors xlogy_vjp(const None&, const VjpArgs& v) {
  const Tensor &g = v.cotangent(0), &a = v.input(0), &b = v.input(1);
  const Tensor flat = logical_and(equal(a, number(0)), less_equal(b, number(0)));
  const Tensor safe = where(flat, number(1), b);
  return gradients(
      v, [&] { return zero_if(flat, g * log(safe)); }, [&] { return zero_if(flat, g * a / safe); });
}

// Replaces a zero divisor by 1 before dividing. Otherwise, the derivative would contain infinities.
Tensors divide_no_nan_decompose(const None&, TensorSpan in) {
  const Tensor is_zero = equal(in[1], number(0));
  return {zero_if(is_zero, in[0] / where(is_zero, number(1), in[1]))};
}

}  // namespace

OpDef hypot_def() {
  return define_binary({
      .name = "hypot",
      .summary = "The length of the vector (a, b), without intermediate overflow.",
      .formula = "y = sqrt(a^2 + b^2)",
      .details =
          "Infinite if either input is infinite, even if the other is NaN. The derivative is 0 "
          "where both inputs are 0.",
      .infer = infer_floating,
      .vjp = hypot_vjp,
      .decompose = hypot_decompose,
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({3, -5, 0}), f32({4, 12, -2})},
                 .expect = {f32({5, 13, 2})}},
                {.name = "squares_would_leave_the_range",
                 .inputs = {f32({3e30, 3e-30}), f32({4e30, -4e-30})},
                 .expect = {f32({5e30, 5e-30})},
                 .atol = 0,
                 .check_gradient = false},
                {.name = "zeros",
                 .inputs = {f32({0, -0.0}), f32({-0.0, 0})},
                 .expect = {f32({0, 0})},
                 .check_gradient = false},
                {.name = "infinities_and_nan",
                 .inputs = {f32({kInf, kNaN, kNaN, -kInf}), f32({1, -kInf, 1, kInf})},
                 .expect = {f32({kInf, kInf, kNaN, kInf})},
                 .check_gradient = false},
            });
          },
      .saves = Saves::kInputsAndOutputs,
      .numeric = Numeric::kComposite,
  });
}

OpDef squared_difference_def() {
  return define_binary({
      .name = "squared_difference",
      .summary = "The elementwise squared difference of two tensors.",
      .formula = "y = (a - b)^2",
      .details = "Integers wrap around on overflow.",
      .infer = infer_numeric,
      .decompose = squared_difference_decompose,
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({1, 2, -3}), f32({4, 2, 0.5})},
                 .expect = {f32({9, 0, 12.25})}},
                {.name = "integers",
                 .inputs = {i32({7, -2}), i32({4, 3})},
                 .expect = {i32({9, 25})}},
                {.name = "unsigned_wraps", .inputs = {u8({1}), u8({3})}, .expect = {u8({4})}},
            });
          },
      .numeric = Numeric::kComposite,
  });
}

OpDef xlogy_def() {
  return define_binary({
      .name = "xlogy",
      .summary = "a times the natural logarithm of b, and 0 where a is 0.",
      .formula = "y = a == 0 ? 0 : a * ln(b)",
      .details = "NaN where b is NaN. Where a is 0, the derivative with respect to b is 0, and the "
                 "derivative with respect to a is 0 unless b is positive.",
      .infer = infer_floating,
      .vjp = xlogy_vjp,
      .decompose = xlogy_decompose,
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({2, -1, 0}), f32({1, 2, 3})},
                 .expect = {f32({0, -0.6931471805599453, 0})}},
                {.name = "zero_wins_over_the_logarithm",
                 .inputs = {f32({0, 0, 0, 0, 2}), f32({0, -1, kInf, kNaN, 0})},
                 .expect = {f32({0, 0, 0, kNaN, -kInf})},
                 .check_gradient = false},
            });
          },
      .saves = Saves::kInputs,
      .numeric = Numeric::kComposite,
  });
}

OpDef divide_no_nan_def() {
  return define_binary({
      .name = "divide_no_nan",
      .summary = "The elementwise quotient of two tensors, and 0 where the divisor is 0.",
      .formula = "y = b == 0 ? 0 : a / b",
      .details = "Where b is 0, the result and both derivatives are 0, whatever the value of a.",
      .infer = infer_floating,
      .decompose = divide_no_nan_decompose,
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({1, -3}), f32({4, 2})},
                 .expect = {f32({0.25, -1.5})}},
                {.name = "by_zero",
                 .inputs = {f32({1, 0, kInf, kNaN}), f32({0, -0.0, 0, 0})},
                 .expect = {f32({0, 0, 0, 0})},
                 .check_gradient = false},
                {.name = "nan_elsewhere",
                 .inputs = {f32({kNaN, 1}), f32({1, kNaN})},
                 .expect = {f32({kNaN, kNaN})},
                 .check_gradient = false},
            });
          },
      .numeric = Numeric::kDivision,
  });
}

}  // namespace tenon::ops
