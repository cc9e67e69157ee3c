// Elementwise ops of two inputs: arithmetic, extremes, powers.
//
// Constraints of all of them:
//   C1  a and b are numeric (atan2, copysign and logaddexp: floating point).
//   C2  a and b can be broadcast to a common shape.
//   y has their common dtype and the shape that they broadcast to.

#include <limits>
#include <numbers>

#include "core/ops/definition/expansion_value.h"
#include "core/ops/definition/type_rules.h"
#include "core/ops/elementwise/binary_cases.h"
#include "core/ops/expansions/inverse_trig.h"
#include "core/ops/expansions/pow.h"
#include "core/ops/reductions/square_scale.h"

namespace tenon::ops {
namespace {

using None = NoAttrs;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Returns g where the condition holds, else 0. Unlike a product with 0, does not propagate NaN.
Tensor only_where(const Tensor& condition, const Tensor& g) {
  return where(condition, g, number(0));
}

// The input for which `wins` is true gets the cotangent; equal inputs get half of it each.
Tensors extreme_gradients(const VjpArgs& v, Tensor (*wins)(const Tensor&, const Tensor&)) {
  const Tensor &g = v.cotangent(0), &a = v.input(0), &b = v.input(1);
  const Tensor tied = only_where(equal(a, b), 0.5 * g);
  return gradients(
      v, [&] { return where(wins(a, b), g, tied); }, [&] { return where(wins(b, a), g, tied); });
}

// Replaces operands with an undefined power or logarithm by 1. By convention, d(0^0)/da is 0, and
// the derivative with respect to b is 0 where a <= 0.
Tensors pow_vjp(const None&, const VjpArgs& v) {
  const Tensor &g = v.cotangent(0), &a = v.input(0), &b = v.input(1);
  return gradients(
      v,
      [&] {
        const Tensor flat = logical_and(equal(a, number(0)), equal(b, number(0)));
        return g * (b * pow(a, where(flat, number(1), b - 1.0)));
      },
      [&] {
        const Tensor defined = greater(a, number(0));
        const Tensor base = where(defined, a, number(1));
        return only_where(defined, g * pow(base, b) * log(base));
      });
}

Tensors pow_decompose(const None&, TensorSpan in) {
  require_code(is_floating(in[0]->type.dtype), Code::kUnimplemented,
               "this device has no kernel for pow of {}", in[0]->type.dtype);
  return expand([](const auto& a, const auto& b) { return expansions::pow(a, b); }, in[0], in[1]);
}

// Computes max(a, b) + log1p(exp(-|a - b|)), in which exp() cannot overflow. Equal operands are a
// special case, because the difference of equal infinities is NaN.
Tensors logaddexp_decompose(const None&, TensorSpan in) {
  const Tensor &a = in[0], &b = in[1];
  const Tensor apart = maximum(a, b) + log1p(exp(-abs(a - b)));
  return {where(equal(a, b), a + std::numbers::ln2, apart)};
}

Tensors logaddexp_vjp(const None&, const VjpArgs& v) {
  const Tensor &g = v.cotangent(0), &a = v.input(0), &b = v.input(1);
  // The difference of equal infinities is NaN, so 0 replaces it.
  const Tensor is_same_infinity = logical_and(isinf(a), equal(a, b));
  const Tensor difference = where(is_same_infinity, number(0), a - b);
  return gradients(
      v, [&] { return g * sigmoid(difference); }, [&] { return g * sigmoid(-difference); });
}

}  // namespace

OpDef add_def() {
  return define_binary({
      .name = "add",
      .summary = "The elementwise sum of two tensors.",
      .formula = "y = a + b",
      .details = "Integers wrap around on overflow.",
      .infer = infer_numeric,
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor& g = v.cotangent(0);
        return gradients(
            v, [&] { return g; }, [&] { return g; });
      },
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({1, 2, 3}), f32({10, 20, 30})},
                 .expect = {f32({11, 22, 33})}},
                {.name = "broadcast",
                 .inputs = {f32({2, 1}, {1, 2}), f32({10, 20, 30})},
                 .expect = {f32({2, 3}, {11, 21, 31, 12, 22, 32})}},
                {.name = "integers_wrap",
                 .inputs = {i8({127, -128}), i8({1, -1})},
                 .expect = {i8({-128, 127})}},
                {.name = "promotes", .inputs = {i8({1}), i32({1000})}, .expect = {i32({1001})}},
                {.name = "scalar_takes_its_partners_dtype",
                 .inputs = {f64({1, 2}), scalar(0.5)},
                 .expect = {f64({1.5, 2.5})}},
                {.name = "rank_0",
                 .inputs = {f32({}, {1}), f32({}, {2})},
                 .expect = {f32({}, {3})}},
            });
          },
      .numeric = Numeric::kRounded,
      .onnx = "Add",
  });
}

