// recompute: a block that saves few residuals and recomputes the rest in the backward pass.

#include "core/base/immortal.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/control/control_ops.h"
#include "core/trace/control/lists.h"
#include "core/trace/derivative/derivative.h"
#include "core/trace/tracer.h"

namespace tenon {
namespace {

using Attrs = RegionAttrs;

const Attrs& attrs_of(const Call& call) { return region_attrs(call.attrs); }

// Returns the inputs of a call.
Tensors operands_of(const Call& call) {
  Tensors operands;
  for (TensorImpl* x : call.inputs) operands.push_back(Tensor::share(x));
  return operands;
}

Tensors run(Scope& scope, const Call& call) {
  const Attrs& attrs = attrs_of(call);
  Tensors results = attrs.regions[0]->apply(scope, attrs.sizes, operands_of(call));
  for (Tensor& y : results) y = alias_of(*y);
  return results;
}

class RecomputeDerivative {
 public:
  RecomputeDerivative(Scope& scope, const Call& call, const std::vector<bool>& by)
      : attrs_(attrs_of(call)),
        by_(by),
        from_(outputs_depending_on(attrs_.regions[0]->graph(), by)),
        operands_(operands_of(call)),
        derivative_(scope, attrs_.regions[0]->graph(), attrs_.sizes, by_, from_,
                    {.memory_budget = static_cast<uint64_t>(attrs_.memory_budget)}) {
    derivative_.require_guards(attrs_.sizes);
  }

  Tensors forward(Scope& scope, const Call&) {
    Tensors found = scope.traced_cells() ? trace_forward(scope)
                                         : derivative_.forward(scope, attrs_.sizes, operands_);
    Tensors outputs;
    for (size_t i = 0; i < found.size(); ++i) {
      if (i < from_.size()) {
        outputs.push_back(with_new_identity(scope, found[i]));
      } else {
        saved_.push_back(std::move(found[i]));
      }
    }
    return outputs;
  }

  Tensors backward(Scope& scope, const VjpArgs& args) const {
    derivative_.require_backward();
    Tensors cotangents;
    for (size_t i = 0; i < from_.size(); ++i) {
      if (from_[i]) cotangents.push_back(args.cotangent(i));
    }
    Tensors found = derivative_.backward(scope, attrs_.sizes, saved_, derivative_, cotangents);
    Tensors all;
    size_t next = 0;
    for (const bool marked : by_) all.push_back(marked ? std::move(found[next++]) : Tensor());
    return all;
  }

 private:
  // Traces the forward pass into a region. Otherwise passes of the outer graph, such as cse, would
  // merge it with the recomputation in the backward pass.
  Tensors trace_forward(Scope& scope) const {
    TracedBlock block = trace_block(scope, {}, "a function with a memory budget", [&](TensorSpan) {
      return derivative_.forward(scope, attrs_.sizes, operands_);
    });
    return apply_blocks(scope, control::recompute(), {&block, 1}, {},
                        {.memory_budget = attrs_.memory_budget});
  }

  Attrs attrs_;
  std::vector<bool> by_, from_;
  Tensors operands_;
  Derivative derivative_;
  Tensors saved_;
};

}  // namespace

const OpDef& control::recompute() {
  static const Immortal<OpDef> op = region_op({.name = "recompute",
                                               .inputs = {{"operands", "", InputKind::kVariadic}},
                                               .infer = region_types},
                                              run, linearize_with_class<RecomputeDerivative>);
  return op;
}

Tensors trace_recompute(Scope& scope, const Block& code, uint64_t memory_budget) {
  TracedBlock block = trace_block(scope, {}, "a function with a memory budget", [&](TensorSpan in) {
    Tensors all = code(in);
    for (Tensor& x : all) x = as_tensor(x);
    return all;
  });
  return apply_blocks(scope, control::recompute(), {&block, 1}, {},
                      {.memory_budget = static_cast<int64_t>(memory_budget)});
}

}  // namespace tenon
