// Shared by the tables of elementwise ops: type rules, and the sum of a derivative over the axes
// along which an input was broadcast.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon::ops {

// Sets the fields that all members of a family share, and defines the op.
OpDef define_unary(Definition<NoAttrs> d);   // y = f(x)
OpDef define_binary(Definition<NoAttrs> d);  // y = f(a, b), promoted and broadcast

// Type rules. C1 is about the dtype, C2 about the shapes.
TensorTypes infer_any(const NoAttrs&, TypeSpan in);
TensorTypes infer_numeric(const NoAttrs&, TypeSpan in);
TensorTypes infer_floating(const NoAttrs&, TypeSpan in);
TensorTypes infer_integer(const NoAttrs&, TypeSpan in);
TensorTypes infer_integer_or_bool(const NoAttrs&, TypeSpan in);
TensorTypes infer_bool(const NoAttrs&, TypeSpan in);
TensorTypes infer_floating_to_bool(const NoAttrs&, TypeSpan in);
TensorTypes infer_numeric_to_bool(const NoAttrs&, TypeSpan in);
TensorTypes infer_any_to_bool(const NoAttrs&, TypeSpan in);

// One gradient for each input that needs one: the formula's value, summed to the input's shape.
template <class... Formulas>
Tensors gradients(const VjpArgs& v, const Formulas&... formulas) {
  Tensors result;
  const auto add = [&](const auto& formula) {
    const size_t i = result.size();
    const Tensor whole = v.needs(i) ? formula() : Tensor();
    result.push_back(whole ? sum_to(whole, v.input_type(i)) : whole);
  };
  (add(formulas), ...);
  return result;
}

// The derivative of functions that are constant wherever they have a derivative.
inline Tensors no_slope(const NoAttrs&, const VjpArgs& v) {
  Tensors none;
  none.resize(v.n_inputs());
  return none;
}

}  // namespace tenon::ops
