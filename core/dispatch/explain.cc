#include "core/dispatch/explain.h"

#include "core/base/error.h"
#include "core/dispatch/launch.h"
#include "core/dispatch/operands.h"

namespace tenon {
namespace {

std::string describe(Scope& scope, const Call& call) {
  const TensorTypes types = call.op.infer(call.op, call.attrs.data, call.types);
  Device& device = common_device(scope, call.inputs);
  std::string text = call.op.name + " -> ";
  for (size_t i = 0; i < types.size(); ++i) text += (i ? ", " : "") + to_string(types[i]);
  text += " on " + device.name() + ": ";
  if (call.op.is_view) return text + "a view, nothing runs";

  Launcher launcher(scope, device, call, types);
  if (launcher.kernel().exists()) return text + "a kernel of the device";
  const std::string& reason = launcher.kernel().reason;
  if (call.op.decompose) return text + "in parts, since it " + reason;
  return text + "not there, since it " + reason + "; the context's policy decides";
}

}  // namespace

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
