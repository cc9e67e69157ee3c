// dense: a fully connected layer, x @ w + b.

#include "core/ops/linalg/matmul.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x, w and b are floating point and of one dtype.
//   C2  x has at least one axis; w has two.
//   C3  The last axis of x has the size of the first axis of w.
//   C4  b has one element for each column of w.
TensorTypes infer(const NoAttrs&, TypeSpan in) {
  const TensorType &x = in[0], &w = in[1];
  require(is_floating(x.dtype) && x.dtype == w.dtype,
          "C1: x and w must be floating point and of one dtype, but are {} and {}", x, w);
  require(x.rank() >= 1 && w.rank() == 2,
          "C2: x must have at least one axis and w two, but they are {} and {}", x, w);
  const int64_t features = x.shape[x.rank() - 1];
  require(features == w.shape[0], "C3: {} features of x: {} do not match {} rows of w: {}",
          features, x, w.shape[0], w);
  if (in.has(2)) {
    const TensorType& b = in[2];
    require(b.dtype == x.dtype, "C1: b must be {} like x, but is {}", x.dtype, b);
    require(b.rank() == 1 && b.shape[0] == w.shape[1],
            "C4: b must have one element for each of {} columns of w, but is {}", w.shape[1], b);
  }
  TensorType y = x;
  y.shape[y.rank() - 1] = w.shape[1];
  return {y};
}

Tensors decompose(const NoAttrs&, TensorSpan in) {
  const Tensor y = matmul(in[0], in[1]);
  return {has(in, 2) ? y + in[2] : y};
}

Tensors vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor& dy = v.cotangent(0);
  Tensors grads(v.n_inputs(), Tensor());
  if (v.needs(0)) grads[0] = matmul_da(dy, v.input(1), v.input_type(0), {});
  if (v.needs(1)) grads[1] = matmul_db(v.input(0), dy, v.input_type(1), {});
  if (v.n_inputs() > 2 && v.needs(2)) grads[2] = sum_to(dy, v.input_type(2));
  return grads;
}

Cases<NoAttrs> cases() {
  const CaseTensor w = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  return {
      {.name = "example",
       .inputs = {f32({2, 2}, {1, 0, 1, 1}), w, f32({10, 20, 30})},
       .expect = {f32({2, 3}, {11, 22, 33, 15, 27, 39})}},
      {.name = "without_bias", .inputs = {f32({1, -1}), w}, .expect = {f32({-3, -3, -3})}},
      {.name = "more_axes", .inputs = {uniform({2, 4, 3}), uniform({3, 5}), uniform({5})}},
      {.name = "empty_batch", .inputs = {uniform({0, 3}), uniform({3, 5}), uniform({5})}},
      {.name = "integers", .inputs = {i32({1}), i32({1, 1}, {1})}, .error = "C1"},
      {.name = "weights_are_a_vector", .inputs = {uniform({2}), uniform({2})}, .error = "C2"},
      {.name = "features_differ", .inputs = {uniform({2, 3}), uniform({2, 3})}, .error = "C3"},
      {.name = "bias_differs", .inputs = {uniform({1, 2}), w, uniform({2})}, .error = "C4"},
  };
}

}  // namespace

OpDef dense_def() {
  return define<NoAttrs>({
      .name = "dense",
      .summary = "A fully connected layer: the features of x times the weights, plus a bias.",
      .formula = "y = x @ w + b",
      .inputs = {{"x", "the input, with features along the last axis"},
                 {"w", "the weights, a row for each feature of x and a column for each of y"},
                 {"b", "the bias, one element for each feature of y", InputKind::kOptional}},
      .outputs = {{"y", "the result, with features along the last axis"}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kSome,
      .saved_inputs = 0b011,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kAccumulation,
  });
}

}  // namespace tenon::ops
