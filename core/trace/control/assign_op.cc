// assign: returns the new value of a variable. The result equals `x` but has no gradient history of
// `x`: it counts as a read of the variable. Its gradient therefore flows to the input `variable`,
// the previous value, and not to `x`.

#include "core/base/immortal.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/control/control_ops.h"

namespace tenon {
namespace {

TensorTypes infer(const NoAttrs&, TypeSpan in) { return {in[0]}; }

Tensors vjp(const NoAttrs&, const VjpArgs& v) { return {Tensor(), v.cotangent(0)}; }

// Sets `out`, the layout of the result, to the layout of `x`. Returns true, because the result can
// always be a view.
bool view(const NoAttrs&, size_t, const TensorType&, const TensorType&, const StridedLayout& in,
          StridedLayout& out) {
  out = in;
  return true;
}

}  // namespace

const OpDef& control::assign() {
  static const Immortal<OpDef> op = ops::define<NoAttrs>({.name = "assign",
                                                          .inputs = {{"x", ""}, {"variable", ""}},
                                                          .infer = infer,
                                                          .vjp = vjp,
                                                          .view = view});
  return op;
}

// Returns the value of a variable after the assignment of `x`. `variable` is its previous value.
Tensor value_after_assignment(Scope& scope, const Tensor& x, const Tensor& variable) {
  TensorImpl* inputs[] = {x.get(), variable.get()};
  return std::move(apply(scope, control::assign(), any_attrs(NoAttrs{}), inputs)[0]);
}

}  // namespace tenon
