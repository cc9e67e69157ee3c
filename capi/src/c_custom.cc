#include <tenon/custom.h>

#include "capi/src/boundary.h"
#include "capi/src/c_backward.h"
#include "capi/src/custom_op.h"
#include "capi/src/structs.h"
#include "core/dispatch/callback_depth.h"
#include "core/trace/control/control.h"

using namespace tenon::capi;
using tenon::Tensor;
using tenon::Tensors;

namespace {

// Wraps the user's derivative in a function that the core can call.
tenon::CustomVjp to_custom_vjp(const tenon_backward_function& backward, Payload payload) {
  auto shared = std::make_shared<Payload>(std::move(payload));
  return [function = backward.function, shared](const tenon::VjpArgs& args) {
    const tenon::CallbackDepth nesting("a derivative");
    const RestoreLocation keep(tenon::current_scope());
    const BackwardArgs given(args);
    CallbackOutputs filled(given.n_inputs());
    tenon_error* error = function(shared->get(), to_handle(&tenon::current_scope()), given.get(),
                                  filled.out(), given.n_inputs());
    return given.take(filled, error);
  };
}

}  // namespace

tenon_error* tenon_custom_gradient(tenon_scope* scope, tenon_tensor_function forward,
                                   tenon_tensor* const* inputs, size_t n_inputs,
                                   tenon_backward_function backward, tenon_tensor** out_outputs,
                                   size_t n_outputs) {
  clear_outputs(out_outputs, n_outputs);
  const Payload forward_payload(forward.payload, forward.destroy);
  Payload backward_payload(backward.payload, backward.destroy);
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    if (!forward.function) fail_argument("forward.function", "is NULL");
    if (!backward.function) fail_argument("backward.function", "is NULL");
    if (n_outputs > 0) require_pointer(out_outputs, "out_outputs");
    const std::vector<Tensor> arguments = get_tensors(self, inputs, n_inputs, "inputs");
    const tenon::Block code = [&](tenon::TensorSpan in) {
      const tenon::CallbackDepth nesting("forward");
      const RestoreLocation keep(self);
      const CallbackInputs own(self, in);
      CallbackOutputs filled(n_outputs);
      tenon_error* error = forward.function(forward_payload.get(), scope, own.data(), own.size(),
                                            filled.out(), n_outputs);
      return Tensors(filled.take(error, "forward", Entries::kRequired));
    };
    const auto vjp = std::make_shared<const tenon::CustomVjp>(
        to_custom_vjp(backward, std::move(backward_payload)));
    Tensors outputs = tenon::with_gradient(self, arguments, code, vjp);
    set_outputs(outputs, out_outputs, n_outputs);
  });
}

tenon_error* tenon_op_register(tenon_context* context, const tenon_custom_op* op,
                               uint32_t* out_op) {
  clear_output(out_op);
  return boundary([&] {
    require_pointer(op, "op");
    const tenon_custom_op known = known_fields(op, tenon_custom_op());
    Payload payload(known.payload, known.destroy);
    const tenon_custom_op given = read_struct(op, tenon_custom_op(), "op");
    tenon::Context& self = get(context, "context");
    require_pointer(out_op, "out_op");
    *out_op = self.add_op(make_custom_op(given, std::move(payload))).id;
  });
}
