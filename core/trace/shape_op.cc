// shape: sizes, those of the trace among them, as numbers that its code can compute with.

#include "core/dispatch/dispatch.h"
#include "core/ops/formulas.h"
#include "core/trace/control_ops.h"

namespace tenon {
namespace {

struct Attrs {
  Sizes sizes;
  TENON_ATTRS(sizes)
};

TensorTypes infer(const Attrs& attrs, TypeSpan) {
  return {TensorType(DType::kI64, Dims{static_cast<int64_t>(attrs.sizes.size())})};
}

Tensors run(Scope& scope, const Call& call) {
  Ints values;
  for (const Size size : static_cast<const Attrs*>(call.attrs.data)->sizes) values.push_back(size);
  const TensorType type(DType::kI64, Dims{static_cast<int64_t>(values.size())});
  return {from_host(scope, scope.device(), type, values.data())};
}

}  // namespace

const OpDef& control::shape() {
  static const OpDef op = [] {
    OpDef made = ops::define<Attrs>({.name = "shape", .infer = infer});
    made.run = run;
    return made;
  }();
  return op;
}

Tensor shape_tensor(const Dims& shape) { return sizes_tensor(to_sizes(shape)); }

Tensor sizes_tensor(const Sizes& sizes) {
  return std::move(apply(current_scope(), control::shape(), any_attrs(Attrs{sizes}), {})[0]);
}

}  // namespace tenon