OpDef sub_def() {
  return define_binary({
      .name = "sub",
      .summary = "The elementwise difference of two tensors.",
      .formula = "y = a - b",
      .details = "Integers wrap around on overflow.",
      .infer = infer_numeric,
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor& g = v.cotangent(0);
        return gradients(
            v, [&] { return g; }, [&] { return -g; });
      },
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({1, 2, 3}), f32({10, 0.5, 3})},
                 .expect = {f32({-9, 1.5, 0})}},
                {.name = "unsigned_wraps", .inputs = {u8({0}), u8({1})}, .expect = {u8({255})}},
            });
          },
      .numeric = Numeric::kRounded,
      .onnx = "Sub",
  });
}

OpDef mul_def() {
  return define_binary({
      .name = "mul",
      .summary = "The elementwise product of two tensors.",
      .formula = "y = a * b",
      .details = "Integers wrap around on overflow.",
      .infer = infer_numeric,
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor& g = v.cotangent(0);
        return gradients(
            v, [&] { return g * v.input(1); }, [&] { return g * v.input(0); });
      },
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({1, 2, 3}), f32({10, -0.5, 0})},
                 .expect = {f32({10, -1, 0})}},
                {.name = "integers_wrap",
                 .inputs = {i8({64, -128}), i8({2, -1})},
                 .expect = {i8({-128, -128})}},
            });
          },
      .saves = Saves::kInputs,
      .numeric = Numeric::kRounded,
      .onnx = "Mul",
  });
}

OpDef div_def() {
  return define_binary({
      .name = "div",
      .summary = "The elementwise quotient of two tensors; for integers, truncated toward zero.",
      .formula = "y = a / b",
      .details = "Integer division truncates toward zero and gives 0 where b is 0. The smallest "
                 "integer divided by -1 wraps around.",
      .infer = infer_numeric,
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor slope = v.cotangent(0) / v.input(1);
        return gradients(
            v, [&] { return slope; }, [&] { return -(slope * v.output(0)); });
      },
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({1, -3, 1}), f32({4, 2, 3})},
                 .expect = {f32({0.25, -1.5, 0.333333333})}},
                {.name = "integers_truncate",
                 .inputs = {i32({7, -7, 7, -7}), i32({2, 2, -2, -2})},
                 .expect = {i32({3, -3, -3, 3})}},
                {.name = "integer_by_zero_is_zero",
                 .inputs = {i32({7, -7}), i32({0, 0})},
                 .expect = {i32({0, 0})}},
                {.name = "least_integer_wraps",
                 .inputs = {i8({-128}), i8({-1})},
                 .expect = {i8({-128})}},
                {.name = "float_by_zero_is_infinite",
                 .inputs = {f32({1, -1}), f32({0, 0})},
                 .expect = {f32({kInf, -kInf})},
                 .check_gradient = false},
            });
          },
      .saves = Saves::kSome,
      .saved_inputs = 2,
      .saved_outputs = 1,
      .numeric = Numeric::kDivision,
      .onnx = "Div",
  });
}

OpDef floor_div_def() {
  return define_binary({
      .name = "floor_div",
      .summary = "The quotient of two tensors, rounded down to an integer.",
      .formula = "y = floor(a / b)",
      .details = "The exact quotient is rounded, so a nonzero finite number divided by an infinity "
                 "of the opposite sign gives -1. Floating-point division by zero gives a / b, and "
                 "an infinity divided by anything else gives NaN, as in NumPy. A zero result has "
                 "the sign of a / b. Integer division by zero gives 0. The derivative is 0 "
                 "everywhere.",
      .infer = infer_numeric,
      .vjp = no_gradients,
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({7, -7, 7, -7}), f32({2, 2, -2, -2})},
                 .expect = {f32({3, -4, -4, 3})},
                 .check_gradient = false},
                {.name = "integers_floor",
                 .inputs = {i32({7, -7, 7, -7, 5}), i32({2, 2, -2, -2, 0})},
                 .expect = {i32({3, -4, -4, 3, 0})}},
                {.name = "infinite_dividends_give_nan",
                 .inputs = {f32({kInf, -kInf, kInf, kInf, kInf, -kInf}),
                            f32({2, 2, -2, kInf, 0, 0})},
                 .expect = {f32({kNaN, kNaN, kNaN, kNaN, kInf, -kInf})},
                 .check_gradient = false},
                {.name = "infinite_divisors_floor",
                 .inputs = {f32({1, -1, 1, -1, 0, -0.0}),
                            f32({kInf, kInf, -kInf, -kInf, kInf, kInf})},
                 .expect = {f32({0, -1, -1, 0, 0, -0.0})},
                 .check_gradient = false},
                {.name = "zeros_have_the_sign_of_the_quotient",
                 .inputs = {f32({0, -0.0, 0, -0.0, 1, 0}), f32({3, 3, -3, -3, 3, 0})},
                 .expect = {f32({0, -0.0, -0.0, 0, 0, kNaN})},
                 .check_gradient = false},
            });
          },
      .numeric = Numeric::kDivision,
      .sparse_output = true,
  });
}

