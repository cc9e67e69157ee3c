// thresholded_relu: x where it exceeds a threshold, and zero elsewhere.

#include <cmath>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double alpha = 1;  // The threshold.
  TENON_ATTRS(alpha)
};

// Constraints.
//   C1  x is floating point.
//   C2  type(y) = type(x).
TensorTypes infer(const Attrs&, TypeSpan in) {
  require(is_floating(in[0].dtype), "C1: x must be floating point, but is {}", in[0].dtype);
  return {in[0]};  // C2
}

// Compares with less_equal, which is false for NaN, so that NaN propagates.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  return {where(less_equal(in[0], number(attrs.alpha)), number(0), in[0])};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({-2, 0.5, 1, 1.5})},
       .expect = {f32({0, 0, 0, 1.5})},
       .check_gradient = false},
      {.name = "alpha",
       .attrs = {.alpha = -1},
       .inputs = {f32({-2, -0.5, 3})},
       .expect = {f32({0, -0.5, 3})}},
      {.name = "nan_stays",
       .inputs = {f32({NAN, INFINITY})},
       .expect = {f32({NAN, INFINITY})},
       .check_gradient = false},
      {.name = "two_axes", .attrs = {.alpha = 0.25}, .inputs = {uniform({3, 5})}},
      {.name = "no_elements", .inputs = {uniform({0, 4})}},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef thresholded_relu_def() {
  return define<Attrs>({
      .name = "thresholded_relu",
      .summary = "Each element that exceeds a threshold, and zero elsewhere.",
      .formula = "y = x > alpha ? x : 0",
      .details = "NaN stays NaN. The derivative at alpha is 0.",
      .inputs = {{"x", "a floating-point tensor"}},
      .outputs = {{"y", "the result, with the shape and dtype of x"}},
      .attrs_doc = {{"alpha", "The threshold."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .elementwise = true,
      .numeric = Numeric::kExact,
      .sparse_output = true,
      .onnx = "ThresholdedRelu",
  });
}

}  // namespace tenon::ops
