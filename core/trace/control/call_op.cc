// call: a block with a user-defined derivative.

#include "core/base/error.h"
#include "core/base/immortal.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/control/control_ops.h"
#include "core/trace/graph/region.h"

namespace tenon {
namespace {

Tensors run(Scope& scope, const Call& call) {
  const RegionAttrs& attrs = region_attrs(call.attrs);
  Tensors operands;
  for (TensorImpl* x : call.inputs) operands.push_back(Tensor::share(x));
  Tensors results = attrs.regions[0]->apply(scope, attrs.sizes, operands);
  for (Tensor& y : results) y = alias_of(*y);
  return results;
}

// Outer tapes record the call too, with the same derivative.
Linearized linearize(Scope& scope, const Call& call, const std::vector<bool>&) {
  const auto& vjp = region_attrs(call.attrs).regions[0]->vjp();
  require_code(vjp != nullptr, Code::kUnimplemented,
               "the derivative is unknown, because the graph was parsed from text");
  return {apply(scope, call.op, call.attrs, call.inputs), vjp, true};
}

// The arguments of the user's derivative. They contain only the inputs that the user passed and the
// outputs that the user's code returned. Captures and states, which come after these, are hidden.
class OwnArgs final : public VjpArgs {
 public:
  OwnArgs(const VjpArgs& all, size_t n_inputs, size_t n_outputs)
      : all_(all), n_inputs_(n_inputs), n_outputs_(n_outputs) {}

  const Tensor& input(size_t i) const override { return all_.input(i); }
  const Tensor& output(size_t i) const override { return all_.output(i); }
  const TensorType& input_type(size_t i) const override { return all_.input_type(i); }
  const TensorType& output_type(size_t i) const override { return all_.output_type(i); }
  const Tensor& cotangent(size_t i) const override { return all_.cotangent(i); }
  bool has_cotangent(size_t i) const override { return all_.has_cotangent(i); }
  bool needs(size_t input) const override { return all_.needs(input); }
  size_t n_inputs() const override { return n_inputs_; }
  size_t n_outputs() const override { return n_outputs_; }

 private:
  const VjpArgs& all_;
  size_t n_inputs_, n_outputs_;
};

}  // namespace

const OpDef& control::call() {
  static const Immortal<OpDef> op = region_op(
      {.name = "call", .inputs = {{"operands", "", InputKind::kVariadic}}, .infer = region_types},
      run, linearize);
  return op;
}

Tensors trace_call(Scope& scope, TensorSpan inputs, const Block& forward,
                   const std::shared_ptr<const CustomVjp>& vjp) {
  Tensors arguments;
  for (const Tensor& x : inputs) arguments.push_back(as_tensor(x));
  TracedBlock block = trace_block(scope, arguments, "code with a derivative", [&](TensorSpan in) {
    const Scope::Unrecorded unrecorded(scope);
    Tensors all = forward(in);
    for (Tensor& x : all) x = as_tensor(x);
    return all;
  });
  const auto own =
      std::make_shared<const CustomVjp>([vjp, n_outputs = block.graph->outputs().size(),
                                         n_inputs = arguments.size()](const VjpArgs& args) {
        Tensors gradients = (*vjp)(OwnArgs(args, n_inputs, n_outputs));
        gradients.resize(args.n_inputs());
        return gradients;
      });
  return apply_blocks(scope, control::call(), {&block, 1}, std::move(arguments), {}, own);
}

}  // namespace tenon
