// assign: returns the new value of a variable. The result equals `x` but has no gradient history of
// `x`. Later reads are reads of the variable, so their gradients flow to its previous value.

#include "core/base/immortal.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/control/control_ops.h"

namespace tenon {
namespace {

TensorTypes infer(const NoAttrs&, TypeSpan in) { return {in[0]}; }

Tensors vjp(const NoAttrs&, const VjpArgs& v) { return {Tensor(), v.cotangent(0)}; }

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

Tensor assigned(Scope& scope, const Tensor& x, const Tensor& variable) {
  TensorImpl* inputs[] = {x.get(), variable.get()};
  return std::move(apply(scope, control::assign(), any_attrs(NoAttrs{}), inputs)[0]);
}

}  // namespace tenon