OpDef mod_def() {
  return define_binary({
      .name = "mod",
      .summary = "The remainder of floor division; it has the sign of b.",
      .formula = "y = a - b * floor(a / b)",
      .details = "Where b is 0, integers give 0 and floating-point numbers give NaN. An infinite a "
                 "gives NaN. An infinite b gives a where the signs of a and b agree, and b where "
                 "they differ, as in NumPy. A zero result has the sign of b.",
      .infer = infer_numeric,
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor& g = v.cotangent(0);
        return gradients(
            v, [&] { return g; }, [&] { return -(g * floor_div(v.input(0), v.input(1))); });
      },
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({7, -7, 7, -7}), f32({4, 4, -4, -4})},
                 .expect = {f32({3, 1, -1, -3})}},
                {.name = "integers",
                 .inputs = {i32({7, -7, 7, -7, 5}), i32({4, 4, -4, -4, 0})},
                 .expect = {i32({3, 1, -1, -3, 0})}},
                {.name = "infinities",
                 .inputs = {f32({kInf, -kInf, 1, -1, 1, -1, 1}),
                            f32({2, 2, kInf, kInf, -kInf, -kInf, 0})},
                 .expect = {f32({kNaN, kNaN, 1, kInf, -kInf, -1, kNaN})},
                 .check_gradient = false},
                {.name = "zeros_have_the_sign_of_b",
                 .inputs = {f32({0, -0.0, 0, -0.0, 6, -6}), f32({3, 3, -3, kInf, -3, 3})},
                 .expect = {f32({0, 0, -0.0, 0, -0.0, 0})},
                 .check_gradient = false},
            });
          },
      .saves = Saves::kInputs,
      .numeric = Numeric::kRounded,
      .onnx = "Mod",
  });
}

OpDef fmod_def() {
  return define_binary({
      .name = "fmod",
      .summary = "The remainder of truncating division; it has the sign of a.",
      .formula = "y = a - b * trunc(a / b)",
      .details = "If b is 0, integers give 0 and floats NaN. The remainder of floats is exact.",
      .infer = infer_numeric,
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor& g = v.cotangent(0);
        return gradients(
            v, [&] { return g; }, [&] { return -(g * trunc(v.input(0) / v.input(1))); });
      },
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({7, -7, 7, -7}), f32({4, 4, -4, -4})},
                 .expect = {f32({3, -3, 3, -3})}},
                {.name = "integers",
                 .inputs = {i32({7, -7, 7, -7, 5}), i32({4, 4, -4, -4, 0})},
                 .expect = {i32({3, -3, 3, -3, 0})}},
            });
          },
      .saves = Saves::kInputs,
  });
}

OpDef pow_def() {
  return define_binary({
      .name = "pow",
      .summary = "a raised to the power of b, element by element.",
      .formula = "y = a^b",
      .details = "Anything to the power of 0 is 1. An integer to a negative power is the truncated "
                 "reciprocal, which is 0 except for the bases 1 and -1; for the base 0 it is also "
                 "0. The derivative with respect to b is 0 where a is not positive.",
      .infer = infer_numeric,
      .vjp = pow_vjp,
      .decompose = pow_decompose,
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({2, 4, 3, 10}), f32({3, 0.5, 0, -1})},
                 .expect = {f32({8, 2, 1, 0.1})}},
                {.name = "negative_base",
                 .inputs = {f32({-2, -2}), f32({3, 2})},
                 .expect = {f32({-8, 4})},
                 .check_gradient = false},
                {.name = "integers_wrap",
                 .inputs = {i32({3, -2, 2, 0}), i32({4, 3, 32, 0})},
                 .expect = {i32({81, -8, 0, 1})}},
                {.name = "integer_to_a_negative_power",
                 .inputs = {i32({2, 1, -1, -1, 0}), i32({-1, -5, -2, -3, -1})},
                 .expect = {i32({0, 1, 1, -1, 0})}},
            });
          },
      .saves = Saves::kInputs,
      .numeric = Numeric::kTranscendental,
      .onnx = "Pow",
  });
}

