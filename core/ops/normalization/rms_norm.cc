// rms_norm: divides by the root mean square, over the axes from `axis` to the last.

#include <cmath>

#include "core/ops/reductions/norm.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t axis = -1;      // The first of the axes to normalise over.
  double epsilon = 1e-5;  // Added to the mean square.
  TENON_ATTRS(axis, epsilon)
};

// Constraints.
//   C1  x and scale are floating point and of one dtype.
//   C2  -rank(x) <= axis < rank(x).
//   C3  scale can be broadcast to the trailing sizes of x, from `axis` on.
//   C4  epsilon is not negative.
//   C5  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, x, "C2"));
  require_broadcast_from_axis(in[1], x, axis, "scale");
  require(attrs.epsilon >= 0, "C4: epsilon must not be negative, but is {}", attrs.epsilon);
  return {x};  // C5
}

// Returns the axes to normalise over, which a reduction keeps with size 1.
Along normalised_axes(const Attrs& attrs, size_t rank) {
  return {.axes = axes_from(attrs.axis, rank), .keepdims = true};
}

// z is x divided by its root mean square, and `inverse` is the inverse of that root mean square.
struct Scaled {
  Tensor z, inverse;
};

// Divides x by its root mean square over the normalised axes. `from` is the dtype before x was
// widened.
Scaled normalise_rows(const Attrs& attrs, const Tensor& x, DType from) {
  const Along along = normalised_axes(attrs, x->rank());
  const SquareScale scale = square_scale(
      from, [&] { return mean(x * x, along); }, std::sqrt(attrs.epsilon));
  const Tensor row = scale.of(x);
  const Tensor inverse = inverse_root(mean(row * row, along), scale, attrs.epsilon);
  return {row * inverse, scale.of(inverse)};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const DType dtype = in[0]->type.dtype, wide = wide_dtype(dtype);
  const Tensor z = normalise_rows(attrs, to_dtype(in[0], wide), dtype).z;
  return {to_dtype(z * to_dtype(in[1], wide), dtype)};
}

// With z = x * r and r the inverse root mean square, dx = r * (dz - z * mean(dz * z)).
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const DType dtype = v.input_type(0).dtype, wide = wide_dtype(dtype);
  const Tensor x = to_dtype(v.input(0), wide), dy = to_dtype(v.cotangent(0), wide);
  const auto [z, r] = normalise_rows(attrs, x, dtype);
  Tensors grads(2, Tensor());
  if (v.needs(0)) {
    const Tensor dz = dy * to_dtype(v.input(1), wide);
    grads[0] = to_dtype(r * (dz - z * mean(dz * z, normalised_axes(attrs, x->rank()))), dtype);
  }
  if (v.needs(1)) grads[1] = to_dtype(sum_to(dy * z, v.input_type(1)), dtype);
  return grads;
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 2}, {1, 7, 5, -5});
  return {
      {.name = "example",
       .attrs = {.epsilon = 0},
       .inputs = {x, f32({1, 10})},
       .expect = {f32({2, 2}, {0.2, 14, 1, -10})}},
      {.name = "epsilon",
       .attrs = {.epsilon = 11},
       .inputs = {f32({1, 7}), f32({1, 1})},
       .expect = {f32({0.16666666666666666, 1.1666666666666667})}},
      {.name = "axis",
       .attrs = {.axis = 1},
       .inputs = {f32({2, 2, 2}, {1, -2, 3, 0.5, -1, 2, 0.25, 4}), f32({2, 2}, {1, 2, 3, 4})},
       .expect = {f32({2, 2, 2}, {0.5298121992304703, -2.119248796921881, 4.768309793074232,
                                  1.0596243984609406, -0.4357873547584547, 1.7431494190338188,
                                  0.326840516068841, 6.972597676135275})}},
      {.name = "half",
       .attrs = {.epsilon = 0},
       .inputs = {f16({1, 7}), f16({1, 10})},
       .expect = {f16({0.2, 14})}},
      {.name = "halves_do_not_overflow",
       .inputs = {f16({3008, 21056}), f16({1, 1})},
       .expect = {f16({0.2, 1.4})}},
      {.name = "squares_would_leave_the_range",
       .attrs = {.epsilon = 0},
       .inputs = {f32({3, 2}, {1e30, 7e30, 5e-30, -5e-30, 1, -7}), f32({1, 10})},
       .expect = {f32({3, 2}, {0.2, 14, 1, -10, 0.2, -14})},
       .check_gradient = false},
      {.name = "large_and_small_rows",
       .inputs = {f32({2, 2}, {1e30, 7e30, 1e-30, -1e-30}), f32({1, 1})},
       .expect = {f32({2, 2}, {0.2, 1.4, 3.1622776601683794e-28, -3.1622776601683794e-28})},
       .atol = 0,
       .check_gradient = false},
      {.name = "rows_of_zeros",
       .inputs = {f32({2, 2}, {0, 0, 0, 0}), f32({1, 2})},
       .expect = {f32({2, 2}, {0, 0, 0, 0})}},
      {.name = "more_axes",
       .attrs = {.axis = -2},
       .inputs = {uniform({2, 3, 4, 5}), uniform({4, 1})}},
      {.name = "no_rows", .inputs = {uniform({0, 4}), uniform({4})}},
      {.name = "empty_rows",
       .inputs = {f32({2, 0}, {}), f32({0}, {})},
       .expect = {f32({2, 0}, {})}},
      {.name = "integers", .inputs = {i32({1, 3}), i32({1, 1})}, .error = "C1"},
      {.name = "axis_out_of_range",
       .attrs = {.axis = 2},
       .inputs = {x, f32({1, 1})},
       .error = "C2"},
      {.name = "scale_differs", .inputs = {x, f32({1, 2, 3})}, .error = "C3"},
      {.name = "scale_is_larger", .inputs = {x, x}, .error = "C3"},
      {.name = "negative_epsilon",
       .attrs = {.epsilon = -1},
       .inputs = {x, f32({1, 1})},
       .error = "C4"},
  };
}

}  // namespace

OpDef rms_norm_def() {
  return define<Attrs>({
      .name = "rms_norm",
      .summary = "Root mean square normalisation over the trailing axes, multiplied by a scale.",
      .formula = "y = x / sqrt(mean(x^2) + epsilon) * scale",
      .details = "Half types are computed in float32. The squares neither overflow nor underflow "
                 "(see l2_norm).",
      .inputs = {{"x", "a floating-point tensor"},
                 {"scale", "the scale, which is broadcast to the sizes of x from axis on"}},
      .outputs = {{"y", "the result, with the shape and dtype of x"}},
      .attrs_doc = {{"axis",
                     "The first of the axes that are normalised together; a negative one counts "
                     "from the end."},
                    {"epsilon", "Added to the mean square."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kInputs,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
      .onnx = "RMSNormalization",
  });
}

}  // namespace tenon::ops
