// extent: turns a number computed by traced code into a size. The output has that length and no
// memory. Calls whose attributes contain the size take the output as an extra input (Node::n_sizes)
// and read the size from its shape.

#include "core/base/error.h"
#include "core/base/immortal.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/control/control_ops.h"
#include "core/trace/tracer.h"

namespace tenon {
namespace {

struct Attrs {
  Size size = -1;  // While tracing, the new data-dependent symbol; -1 when the op runs.
  TENON_ATTRS(size)
};

TensorTypes infer(const Attrs& attrs, TypeSpan) {
  return {TensorType(DType::kBool, Dims{attrs.size})};
}

Tensors run(Scope&, const Call& call) {
  const int64_t n = read_integer(Tensor::share(call.inputs[0]));
  require(n >= 0, "a data-dependent size must not be negative, but is {}", n);
  return {broadcast_to(make_scalar_bool(true), Dims{n})};
}

}  // namespace

const OpDef& control::extent() {
  static const Immortal<OpDef> op = [] {
    OpDef made = ops::define<Attrs>({.name = "extent", .inputs = {{"n", ""}}, .infer = infer});
    made.run = run;
    return made;
  }();
  return op;
}

std::optional<size_t> symbol_defined_by(const Graph& graph, const Node& node) {
  if (node.op != &control::extent()) return std::nullopt;
  return graph.sizes().symbol_of(static_cast<const Attrs*>(node.attrs.view().data)->size);
}

Tensor extent(Scope& scope, const Tensor& n) {
  TensorImpl* const input = n.get();
  Attrs attrs;
  if (scope.traced_cells()) attrs.size = SizeTable::current().new_data_dependent();
  return std::move(apply(scope, control::extent(), any_attrs(attrs), {&input, 1})[0]);
}

Size read_traced_size(Scope& scope, const Tensor& n) { return extent(scope, n)->shape()[0]; }

}  // namespace tenon
