// Elementwise ops of one input: trigonometric and hyperbolic functions and their inverses.
//
// Constraints of all of them:
//   C1  x is floating point.
//   y has x's dtype and shape.

#include "core/ops/definition/expansion_value.h"
#include "core/ops/definition/type_rules.h"
#include "core/ops/expansions/hyperbolic.h"
#include "core/ops/expansions/inverse_trig.h"
#include "core/ops/expansions/trig.h"

namespace tenon::ops {
namespace {

using None = NoAttrs;

// Sets the fields that these ops share. They differ in documentation, derivative and one example.
OpDef define_trigonometric(Definition<NoAttrs> d) {
  d.infer = infer_floating;
  d.numeric = Numeric::kTranscendental;
  return define_unary(std::move(d));
}

// 1 - x^2 as a product, which is accurate if |x| is near 1.
Tensor one_minus_square(const Tensor& x) { return (1.0 - x) * (1.0 + x); }

// Whether x^2 is so large that adding 1 does not change it. x^2 itself may overflow.
Tensor square_dominates_one(const Tensor& x) {
  const DType dtype = x->type.dtype;
  const double far = dtype == DType::kF16 ? 0x1p7 : dtype == DType::kF64 ? 0x1p500 : 0x1p60;
  return greater(abs(x), number(far));
}
// Returns 1 / |x| where `far` is true, and 1 elsewhere.
Tensor reciprocal_where_far(const Tensor& far, const Tensor& x) {
  return reciprocal(where(far, abs(x), number(1)));
}

// Cases of one op: its example, an empty tensor, and integers, which all of these ops refuse.
Cases<None> example(CaseTensor x, CaseTensor y) {
  return {
      {.name = "example", .inputs = {x}, .expect = {y}},
      {.name = "no_elements", .inputs = {uniform({0, 3})}},
      {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef sin_def() {
  return define_trigonometric({
      .name = "sin",
      .summary = "The sine of each element, an angle in radians.",
      .formula = "y = sin(x)",
      .details = "The argument is reduced exactly, so the accuracy class of the op holds for every "
                 "finite x.",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) * cos(v.input(0))};
      },
      .decompose = TENON_EXPAND_UNARY(sin),
      .cases =
          [] {
            return example(f32({0, 1, -2, 1e6}), f32({0, 0.841470985, -0.909297427, -0.349993502}));
          },
      .saves = Saves::kInputs,
      .onnx = "Sin",
  });
}

OpDef cos_def() {
  return define_trigonometric({
      .name = "cos",
      .summary = "The cosine of each element, an angle in radians.",
      .formula = "y = cos(x)",
      .details = "The argument is reduced exactly, so the accuracy class of the op holds for every "
                 "finite x.",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {-(v.cotangent(0) * sin(v.input(0)))};
      },
      .decompose = TENON_EXPAND_UNARY(cos),
      .cases =
          [] {
            return example(f32({0, 1, -2, 1e6}), f32({1, 0.540302306, -0.416146837, 0.936752128}));
          },
      .saves = Saves::kInputs,
      .onnx = "Cos",
  });
}

OpDef tan_def() {
  return define_trigonometric({
      .name = "tan",
      .summary = "The tangent of each element, an angle in radians.",
      .formula = "y = tan(x)",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) * (1.0 + square(v.output(0)))};
      },
      .decompose = TENON_EXPAND_UNARY(tan),
      .cases =
          [] {
            return example(f32({0, 1, -0.5}), f32({0, 1.55740772, -0.54630249}));
          },
      .saves = Saves::kOutputs,
      .onnx = "Tan",
  });
}

OpDef asin_def() {
  return define_trigonometric({
      .name = "asin",
      .summary = "The inverse sine of each element, in [-pi/2, pi/2].",
      .formula = "y = asin(x)",
      .details = "The result is NaN outside [-1, 1].",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) * rsqrt(one_minus_square(v.input(0)))};
      },
      .decompose = TENON_EXPAND_UNARY(asin),
      .cases =
          [] {
            return example(f32({0, 0.5, -0.75}), f32({0, 0.523598776, -0.848062079}));
          },
      .saves = Saves::kInputs,
      .onnx = "Asin",
  });
}

OpDef acos_def() {
  return define_trigonometric({
      .name = "acos",
      .summary = "The inverse cosine of each element, in [0, pi].",
      .formula = "y = acos(x)",
      .details = "The result is NaN outside [-1, 1].",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {-(v.cotangent(0) * rsqrt(one_minus_square(v.input(0))))};
      },
      .decompose = TENON_EXPAND_UNARY(acos),
      .cases =
          [] {
            return example(f32({0, 0.5, -0.75}), f32({1.57079633, 1.04719755, 2.41885841}));
          },
      .saves = Saves::kInputs,
      .onnx = "Acos",
  });
}

