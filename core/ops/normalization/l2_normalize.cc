// l2_normalize: scales the vectors along one axis to a Euclidean norm of 1.

#include "core/ops/reductions/square_scale.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t axis = -1;       // The axis along which the vectors extend.
  double epsilon = 1e-12;  // Lower bound of the norm that vectors are divided by.
  TENON_ATTRS(axis, epsilon)
};

// Constraints.
//   C1  x is floating point.
//   C2  -rank(x) <= axis < rank(x).
//   C3  epsilon is positive.
//   C4  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  require_axis(attrs.axis, x, "C2");
  require(attrs.epsilon > 0, "C3: epsilon must be positive, but is {}", attrs.epsilon);
  return {x};  // C4
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const DType dtype = in[0]->type.dtype;
  return {in_wide(in[0], [&](const Tensor& x) {
    return divide_by_length(x, attrs.axis, dtype, attrs.epsilon);
  })};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({2, 2}, {3, -4, 0, 5})},
       .expect = {f32({2, 2}, {0.6, -0.8, 0, 1})}},
      {.name = "axis",
       .attrs = {.axis = 0},
       .inputs = {f32({2, 2}, {3, 0, -4, 5})},
       .expect = {f32({2, 2}, {0.6, 0, -0.8, 1})}},
      {.name = "epsilon",
       .attrs = {.epsilon = 10},
       .inputs = {f32({2, 2}, {3, -4, 0, 20})},
       .expect = {f32({2, 2}, {0.3, -0.4, 0, 1})}},
      {.name = "zeros_stay",
       .inputs = {f32({2, 2}, {0, 0, 3, 4})},
       .expect = {f32({2, 2}, {0, 0, 0.6, 0.8})},
       // At zero, the slope is 1 / epsilon, too steep for finite differences.
       .check_gradient = false},
      {.name = "halves_do_not_overflow",
       .inputs = {f16({30000, 40000})},
       .expect = {f16({0.6, 0.8})}},
      {.name = "length_would_overflow",
       .inputs = {f32({2, 2}, {3e38, -3e38, 3e30, 4e30})},
       .expect = {f32({2, 2}, {0.7071067811865476, -0.7071067811865476, 0.6, 0.8})},
       .check_gradient = false},
      {.name = "small_vectors",
       .inputs = {f32({2, 2}, {3e-30, -4e-30, 3e-8, 4e-8})},
       .expect = {f32({2, 2}, {3e-18, -4e-18, 0.6, 0.8})},
       .atol = 0,
       .check_gradient = false},
      {.name = "small_vectors_and_epsilon",
       .attrs = {.epsilon = 1e-36},
       .inputs = {f32({3, 2}, {3e-30, -4e-30, 0, 0, 3e30, 4e30})},
       .expect = {f32({3, 2}, {0.6, -0.8, 0, 0, 0.6, 0.8})},
       .check_gradient = false},
      {.name = "inner_axis", .attrs = {.axis = 1}, .inputs = {uniform({2, 5, 3})}},
      {.name = "no_rows", .inputs = {uniform({0, 4})}},
      {.name = "empty_rows", .inputs = {f32({2, 0}, {})}, .expect = {f32({2, 0}, {})}},
      {.name = "integers", .inputs = {i32({1, 2})}, .error = "C1"},
      {.name = "axis_out_of_range",
       .attrs = {.axis = -3},
       .inputs = {uniform({2, 3})},
       .error = "C2"},
      {.name = "no_epsilon", .attrs = {.epsilon = 0}, .inputs = {f32({1, 2})}, .error = "C3"},
  };
}

}  // namespace

OpDef l2_normalize_def() {
  return define<Attrs>({
      .name = "l2_normalize",
      .summary = "Scales the vectors along one axis to a Euclidean norm of 1.",
      .formula = "y = x / max(sqrt(sum(x[i]^2 for i along axis)), epsilon)",
      .details =
          "A norm below epsilon counts as epsilon, as in PyTorch, so zeros stay zeros. Above "
          "epsilon, this is ONNX's LpNormalization with p = 2. Half types are computed in float32. "
          "Intermediate squares and norms do not overflow (see l2_norm).",
      .inputs = {{"x", "any floating tensor"}},
      .outputs = {{"y", "of the type of x"}},
      .attrs_doc =
          {{"axis", "The axis along which norms are computed; negative values count from the end."},
           {"epsilon", "The lower bound of the norm; positive."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .onnx = "LpNormalization",
  });
}

}  // namespace tenon::ops
