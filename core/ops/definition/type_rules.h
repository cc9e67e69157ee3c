// Shared by the tables of elementwise ops: type rules, and gradients that are summed over the axes
// along which an input was broadcast.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon::ops {

// Define an op after setting the fields that all ops of the family share.
OpDef define_unary(Definition<NoAttrs> d);   // y = f(x)
OpDef define_binary(Definition<NoAttrs> d);  // y = f(a, b); inputs are promoted and broadcast.

// Type rules. Their errors have label C1 (wrong dtype) or C2 (shapes that do not broadcast).
TensorTypes infer_any(const NoAttrs&, TypeSpan in);
TensorTypes infer_numeric(const NoAttrs&, TypeSpan in);
TensorTypes infer_floating(const NoAttrs&, TypeSpan in);
TensorTypes infer_integer(const NoAttrs&, TypeSpan in);
TensorTypes infer_integer_or_bool(const NoAttrs&, TypeSpan in);
TensorTypes infer_bool(const NoAttrs&, TypeSpan in);
TensorTypes infer_floating_to_bool(const NoAttrs&, TypeSpan in);
TensorTypes infer_numeric_to_bool(const NoAttrs&, TypeSpan in);
TensorTypes infer_any_to_bool(const NoAttrs&, TypeSpan in);

// Returns the gradients of the inputs. Evaluates formula i if input i needs a gradient, and sums
// the result to the shape of that input.
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

// The derivative of piecewise constant functions: no gradient for any input.
inline Tensors no_gradients(const NoAttrs&, const VjpArgs& v) {
  Tensors none;
  none.resize(v.n_inputs());
  return none;
}

}  // namespace tenon::ops
