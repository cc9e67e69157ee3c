// max_pool_backward: the derivative of max_pool. Called alone, it is max unpooling: it writes
// maxima back to their positions and fills the rest with zeros.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = ShapeAttrs;

// Constraints.
//   C1  dy is floating point.
//   C2  indices is i32 or i64 and has the shape of dy.
//   C3  shape is valid for a tensor.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &dy = in[0], &indices = in[1];
  require(is_floating(dy.dtype), "C1: dy must be floating point, but is {}", dy.dtype);
  require(indices.dtype == DType::kI32 || indices.dtype == DType::kI64,
          "C2: indices must be i32 or i64, but is {}", indices.dtype);
  require(indices.shape == dy.shape, "C2: indices must have the shape of dy: {}, but is {}", dy,
          indices);
  return {require_sizes(dy.dtype, attrs.shape, "C3")};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Dims shape = to_dims(attrs.shape);
  const Tensor nothing = zeros(TensorType(in[0]->type.dtype, {count(shape)}));
  const Tensor flat = scatter_elements(nothing, reshape(in[1], {-1}), reshape(in[0], {-1}),
                                       {.reduction = ScatterReduction::kAdd});
  return {reshape(flat, shape)};
}

// The op scatters dy to the indices, so its derivative gathers from them.
Tensors vjp(const Attrs&, const VjpArgs& v) {
  const Tensor& ddx = v.cotangent(0);
  return {gather(reshape(ddx, {-1}), v.input(1), 0), Tensor()};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .attrs = {.shape = {1, 1, 4}},
       .inputs = {f32({1, 1, 2}, {10, 20}), i64({1, 1, 2}, {3, 1})},
       .expect = {f32({1, 1, 4}, {0, 20, 0, 10})}},
      {.name = "windows_that_share_an_element_add",
       .attrs = {.shape = {2, 2}},
       .inputs = {f32({1, 2, 3}), i32({2, 0, 2})},
       .expect = {f32({2, 2}, {2, 0, 4, 0})}},
      {.name = "empty",
       .attrs = {.shape = {0, 2, 4}},
       .inputs = {f32({0, 2, 3}, {}), i64({0, 2, 3}, {})},
       .expect = {f32({0, 2, 4}, {})}},
      {.name = "integers", .attrs = {.shape = {1}}, .inputs = {i32({1}), i64({0})}, .error = "C1"},
      {.name = "floating_indices",
       .attrs = {.shape = {1}},
       .inputs = {f32({1}), f32({0})},
       .error = "C2"},
      {.name = "shapes_differ",
       .attrs = {.shape = {1}},
       .inputs = {f32({1}), i64({0, 0})},
       .error = "C2"},
      {.name = "negative_size",
       .attrs = {.shape = {-1}},
       .inputs = {f32({1}), i64({0})},
       .error = "C3"},
  };
}

}  // namespace

OpDef max_pool_backward_def() {
  return define<Attrs>({
      .name = "max_pool_backward",
      .summary = "The derivative of max_pool: adds each element of dy to dx at its index.",
      .formula = "dx.flat[indices[p]] += dy[p]",
      .inputs = {{"dy", "the gradient of the y of max_pool"},
                 {"indices", "the indices from max_pool"}},
      .outputs = {{"dx", "the gradient of the x of max_pool"}},
      .attrs_doc = {{"shape", "The shape of the x of max_pool."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .saves = Saves::kSecondInput,
      .numeric = Numeric::kAccumulation,
      .sparse_output = true,
  });
}

}  // namespace tenon::ops