OpDef atan_def() {
  return define_trigonometric({
      .name = "atan",
      .summary = "The inverse tangent of each element, in [-pi/2, pi/2].",
      .formula = "y = atan(x)",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor& x = v.input(0);
        const Tensor far = square_dominates_one(x);
        const Tensor near = reciprocal(1.0 + square(where(far, number(0), x)));
        return {v.cotangent(0) * where(far, square(reciprocal_where_far(far, x)), near)};
      },
      .decompose = TENON_EXPAND_UNARY(atan),
      .cases =
          [] {
            return example(f32({0, 1, -3}), f32({0, 0.785398163, -1.24904577}));
          },
      .saves = Saves::kInputs,
      .onnx = "Atan",
  });
}

OpDef sinh_def() {
  return define_trigonometric({
      .name = "sinh",
      .summary = "The hyperbolic sine of each element.",
      .formula = "y = (e^x - e^-x) / 2",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) * cosh(v.input(0))};
      },
      .decompose = TENON_EXPAND_UNARY(sinh),
      .cases =
          [] {
            return example(f32({0, 1, -2}), f32({0, 1.17520119, -3.62686041}));
          },
      .saves = Saves::kInputs,
      .onnx = "Sinh",
  });
}

OpDef cosh_def() {
  return define_trigonometric({
      .name = "cosh",
      .summary = "The hyperbolic cosine of each element.",
      .formula = "y = (e^x + e^-x) / 2",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) * sinh(v.input(0))};
      },
      .decompose = TENON_EXPAND_UNARY(cosh),
      .cases =
          [] {
            return example(f32({0, 1, -2}), f32({1, 1.54308063, 3.76219569}));
          },
      .saves = Saves::kInputs,
      .onnx = "Cosh",
  });
}

OpDef tanh_def() {
  return define_trigonometric({
      .name = "tanh",
      .summary = "The hyperbolic tangent of each element.",
      .formula = "y = (e^x - e^-x) / (e^x + e^-x)",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) * one_minus_square(v.output(0))};
      },
      .decompose = TENON_EXPAND_UNARY(tanh),
      .cases =
          [] {
            return example(f32({0, 1, -0.5}), f32({0, 0.761594156, -0.462117157}));
          },
      .saves = Saves::kOutputs,
      .onnx = "Tanh",
  });
}

OpDef asinh_def() {
  return define_trigonometric({
      .name = "asinh",
      .summary = "The inverse hyperbolic sine of each element.",
      .formula = "y = asinh(x)",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor& x = v.input(0);
        const Tensor far = square_dominates_one(x);
        const Tensor near = rsqrt(1.0 + square(where(far, number(0), x)));
        return {v.cotangent(0) * where(far, reciprocal_where_far(far, x), near)};
      },
      .decompose = TENON_EXPAND_UNARY(asinh),
      .cases =
          [] {
            return example(f32({0, 1, -2}), f32({0, 0.881373587, -1.44363548}));
          },
      .saves = Saves::kInputs,
      .onnx = "Asinh",
  });
}

OpDef acosh_def() {
  return define_trigonometric({
      .name = "acosh",
      .summary = "The inverse hyperbolic cosine of each element.",
      .formula = "y = acosh(x)",
      .details = "The result is NaN below 1.",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor& x = v.input(0);
        const Tensor far = square_dominates_one(x);
        const Tensor near = rsqrt(-one_minus_square(where(far, number(2), x)));
        return {v.cotangent(0) * where(far, reciprocal_where_far(far, x), near)};
      },
      .decompose = TENON_EXPAND_UNARY(acosh),
      .cases =
          [] {
            return example(f32({1.5, 2}), f32({0.962423650, 1.31695790}));
          },
      .saves = Saves::kInputs,
      .onnx = "Acosh",
  });
}

OpDef atanh_def() {
  return define_trigonometric({
      .name = "atanh",
      .summary = "The inverse hyperbolic tangent of each element.",
      .formula = "y = atanh(x)",
      .details = "The result is NaN outside [-1, 1].",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) / one_minus_square(v.input(0))};
      },
      .decompose = TENON_EXPAND_UNARY(atanh),
      .cases =
          [] {
            return example(f32({0, 0.5, -0.75}), f32({0, 0.549306144, -0.972955075}));
          },
      .saves = Saves::kInputs,
      .onnx = "Atanh",
  });
}

}  // namespace tenon::ops