OpDef maximum_def() {
  return define_binary({
      .name = "maximum",
      .summary = "The elementwise maximum of two tensors.",
      .formula = "y = max(a, b)",
      .details = "NaN if either input is NaN. Equal inputs each receive half of the gradient.",
      .infer = infer_numeric,
      .vjp = [](const None&, const VjpArgs& v) { return extreme_gradients(v, greater); },
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({1, -2, 5}), f32({0, 3, 4})},
                 .expect = {f32({1, 3, 5})}},
                {.name = "integers",
                 .inputs = {i64({1, -9}), i64({2, -8})},
                 .expect = {i64({2, -8})}},
            });
          },
      .saves = Saves::kInputs,
      .onnx = "Max",
  });
}

OpDef minimum_def() {
  return define_binary({
      .name = "minimum",
      .summary = "The elementwise minimum of two tensors.",
      .formula = "y = min(a, b)",
      .details = "NaN if either input is NaN. Equal inputs each receive half of the gradient.",
      .infer = infer_numeric,
      .vjp = [](const None&, const VjpArgs& v) { return extreme_gradients(v, less); },
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({1, -2, 5}), f32({0, 3, 4})},
                 .expect = {f32({0, -2, 4})}},
                {.name = "integers",
                 .inputs = {i64({1, -9}), i64({2, -8})},
                 .expect = {i64({1, -9})}},
            });
          },
      .saves = Saves::kInputs,
      .onnx = "Min",
  });
}

OpDef atan2_def() {
  return define_binary({
      .name = "atan2",
      .summary = "The angle of the point (b, a), in [-pi, pi].",
      .formula = "y = atan(a / b), in the quadrant given by the signs of a and b",
      .infer = infer_floating,
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        // Half types are widened: squares overflow early, and broadcast sums are inexact.
        const DType dtype = v.output_type(0).dtype, wide = wide_dtype(dtype);
        const Tensor x = to_dtype(v.input(0), wide), y = to_dtype(v.input(1), wide);
        const SquareScale scale = square_scale(dtype, [&] { return x * x + y * y; });
        const Tensor a = scale.of(x), b = scale.of(y);
        const Tensor slope = scale.of(to_dtype(v.cotangent(0), wide) / (a * a + b * b));
        Tensors grads = gradients(
            v, [&] { return slope * b; }, [&] { return -(slope * a); });
        for (Tensor& g : grads) g = g ? to_dtype(g, dtype) : g;
        return grads;
      },
      .decompose = TENON_EXPAND_BINARY(atan2),
      .cases =
          [] {
            return with_binary_cases({
                {.name = "quadrants",
                 .inputs = {f32({1, 1, -1, -1}), f32({1, -1, -1, 1})},
                 .expect = {f32({0.785398163, 2.35619449, -2.35619449, -0.785398163})}},
                {.name = "zeros_keep_their_sign",
                 .inputs = {f32({0, -0.0, 0, -0.0}), f32({1, 1, -1, -1})},
                 .expect = {f32({0, -0.0, 3.14159265, -3.14159265})},
                 .check_gradient = false},
            });
          },
      .saves = Saves::kInputs,
      .numeric = Numeric::kTranscendental,
  });
}

OpDef copysign_def() {
  return define_binary({
      .name = "copysign",
      .summary = "The magnitude of a with the sign of b.",
      .formula = "y = |a| if the sign bit of b is clear, else -|a|",
      .details = "The derivative with respect to b is 0.",
      .infer = infer_floating,
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor &g = v.cotangent(0), &a = v.input(0), &b = v.input(1);
        return {
            v.needs(0) ? sum_to(g * sign(a) * copysign(number(1), b), v.input_type(0)) : Tensor(),
            Tensor()};
      },
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({1, -2, 3, -4}), f32({-1, 5, -0.0, -7})},
                 .expect = {f32({-1, 2, -3, -4})},
                 .check_gradient = false},
            });
          },
      .saves = Saves::kInputs,
  });
}

OpDef logaddexp_def() {
  return define_binary({
      .name = "logaddexp",
      .summary = "The natural logarithm of the sum of two exponentials, computed without overflow.",
      .formula = "y = ln(e^a + e^b)",
      .infer = infer_floating,
      .vjp = logaddexp_vjp,
      .decompose = logaddexp_decompose,
      .cases =
          [] {
            return with_binary_cases({
                {.name = "example",
                 .inputs = {f32({0, 1, -2}), f32({0, 2, 3})},
                 .expect = {f32({0.693147181, 2.31326169, 3.00671535})}},
                {.name = "large_values_do_not_overflow",
                 .inputs = {f32({1000, -1000}), f32({1000, 0})},
                 .expect = {f32({1000.69315, 0})}},
                {.name = "infinities",
                 .inputs = {f32({-kInf, kInf, -kInf}), f32({-kInf, kInf, 1})},
                 .expect = {f32({-kInf, kInf, 1})},
                 .check_gradient = false},
            });
          },
      .saves = Saves::kInputs,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
