// cosine_similarity: the cosine of the angle between two vectors.

#include "core/ops/reductions/square_scale.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t axis = 1;       // The axis along which the vectors extend.
  double epsilon = 1e-8;  // Lower bound of each norm in the divisor.
  TENON_ATTRS(axis, epsilon)
};

// Constraints.
//   C1  a and b are floating point and of one dtype.
//   C2  a and b can be broadcast to a common shape.
//   C3  -rank <= axis < rank, where rank is that of the common shape.
//   C4  epsilon is not negative.
//   y has the common shape, without axis.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &a = in[0], &b = in[1];
  require(is_floating(a.dtype) && a.dtype == b.dtype,
          "C1: a and b must be floating point and of one dtype, but are {} and {}", a, b);
  Dims shape = require_broadcast(a, b, "C2");
  shape.erase(static_cast<size_t>(require_axis(attrs.axis, shape.rank(), "C3")));
  require(attrs.epsilon >= 0, "C4: epsilon must not be negative, but is {}", attrs.epsilon);
  return {TensorType(a.dtype, shape)};
}

// Divides the vectors by their norms before multiplying, so that no product overflows or
// underflows.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const TensorType &a = in[0]->type, &b = in[1]->type;
  const Dims shape = require_broadcast(a, b, "C2");
  const DType wide = wide_dtype(a.dtype);
  const auto direction = [&](const Tensor& x) {
    const Tensor vectors = broadcast_to(to_dtype(x, wide), shape);
    return divide_by_length(vectors, attrs.axis, a.dtype, attrs.epsilon);
  };
  const Tensor cosines = sum(direction(in[0]) * direction(in[1]), {.axes = {attrs.axis}});
  return {to_dtype(cosines, a.dtype)};
}

Cases<Attrs> cases() {
  const CaseTensor a = f32({2, 2}, {3, 4, 1, 0});
  return {
      {.name = "example", .inputs = {a, f32({2, 2}, {4, 3, 0, 5})}, .expect = {f32({0.96, 0})}},
      {.name = "axis",
       .attrs = {.axis = 0},
       .inputs = {f32({3, 4}), f32({-3, -4})},
       .expect = {f32({}, {-1})}},
      {.name = "epsilon",
       .attrs = {.epsilon = 10},
       .inputs = {a, a},
       .expect = {f32({0.25, 0.01})}},
      {.name = "one_vector_for_all", .inputs = {a, f32({0, 2})}, .expect = {f32({0.8, 0})}},
      {.name = "no_length",
       .inputs = {f32({1, 2}, {0, 0}), f32({1, 2}, {1, 2})},
       .expect = {f32({0})},
       .check_gradient = false},
      {.name = "large_vectors",
       .inputs = {f32({1, 2}, {3e18, 4e18}), f32({1, 2}, {3e18, 4e18})},
       .expect = {f32({1})},
       .check_gradient = false},
      {.name = "lengths_would_overflow",
       .inputs = {f32({2, 2}, {3e38, -3e38, 3e30, 4e30}), f32({2, 2}, {3e38, 3e38, 4e-3, 3e-3})},
       .expect = {f32({0, 0.96})},
       .check_gradient = false},
      {.name = "small_vectors_without_epsilon",
       .attrs = {.epsilon = 0},
       .inputs = {f32({1, 2}, {3e-30, 4e-30}), f32({1, 2}, {4e30, 3e30})},
       .expect = {f32({0.96})},
       .check_gradient = false},
      {.name = "drawn", .attrs = {.axis = -2}, .inputs = {uniform({2, 3, 4}), uniform({2, 3, 4})}},
      {.name = "no_vectors", .inputs = {uniform({0, 3}), uniform({0, 3})}},
      {.name = "integers", .inputs = {i32({1, 1}, {1}), i32({1, 1}, {1})}, .error = "C1"},
      {.name = "shapes_that_do_not_broadcast", .inputs = {a, uniform({3})}, .error = "C2"},
      {.name = "axis_out_of_range", .inputs = {uniform({3}), uniform({3})}, .error = "C3"},
      {.name = "negative_epsilon", .attrs = {.epsilon = -1}, .inputs = {a, a}, .error = "C4"},
  };
}

}  // namespace

OpDef cosine_similarity_def() {
  return define<Attrs>({
      .name = "cosine_similarity",
      .summary = "The cosine of the angle between vectors along an axis.",
      .formula = "y = sum(a * b) / (max(|a|, epsilon) * max(|b|, epsilon)) along axis",
      .details = "The similarity to a vector of length 0 is 0. Half types are computed in float32. "
                 "Squares and lengths do not overflow in intermediate results (see l2_norm).",
      .inputs = {{"a", "the first vectors, along axis"},
                 {"b", "the second vectors, broadcast against a"}},
      .outputs = {{"y", "the cosine for each pair of vectors"}},
      .attrs_doc = {{"axis", "The axis of the vectors; a negative one counts from the end."},
                    {"epsilon", "The lower bound for the lengths in the divisor."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
