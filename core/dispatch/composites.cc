#include "core/dispatch/composites.h"

#include <cassert>

#include "core/dispatch/dispatch.h"
#include "core/ops/formulas.h"

namespace tenon {
namespace {

// Whether what came out is what inference said: of a size that depends on data it says the largest.
[[maybe_unused]] bool is_within(const TensorType& type, const TensorType& inferred) {
  bool within = type.dtype == inferred.dtype && type.rank() == inferred.rank();
  for (size_t i = 0; within && i < type.rank(); ++i) within = type.shape[i] <= inferred.shape[i];
  return within;
}

}  // namespace

Tensors Composites::call(const Call& call) {
  const Scope::OnDevice on(scope_, common_device(scope_, call.inputs));
  Tensors inputs;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    TensorImpl* x = call.inputs[i];
    if (x && x->type.weak) {
      // The parts must not give a scalar another dtype than the whole did.
      inputs.push_back(fill(Tensor::share(x), Dims{}, call.types[i].dtype));
    } else {
      inputs.push_back(Tensor::share(x));
    }
  }
  Tensors outputs = call.op.decompose(call.op, call.attrs.data, inputs);
#if !defined(NDEBUG)
  const TensorTypes types = call.op.infer(call.op, call.attrs.data, call.types);
  assert(outputs.size() == types.size());
  for (size_t i = 0; i < outputs.size(); ++i) assert(is_within(outputs[i]->type, types[i]));
#endif
  return outputs;
}

}  // namespace tenon
