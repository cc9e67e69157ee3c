#include <tenon/introspect.h>

#include "capi/src/boundary.h"
#include "capi/src/c_attrs.h"
#include "core/device/plugin_library.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/explain.h"
#include "core/io/onnx/describe.h"
#include "core/io/onnx/run.h"
#include "core/ops/definition/registry.h"
#include "core/trace/inspect.h"

using namespace tenon::capi;
using tenon::OpDef;
using tenon::TensorType;

static std::string_view to_bytes_view(const void* data, size_t size) {
  require_pointer(data, "data");
  return {static_cast<const char*>(data), size};
}

size_t tenon_op_count(void) { return tenon::all_ops().size(); }

uint32_t tenon_op_at(size_t index) {
  const auto ops = tenon::all_ops();
  return index < ops.size() ? ops[index].id : 0;
}

tenon_error* tenon_op_infer(tenon_scope* scope, uint32_t op, const void* attrs,
                            const tenon_type* inputs, size_t n_inputs, tenon_type* out_types,
                            size_t n_types, size_t* out_count) {
  clear_outputs(out_types, n_types);
  clear_output(out_count);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_count, "out_count");
    if (n_inputs > 0) require_pointer(inputs, "inputs");
    if (n_types > 0) require_pointer(out_types, "out_types");
    const OpDef& found = find_op(self.context(), op);
    std::vector<TensorType> types(n_inputs);
    std::vector<const TensorType*> pointers;
    for (size_t i = 0; i < n_inputs; ++i) {
      if (inputs[i].dtype != TENON_DTYPE_NONE) {
        types[i] = get_type(inputs[i].dtype, inputs[i].shape, inputs[i].rank);
      }
      pointers.push_back(&types[i]);
    }
    const CallAttrs given(found, attrs);
    const tenon::TensorTypes outputs =
        tenon::infer_types(found, given.view(), {pointers.data(), pointers.size()});
    for (size_t i = 0; i < std::min(n_types, outputs.size()); ++i) {
      out_types[i].dtype = tenon::to_c(outputs[i].dtype);
      out_types[i].rank = static_cast<uint32_t>(outputs[i].rank());
      std::copy(outputs[i].shape.begin(), outputs[i].shape.end(), out_types[i].shape);
    }
    *out_count = outputs.size();
  });
}

tenon_error* tenon_explain(tenon_scope* scope, uint32_t op, const void* attrs,
                           tenon_tensor* const* inputs, size_t n_inputs, tenon_string* out_text) {
  clear_output(out_text);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_text, "out_text");
    const OpDef& found = find_op(self.context(), op);
    const auto tensors = get_tensors(self, inputs, n_inputs, "inputs", Entries::kNullable);
    std::vector<tenon::TensorImpl*> borrowed;
    for (const auto& x : tensors) borrowed.push_back(x.get());
    const CallAttrs given(found, attrs);
    *out_text = copy_text(tenon::explain(self, found, given.view(), borrowed));
  });
}

tenon_error* tenon_introspect_trace(tenon_scope* scope, tenon_trace* trace,
                                    const tenon_type* inputs, size_t n_inputs,
                                    tenon_string* out_text) {
  clear_output(out_text);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_text, "out_text");
    const tenon::Trace& given = get(trace, "trace");
    if (&given.context() != &self.context()) {
      fail_argument("trace", "belongs to another context than the scope");
    }
    if (n_inputs > 0) require_pointer(inputs, "inputs");
    std::vector<TensorType> types;
    for (size_t i = 0; i < n_inputs; ++i) {
      types.push_back(get_type(inputs[i].dtype, inputs[i].shape, inputs[i].rank));
      if (i < given.n_arguments()) types[i].weak = given.argument_type(i).weak;
    }
    *out_text = copy_text(tenon::inspect(self, given, types));
  });
}

const tenon_host* tenon_host_table(void) { return &tenon::host_table(); }

tenon_error* tenon_context_add_plugin(tenon_context* context, tenon_string name,
                                      tenon_plugin_query query) {
  return boundary([&] {
    tenon::Context& self = get(context, "context");
    tenon::require(query != nullptr, "query is NULL");
    self.add_plugin(get_text(name, "name"), query);
  });
}

tenon_error* tenon_introspect_onnx_describe(const void* data, size_t size, tenon_string* out_text) {
  clear_output(out_text);
  return boundary([&] {
    require_pointer(out_text, "out_text");
    const auto model = tenon::onnx::parse_model(to_bytes_view(data, size));
    *out_text = copy_text(tenon::onnx::describe(model));
  });
}

tenon_error* tenon_introspect_onnx_run(tenon_scope* scope, const void* data, size_t size,
                                       tenon_tensor* const* inputs, size_t n_inputs,
                                       tenon_tensor** out_outputs, size_t n_outputs) {
  clear_outputs(out_outputs, n_outputs);
  return boundary_in(scope, [&](tenon::Scope& self) {
    if (n_outputs > 0) require_pointer(out_outputs, "out_outputs");
    const auto model = tenon::onnx::parse_model(to_bytes_view(data, size));
    tenon::require(n_outputs <= model.graph.outputs.size(),
                   "{} outputs were requested, but the model has {}", n_outputs,
                   model.graph.outputs.size());
    const auto tensors = get_tensors(self, inputs, n_inputs, "inputs");
    set_outputs(tenon::onnx::run_onnx(model, tensors), out_outputs, n_outputs);
  });
}

tenon_error* tenon_introspect_onnx_tensor(tenon_scope* scope, const void* data, size_t size,
                                          tenon_tensor** out_tensor) {
  clear_output(out_tensor);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_tensor, "out_tensor");
    const tenon::onnx::WireReader fields(to_bytes_view(data, size));
    give(upload(self, self.device(), tenon::onnx::read_tensor_data(fields)), out_tensor);
  });
}
