#include <tenon/effects.h>

#include "capi/src/boundary.h"
#include "capi/src/structs.h"
#include "core/dispatch/callback_depth.h"
#include "core/trace/effects.h"

using namespace tenon::capi;
using tenon::Tensor;
using tenon::Tensors;
using tenon::TensorSpan;

tenon_error* tenon_context_set_print(tenon_context* context, tenon_print_callback callback) {
  auto payload = std::make_shared<Payload>(callback.payload, callback.destroy);
  return boundary([&] {
    tenon::Context& self = get(context, "context");
    if (!callback.function) return self.set_print({});
    self.set_print([function = callback.function, payload](std::string_view text) {
      const tenon::CallbackDepth nesting("the print callback");
      function(payload->get(), {text.data(), text.size()});
    });
  });
}

tenon_error* tenon_print(tenon_scope* scope, tenon_string format, tenon_tensor* const* values,
                         size_t n_values, const tenon_format_options* options) {
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    constexpr tenon_format_options kDefault = TENON_FORMAT_OPTIONS_DEFAULT;
    const tenon_format_options how = read_struct(options, kDefault, "options");
    const std::vector<Tensor> shown = get_tensors(self, values, n_values, "values");
    tenon::print(self, get_text(format, "format"), shown, {get_text_options(how), how.long_form});
  });
}

tenon_error* tenon_assert(tenon_scope* scope, const tenon_tensor* condition, tenon_string message,
                          tenon_tensor* const* values, size_t n_values) {
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    const Tensor holds = get_tensor(self, condition, "condition");
    const std::vector<Tensor> shown = get_tensors(self, values, n_values, "values");
    tenon::assert_all(self, holds, get_text(message, "message"), shown);
  });
}

tenon_error* tenon_host_call(tenon_scope* scope, tenon_tensor_function function,
                             tenon_tensor* const* inputs, size_t n_inputs,
                             tenon_tensor* const* like, tenon_tensor** out_outputs,
                             size_t n_outputs) {
  clear_outputs(out_outputs, n_outputs);
  auto payload = std::make_shared<Payload>(function.payload, function.destroy);
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    if (!function.function) fail_argument("function.function", "is NULL");
    if (n_outputs > 0) require_pointer(out_outputs, "out_outputs");
    const std::vector<Tensor> given = get_tensors(self, inputs, n_inputs, "inputs");
    const std::vector<Tensor> types = get_tensors(self, like, n_outputs, "like");
    const auto run = [run = function.function, payload, n_outputs](tenon::Scope& in, TensorSpan x) {
      const tenon::CallbackDepth nesting("the callback of host_call");
      std::vector<tenon_tensor*> handles;
      for (const Tensor& each : x) handles.push_back(to_handle(each.get()));
      CallbackOutputs filled(n_outputs);
      tenon_error* error = run(payload->get(), to_handle(&in), handles.data(), handles.size(),
                               filled.out(), n_outputs);
      return Tensors(filled.take(error, "the callback", Entries::kRequired));
    };
    const auto code = std::make_shared<const tenon::HostCode>(tenon::HostCode{run});
    set_outputs(tenon::host_call(self, code, given, types), out_outputs, n_outputs);
  });
}
