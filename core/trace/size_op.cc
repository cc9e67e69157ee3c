// size: a size of the trace as a number that its code can compute with.

#include "core/dispatch/dispatch.h"
#include "core/ops/formulas.h"
#include "core/trace/control_ops.h"

namespace tenon {
namespace {

struct Attrs {
  Size value = 0;
  TENON_ATTRS(value)
};

TensorTypes infer(const Attrs&, TypeSpan) { return {TensorType(DType::kI64, Dims{})}; }

Tensors run(Scope& scope, const Call& call) {
  const int64_t value = static_cast<const Attrs*>(call.attrs.data)->value;
  return {from_host(scope, scope.device(), TensorType(DType::kI64, Dims{}), &value)};
}

}  // namespace

const OpDef& control::size() {
  static const OpDef op = [] {
    OpDef made = ops::define<Attrs>({.name = "size", .infer = infer});
    made.run = run;
    return made;
  }();
  return op;
}

Tensor size_tensor(Size size) {
  return std::move(apply(current_scope(), control::size(), any_attrs(Attrs{size}), {})[0]);
}

}  // namespace tenon
