// Shared by the reductions: their type rule.

#pragma once

#include <utility>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {

// Constraints.
//   C1  x has a dtype that the op reduces; each op specifies which.
//   C2  -rank(x) <= axis < rank(x) for each of `axes`, none of them twice.
inline TensorTypes infer_reduced(const ReduceAttrs& attrs, const TensorType& x) {
  const uint32_t mask = require_axes(attrs.axes, x, "C2");
  return {TensorType(x.dtype, reduced_shape(x.shape, mask, attrs.keepdims))};
}

inline TensorTypes infer_reduced_floating(const ReduceAttrs& attrs, TypeSpan in) {
  require(is_floating(in[0].dtype), "C1: x must be floating point, but is {}", in[0].dtype);
  return infer_reduced(attrs, in[0]);
}

// Returns the number of input elements that are reduced to one element of the result.
inline Size count_reduced(const Ints& axes, const Dims& shape) {
  const uint32_t mask = axes_mask(axes, shape.rank());
  Size n = 1;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (mask >> i & 1) n *= shape[i];
  }
  return n;
}

// Returns the number n as a scalar. If n is symbolic, the graph computes it in `dtype`, as a sum of
// n ones.
inline Tensor count_as(DType dtype, const Size& n) {
  if (n.known()) [[likely]]
    return number(static_cast<double>(n));
  return cast(sum(broadcast_to(fill(integer(1), Dims{}, DType::kI64), Dims{n})), dtype);
}

// Documentation that all reductions share.
inline constexpr AttrDoc kAxesDoc = {
    "axes", "The axes to reduce, negative ones from the end; empty for all."};
inline constexpr AttrDoc kKeepdimsDoc = {"keepdims", "Whether reduced axes are kept, with size 1."};

template <class Attrs>
OpDef define_reduction(Definition<Attrs> d) {
  d.inputs = {{"x", "the input"}};
  d.outputs = {{"y", "the result for each index of the other axes"}};
  return define(d);
}

}  // namespace tenon::ops
