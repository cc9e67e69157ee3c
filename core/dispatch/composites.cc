#include "core/dispatch/composites.h"

#include <cassert>

#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"

namespace tenon {
namespace {

// Whether an output type matches the inferred type. For a data-dependent size, inference returns
// the maximum.
[[maybe_unused]] bool is_within(const TensorType& type, const TensorType& inferred) {
  bool within = type.dtype == inferred.dtype && type.rank() == inferred.rank();
  for (size_t i = 0; within && i < type.rank(); ++i) within = type.shape[i] <= inferred.shape[i];
  return within;
}

// Returns references to the inputs.
Tensors share_all(Inputs inputs) {
  Tensors tensors;
  for (TensorImpl* x : inputs) tensors.push_back(Tensor::share(x));
  return tensors;
}

}  // namespace

// Runs the decomposition of a composite op in the scope.
Tensors Composites::call(const Call& call) {
  const Scope::OnDevice on(scope_, common_device(scope_, call.inputs));
  const auto parts = [&](TensorSpan given) {
    Tensors inputs(given);
    for (size_t i = 0; i < inputs.size(); ++i) {
      // The decomposition must not promote a scalar differently than the composite op did.
      if (!inputs[i] || !inputs[i]->type.weak) continue;
      inputs[i] = fill(inputs[i], Dims{}, call.types[i].dtype);
    }
    return call.op.decompose(call.op, call.attrs.data, inputs);
  };
  Tensors outputs =
      scope_.composite_plans().run(scope_, {call.op, call.attrs}, share_all(call.inputs), parts);
#if !defined(NDEBUG)
  const TensorTypes types = call.op.infer(call.op, call.attrs.data, call.types);
  assert(outputs.size() == types.size());
  for (size_t i = 0; i < outputs.size(); ++i) assert(is_within(outputs[i]->type, types[i]));
#endif
  return outputs;
}

// Whether a tape should record the call as a single op.
bool Composites::should_record_as_one_op(const Call& call) {
  if (scope_.traced_cells() || scope_.recorder()) return false;
  const Scope::OnDevice on(scope_, common_device(scope_, call.inputs));
  return scope_.composite_plans().is_light(scope_, {call.op, call.attrs}, share_all(call.inputs));
}

}  // namespace tenon
