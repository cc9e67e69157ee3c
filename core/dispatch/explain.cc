#include "core/dispatch/explain.h"

#include "core/base/error.h"
#include "core/dispatch/launch.h"
#include "core/dispatch/operands.h"
#include "core/dispatch/storage_ops.h"

namespace tenon {
namespace {

// Returns a line with the op, its output types, its device, and how it runs there.
std::string describe(Scope& scope, const Call& call) {
  const TensorTypes types = call.op.infer(call.op, call.attrs.data, call.types);
  const Execution execution = execution_of(scope, call, types);
  std::string text = call.op.name + " -> ";
  for (size_t i = 0; i < types.size(); ++i) text += (i ? ", " : "") + to_string(types[i]);
  text += " on " + execution.device->name() + ": ";
  switch (execution.how) {
    case Execution::How::kView:
      return text + "a view; nothing is launched";
    case Execution::How::kKernel:
      return text + "a kernel of the device";
    case Execution::How::kDecomposed:
      return text + "decomposed, because the device " + execution.reason;
    default:
      return text + "not on this device, because the device " + execution.reason +
             "; the context's fallback policy determines what happens instead";
  }
}

}  // namespace

// Determines how an eager call would run, without running it.
Execution execution_of(Scope& scope, const Call& call, const TensorTypes& types) {
  Device& device = common_device(scope, call.inputs);
  if (call.op.is_view) return {&device, Execution::How::kView, ""};
  const Launcher launcher(scope, device, call, types);
  if (launcher.kernel().exists()) return {&device, Execution::How::kKernel, ""};
  const bool is_decomposed = call.op.decompose || uses_storage_dtype(call, types);
  const auto how = is_decomposed ? Execution::How::kDecomposed : Execution::How::kFallback;
  return {&device, how, launcher.kernel().reason};
}

TensorTypes infer_types(const OpDef& op, AnyAttrs attrs, TypeSpan types) {
  try {
    require(types.size() >= op.min_inputs && (op.variadic || types.size() <= op.max_inputs),
            "takes {} inputs, but got {}", op.min_inputs + 0u, types.size());
    return op.infer(op, attrs.data, types);
  } catch (Error& error) {
    error.set_op(op.name);
    throw;
  }
}

std::string explain(Scope& scope, const OpDef& op, AnyAttrs attrs, Inputs inputs) {
  try {
    const Scope::Unrecorded unrecorded(scope);
    const Operands operands(op, inputs);
    return describe(scope, {op, attrs, operands.inputs(), operands.types()});
  } catch (Error& error) {
    error.set_op(op.name);
    throw;
  }
}

}  // namespace tenon
