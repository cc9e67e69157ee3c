// Elementwise ops of one input: arithmetic, roots, exponentials and logarithms.
//
// Constraints of all of them:
//   C1  x is floating point (neg, abs, sign and square: numeric).
//   y has x's dtype and shape.

#include <numbers>

#include "core/ops/definition/expansion_value.h"
#include "core/ops/definition/type_rules.h"
#include "core/ops/expansions/activation.h"
#include "core/ops/expansions/erf.h"
#include "core/ops/expansions/exp.h"
#include "core/ops/expansions/log.h"
#include "core/ops/expansions/root.h"

namespace tenon::ops {
namespace {

using None = NoAttrs;

constexpr double kTwoOverSqrtPi = 1.128379167095512573896;

// Defines a transcendental op after setting the fields that all of these ops share.
OpDef define_transcendental(Definition<NoAttrs> d) {
  d.infer = infer_floating;
  d.numeric = Numeric::kTranscendental;
  return define_unary(std::move(d));
}

Tensors square_decompose(const None&, TensorSpan in) { return {in[0] * in[0]}; }

}  // namespace

OpDef neg_def() {
  return define_unary({
      .name = "neg",
      .summary = "The negative of each element.",
      .formula = "y = -x",
      .details = "Unsigned integers and the lowest signed integer wrap.",
      .infer = infer_numeric,
      .vjp = [](const None&, const VjpArgs& v) -> Tensors { return {-v.cotangent(0)}; },
      .cases =
          [] {
            return Cases<None>{
                {.name = "example", .inputs = {f32({1, -2, 0})}, .expect = {f32({-1, 2, -0.0})}},
                {.name = "least_integer_wraps",
                 .inputs = {i8({-128, 127})},
                 .expect = {i8({-128, -127})}},
                {.name = "unsigned_wraps", .inputs = {u8({0, 1})}, .expect = {u8({0, 255})}},
                {.name = "rank_0", .inputs = {f64({}, {2})}, .expect = {f64({}, {-2})}},
                {.name = "no_elements", .inputs = {uniform({0, 3})}},
                {.name = "bool_is_not_numeric", .inputs = {boolean({1})}, .error = "C1"},
            };
          },
      .onnx = "Neg",
  });
}

OpDef abs_def() {
  return define_unary({
      .name = "abs",
      .summary = "The absolute value of each element.",
      .formula = "y = |x|",
      .details = "The lowest signed integer is unchanged. The derivative at 0 is 0.",
      .infer = infer_numeric,
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) * sign(v.input(0))};
      },
      .cases =
          [] {
            return Cases<None>{
                {.name = "example", .inputs = {f32({1.5, -2.5})}, .expect = {f32({1.5, 2.5})}},
                {.name = "zeros_have_no_sign",
                 .inputs = {f32({0.0, -0.0})},
                 .expect = {f32({0, 0})},
                 .check_gradient = false},
                {.name = "least_integer_stays",
                 .inputs = {i8({-128, -1})},
                 .expect = {i8({-128, 1})}},
                {.name = "bool_is_not_numeric", .inputs = {boolean({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kInputs,
      .onnx = "Abs",
  });
}

OpDef sign_def() {
  return define_unary({
      .name = "sign",
      .summary = "The sign of each element: -1, 0 or 1.",
      .formula = "y = (x > 0) - (x < 0)",
      .details =
          "The sign of either zero is 0, and that of NaN is NaN. The derivative is 0 everywhere.",
      .infer = infer_numeric,
      .vjp = no_gradients,
      .cases =
          [] {
            return Cases<None>{
                {.name = "example",
                 .inputs = {f32({-3, 0, 0.5})},
                 .expect = {f32({-1, 0, 1})},
                 .check_gradient = false},
                {.name = "integers", .inputs = {i32({-7, 0, 9})}, .expect = {i32({-1, 0, 1})}},
                {.name = "unsigned", .inputs = {u8({0, 200})}, .expect = {u8({0, 1})}},
                {.name = "bool_is_not_numeric", .inputs = {boolean({1})}, .error = "C1"},
            };
          },
      .sparse_output = true,
      .onnx = "Sign",
  });
}

OpDef reciprocal_def() {
  return define_unary({
      .name = "reciprocal",
      .summary = "One divided by each element.",
      .formula = "y = 1 / x",
      .infer = infer_floating,
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {-(v.cotangent(0) * v.output(0) * v.output(0))};
      },
      .cases =
          [] {
            return Cases<None>{
                {.name = "example", .inputs = {f32({1, -2, 0.25})}, .expect = {f32({1, -0.5, 4})}},
                {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kOutputs,
      .numeric = Numeric::kDivision,
      .onnx = "Reciprocal",
  });
}

OpDef sqrt_def() {
  return define_unary({
      .name = "sqrt",
      .summary = "The square root of each element.",
      .formula = "y = sqrt(x)",
      .details = "The result is NaN below zero, and -0 at -0.",
      .infer = infer_floating,
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {0.5 * v.cotangent(0) / v.output(0)};
      },
      .cases =
          [] {
            return Cases<None>{
                {.name = "example", .inputs = {f32({1, 4, 2.25})}, .expect = {f32({1, 2, 1.5})}},
                {.name = "positive", .inputs = {uniform({3, 5}, 0.1, 9)}},
                {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kOutputs,
      .numeric = Numeric::kDivision,
      .onnx = "Sqrt",
  });
}

OpDef rsqrt_def() {
  return define_transcendental({
      .name = "rsqrt",
      .summary = "One divided by the square root of each element.",
      .formula = "y = 1 / sqrt(x)",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor& y = v.output(0);
        return {-0.5 * v.cotangent(0) * (y * y * y)};
      },
      .decompose = TENON_EXPAND_UNARY(rsqrt),
      .cases =
          [] {
            return Cases<None>{
                {.name = "example", .inputs = {f32({1, 4, 0.0625})}, .expect = {f32({1, 0.5, 4})}},
                {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kOutputs,
  });
}

OpDef square_def() {
  return define_unary({
      .name = "square",
      .summary = "Each element times itself.",
      .formula = "y = x * x",
      .infer = infer_numeric,
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {2.0 * v.cotangent(0) * v.input(0)};
      },
      .decompose = square_decompose,
      .cases =
          [] {
            return Cases<None>{
                {.name = "example", .inputs = {f32({3, -0.5})}, .expect = {f32({9, 0.25})}},
                {.name = "integers_wrap", .inputs = {i8({16, -3})}, .expect = {i8({0, 9})}},
                {.name = "bool_is_not_numeric", .inputs = {boolean({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kInputs,
      .numeric = Numeric::kRounded,
  });
}

OpDef exp_def() {
  return define_transcendental({
      .name = "exp",
      .summary = "e to the power of each element.",
      .formula = "y = e^x",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) * v.output(0)};
      },
      .decompose = TENON_EXPAND_UNARY(exp),
      .cases =
          [] {
            return Cases<None>{
                {.name = "example",
                 .inputs = {f32({0, 1, -1})},
                 .expect = {f32({1, 2.71828183, 0.367879441})}},
                {.name = "no_elements", .inputs = {uniform({2, 0})}},
                {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kOutputs,
      .onnx = "Exp",
  });
}

OpDef exp2_def() {
  return define_transcendental({
      .name = "exp2",
      .summary = "2 to the power of each element.",
      .formula = "y = 2^x",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) * v.output(0) * std::numbers::ln2};
      },
      .decompose = TENON_EXPAND_UNARY(exp2),
      .cases =
          [] {
            return Cases<None>{
                {.name = "example",
                 .inputs = {f32({0, 3, -1, 0.5})},
                 .expect = {f32({1, 8, 0.5, 1.41421356})}},
                {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kOutputs,
  });
}

OpDef expm1_def() {
  return define_transcendental({
      .name = "expm1",
      .summary = "The exponential of each element minus one, accurate near zero too.",
      .formula = "y = e^x - 1",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) * (v.output(0) + 1.0)};
      },
      .decompose = TENON_EXPAND_UNARY(expm1),
      .cases =
          [] {
            return Cases<None>{
                {.name = "example",
                 .inputs = {f32({0, 1, 1e-10})},
                 .expect = {f32({0, 1.71828183, 1e-10})}},
                {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kOutputs,
  });
}

OpDef log_def() {
  return define_transcendental({
      .name = "log",
      .summary = "The natural logarithm of each element.",
      .formula = "y = ln(x)",
      .details = "The result is -infinity at both zeros and NaN below zero.",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors { return {v.cotangent(0) / v.input(0)}; },
      .decompose = TENON_EXPAND_UNARY(log),
      .cases =
          [] {
            return Cases<None>{
                {.name = "example",
                 .inputs = {f32({1, 2, 0.5})},
                 .expect = {f32({0, 0.693147181, -0.693147181})}},
                {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kInputs,
      .onnx = "Log",
  });
}

OpDef log2_def() {
  return define_transcendental({
      .name = "log2",
      .summary = "The logarithm to base 2 of each element.",
      .formula = "y = log2(x)",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) / (v.input(0) * std::numbers::ln2)};
      },
      .decompose = TENON_EXPAND_UNARY(log2),
      .cases =
          [] {
            return Cases<None>{
                {.name = "example",
                 .inputs = {f32({1, 8, 0.25, 3})},
                 .expect = {f32({0, 3, -2, 1.5849625})}},
                {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kInputs,
  });
}

OpDef log10_def() {
  return define_transcendental({
      .name = "log10",
      .summary = "The logarithm to base 10 of each element.",
      .formula = "y = log10(x)",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) / (v.input(0) * std::numbers::ln10)};
      },
      .decompose = TENON_EXPAND_UNARY(log10),
      .cases =
          [] {
            return Cases<None>{
                {.name = "example",
                 .inputs = {f32({1, 1000, 2})},
                 .expect = {f32({0, 3, 0.301029996})}},
                {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kInputs,
  });
}

OpDef log1p_def() {
  return define_transcendental({
      .name = "log1p",
      .summary = "The natural logarithm of 1 + x, accurate near zero too.",
      .formula = "y = ln(1 + x)",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        return {v.cotangent(0) / (v.input(0) + 1.0)};
      },
      .decompose = TENON_EXPAND_UNARY(log1p),
      .cases =
          [] {
            return Cases<None>{
                {.name = "example",
                 .inputs = {f32({0, 1, 1e-10})},
                 .expect = {f32({0, 0.693147181, 1e-10})}},
                {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kInputs,
  });
}

OpDef erf_def() {
  return define_transcendental({
      .name = "erf",
      .summary = "The error function of each element.",
      .formula = "y = 2 / sqrt(pi) * integral of e^(-t^2) for t from 0 to x",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor& x = v.input(0);
        return {v.cotangent(0) * (kTwoOverSqrtPi * exp(-(x * x)))};
      },
      .decompose = TENON_EXPAND_UNARY(erf),
      .cases =
          [] {
            return Cases<None>{
                {.name = "example",
                 .inputs = {f32({0, 1, -0.5})},
                 .expect = {f32({0, 0.842700793, -0.520499878})}},
                {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kInputs,
      .onnx = "Erf",
  });
}

OpDef sigmoid_def() {
  return define_transcendental({
      .name = "sigmoid",
      .summary = "The logistic function of each element.",
      .formula = "y = 1 / (1 + e^-x)",
      .vjp = [](const None&, const VjpArgs& v) -> Tensors {
        const Tensor& y = v.output(0);
        return {v.cotangent(0) * y * (1.0 - y)};
      },
      .decompose = TENON_EXPAND_UNARY(sigmoid),
      .cases =
          [] {
            return Cases<None>{
                {.name = "example",
                 .inputs = {f32({0, 2, -2})},
                 .expect = {f32({0.5, 0.880797078, 0.119202922})}},
                {.name = "large_values_do_not_overflow",
                 .inputs = {f32({200, -200})},
                 .expect = {f32({1, 0})},
                 .check_gradient = false},
                {.name = "integer_is_not_floating", .inputs = {i32({1})}, .error = "C1"},
            };
          },
      .saves = Saves::kOutputs,
      .onnx = "Sigmoid",
  });
}

}  // namespace tenon::ops
