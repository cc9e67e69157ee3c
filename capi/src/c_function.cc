#include <tenon/function.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "capi/src/boundary.h"
#include "capi/src/structs.h"
#include "core/dispatch/dispatch.h"
#include "core/trace/graph/text_form.h"
#include "core/trace/stages.h"
#include "core/trace/statics.h"

using namespace tenon::capi;
using tenon::Function;
using tenon::InputSpec;
using tenon::OwnedStatics;
using tenon::Ref;
using tenon::StaticArguments;
using tenon::Statics;
using tenon::Tensor;
using tenon::Tensors;
using tenon::TensorSpan;
using tenon::Trace;

namespace {

// Converts element `i` of the caller's array `specs`. Throws if it is invalid.
InputSpec read_spec(const tenon_input_spec& given, size_t i) {
  InputSpec spec;
  spec.name = get_text(given.name, "a spec's name");
  if (given.is_scalar && given.rank > 0) {
    fail_argument("specs", tenon::format("[{}] is a scalar, which cannot have axes", {i}));
  }
  std::vector<int64_t> numbers(given.rank, 1);
  for (uint32_t axis = 0; axis < given.rank; ++axis) {
    require_pointer(given.shape, "a spec's shape");
    const int64_t size = given.shape[axis];
    const bool unknown = size == TENON_SIZE_UNKNOWN;
    if (!unknown) numbers[axis] = size;
    spec.sizes.push_back(unknown ? InputSpec::kUnknown : size);
    std::string_view name;
    if (unknown && given.size_names) name = get_text(given.size_names[axis], "a size's name");
    const bool is_word = std::all_of(name.begin(), name.end(),
                                     [](unsigned char c) { return std::isalnum(c) || c == '_'; });
    if (!is_word || (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0])))) {
      fail_argument(
          "specs",
          tenon::format("[{}] has a size named \"{}\", which is not an identifier", {i, name}));
    }
    spec.dim_names.emplace_back(name);
  }
  spec.dtype = get_type(given.dtype, numbers.data(), numbers.size()).dtype;
  spec.weak = given.is_scalar;
  const bool fits = spec.dtype == tenon::DType::kF32 || spec.dtype == tenon::DType::kI64 ||
                    spec.dtype == tenon::DType::kBool;
  if (spec.weak && !fits) {
    fail_argument("specs", tenon::format("[{}] is a scalar of {}, but scalars are f32, i64 or bool",
                                         {i, spec.dtype}));
  }
  return spec;
}

std::vector<InputSpec> read_specs(const tenon_input_spec* given, size_t n) {
  if (n > 0) require_pointer(given, "specs");
  std::vector<InputSpec> specs;
  for (size_t i = 0; i < n; ++i) specs.push_back(read_spec(given[i], i));
  return specs;
}

// The user's callback and its payload. The body of the function owns it.
struct Code {
  Code(std::string_view name, const tenon_function_body& body, Payload payload,
       const tenon_function_options& options)
      : name("function " + std::string(name)),
        function(body.function),
        payload(std::move(payload)),
        max_outputs(options.max_outputs) {}

  std::string name;  // For error messages.

  decltype(tenon_function_body::function) function;
  Payload payload;
  size_t max_outputs;
};

// Copies the default values of static arguments, so that the caller may free its own.
std::shared_ptr<const OwnedStatics> copy_defaults(const tenon_function_options& options) {
  // Invalid defaults are rejected when the function is created, not at each call.
  auto kept = std::make_shared<const OwnedStatics>(options.defaults, options.n_defaults);
  for (const tenon_static& value : kept->all()) {
    if (value.name.size == 0) fail_argument("options.defaults", "has an entry without a name");
  }
  return kept;
}

// Runs the user's body once, eagerly or while tracing.
Tensors run_user_body(const Code& code, tenon::Scope& scope, TensorSpan inputs,
                      const Statics& statics) {
  const RestoreLocation keep(scope);
  std::vector<tenon_tensor*> handles;
  for (const Tensor& x : inputs) handles.push_back(to_handle(x.get()));
  const std::vector<tenon_static>& given = *statics.all;
  CallbackOutputs filled(code.max_outputs);
  tenon_error* error =
      code.function(code.payload.get(), to_handle(&scope), handles.data(), handles.size(),
                    given.data(), given.size(), filled.out(), code.max_outputs);
  return filled.take_leading_outputs(error, code.name.c_str());
}

Function& get_function(const tenon::Scope& scope, const tenon_function* handle) {
  Function& function = get(handle, "function");
  if (&function.context() != &scope.context()) {
    fail_argument("function", "belongs to another context than the scope");
  }
  return function;
}

}  // namespace

tenon_error* tenon_function_create(tenon_context* context, tenon_string name,
                                   tenon_function_body body, const tenon_function_options* options,
                                   tenon_function** out_function) {
  clear_output(out_function);
  Payload payload(body.payload, body.destroy);
  return boundary([&] {
    constexpr tenon_function_options kDefault = TENON_FUNCTION_OPTIONS_DEFAULT;
    require_pointer(out_function, "out_function");
    tenon::Context& self = get(context, "context");
    if (!body.function) fail_argument("body.function", "is NULL");
    const tenon_function_options given = read_struct(options, kDefault, "options");
    if (given.max_outputs > 4096) fail_argument("options.max_outputs", "must be at most 4096");
    tenon::FunctionOptions how;
    how.has_signature = given.signature != nullptr;
    how.signature = read_specs(given.signature, given.signature ? given.n_signature : 0);
    how.relax = given.relax;
    how.memory_budget = given.memory_budget_bytes;
    how.max_traces = given.max_traces;
    how.defaults = copy_defaults(given);
    const std::string_view text = get_text(name, "name");
    const auto code = std::make_shared<const Code>(text, body, std::move(payload), given);
    give(Ref<Function>::adopt(new Function(
             self, std::string(text),
             [code](tenon::Scope& scope, TensorSpan inputs, const Statics& statics) {
               return run_user_body(*code, scope, inputs, statics);
             },
             std::move(how))),
         out_function);
  });
}

void tenon_function_retain(tenon_function* function) { retain_handle(function); }

void tenon_function_release(tenon_function* function) { release_handle(function); }

tenon_error* tenon_function_call(tenon_scope* scope, tenon_function* function,
                                 tenon_tensor* const* inputs, size_t n_inputs,
                                 const tenon_static* statics, size_t n_statics,
                                 tenon_tensor** out_outputs, size_t n_outputs, size_t* out_count) {
  clear_outputs(out_outputs, n_outputs);
  clear_output(out_count);
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    Function& callee = get_function(self, function);
    const auto keep = Ref<Function>::share(&callee);
    if (n_outputs > 0) require_pointer(out_outputs, "out_outputs");
    const StaticArguments given(statics, n_statics, callee.defaults());
    Arguments arguments(self, inputs, n_inputs);
    Tensors outputs = callee.call(self, arguments.tensors(), given.view(),
                                  {.least = out_count ? 0 : n_outputs, .most = n_outputs});
    arguments.consume_donations();
    set_outputs(outputs, out_outputs, outputs.size());
    if (out_count) *out_count = outputs.size();
  });
}

tenon_error* tenon_function_find_trace(tenon_scope* scope, tenon_function* function,
                                       tenon_tensor* const* inputs, size_t n_inputs,
                                       const tenon_static* statics, size_t n_statics,
                                       tenon_trace** out_trace) {
  clear_output(out_trace);
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    Function& callee = get_function(self, function);
    const auto keep = Ref<Function>::share(&callee);
    require_pointer(out_trace, "out_trace");
    const StaticArguments given(statics, n_statics, callee.defaults());
    give(callee.bind(self, get_tensors(self, inputs, n_inputs, "inputs"), given.view()).trace,
         out_trace);
  });
}

tenon_error* tenon_function_trace(tenon_scope* scope, tenon_function* function,
                                  const tenon_input_spec* specs, size_t n_specs,
                                  const tenon_static* statics, size_t n_statics,
                                  tenon_trace** out_trace) {
  clear_output(out_trace);
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    Function& callee = get_function(self, function);
    const auto keep = Ref<Function>::share(&callee);
    require_pointer(out_trace, "out_trace");
    const StaticArguments given(statics, n_statics, callee.defaults());
    give(callee.trace(self, read_specs(specs, n_specs), given.view()), out_trace);
  });
}

tenon_error* tenon_function_gradient(tenon_function* function, tenon_function** out_gradient) {
  clear_output(out_gradient);
  return boundary([&] {
    require_pointer(out_gradient, "out_gradient");
    give(get(function, "function").gradient(), out_gradient);
  });
}

bool tenon_scope_is_tracing(const tenon_scope* scope) {
  const tenon::Scope* self = get_or_null(scope);
  return self && self->traced_cells();
}

void tenon_context_run_functions_eagerly(tenon_context* context, bool eagerly) {
  if (tenon::Context* self = get_or_null(context)) self->run_functions_eagerly(eagerly);
}

size_t tenon_function_count_traces(const tenon_function* function) {
  const Function* self = get_or_null(function);
  return self ? self->traces().size() : 0;
}

tenon_error* tenon_function_get_trace(tenon_function* function, size_t index,
                                      tenon_trace** out_trace) {
  clear_output(out_trace);
  return boundary([&] {
    require_pointer(out_trace, "out_trace");
    const std::vector<Ref<Trace>> all = get(function, "function").traces();
    tenon::require_code(index < all.size(), tenon::Code::kOutOfRange,
                        "there are {} traces, but no trace {}", all.size(), index);
    give(all[index], out_trace);
  });
}

tenon_error* tenon_function_explain(tenon_function* function, tenon_string* out_text) {
  clear_output(out_text);
  return boundary([&] {
    require_pointer(out_text, "out_text");
    *out_text = copy_text(get(function, "function").explain());
  });
}

void tenon_trace_retain(tenon_trace* trace) { retain_handle(trace); }

void tenon_trace_release(tenon_trace* trace) { release_handle(trace); }

tenon_error* tenon_trace_call(tenon_scope* scope, tenon_trace* trace, tenon_tensor* const* inputs,
                              size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  clear_outputs(out_outputs, n_outputs);
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    Trace& callee = get(trace, "trace");
    const auto keep = Ref<Trace>::share(&callee);
    if (&callee.context() != &self.context()) {
      fail_argument("trace", "belongs to another context than the scope");
    }
    if (n_outputs > 0) require_pointer(out_outputs, "out_outputs");
    tenon::require(n_outputs == callee.n_outputs(),
                   "the trace has {} outputs, but {} were requested", callee.n_outputs(),
                   n_outputs);
    Arguments arguments(self, inputs, n_inputs);
    const std::optional<tenon::Sizes> sizes = callee.sizes_for(arguments.tensors());
    if (!sizes) {
      std::string types;
      for (const Tensor& x : arguments.tensors()) {
        types += (types.empty() ? "" : ", ") + tenon::to_string(x->type);
      }
      tenon::fail(tenon::Code::kInvalidArgument, "the trace accepts {}, but the inputs are ({})",
                  {signature_text(callee.graph()), types});
    }
    Tensors outputs = callee.call(self, arguments.tensors(), *sizes);
    arguments.consume_donations();
    set_outputs(outputs, out_outputs, n_outputs);
  });
}

size_t tenon_trace_count_inputs(const tenon_trace* trace) {
  const Trace* self = get_or_null(trace);
  return self ? self->n_arguments() : 0;
}

size_t tenon_trace_count_outputs(const tenon_trace* trace) {
  const Trace* self = get_or_null(trace);
  return self ? self->n_outputs() : 0;
}

tenon_error* tenon_trace_text(tenon_trace* trace, tenon_string* out_text) {
  clear_output(out_text);
  return boundary([&] {
    require_pointer(out_text, "out_text");
    *out_text = copy_text(to_text(get(trace, "trace").graph()));
  });
}

tenon_error* tenon_trace_stages(tenon_trace* trace, tenon_string* out_text) {
  clear_output(out_text);
  return boundary([&] {
    require_pointer(out_text, "out_text");
    *out_text = copy_text(tenon::stages(get(trace, "trace")));
  });
}

size_t tenon_trace_count_variables(const tenon_trace* trace) {
  const Trace* self = get_or_null(trace);
  return self ? self->variables().size() : 0;
}

tenon_variable* tenon_trace_variable(const tenon_trace* trace, size_t index) {
  const Trace* self = get_or_null(trace);
  if (!self || index >= self->variables().size()) return nullptr;
  return to_handle(self->variables()[index]);
}

size_t tenon_trace_count_effects(const tenon_trace* trace) {
  const Trace* self = get_or_null(trace);
  return self ? self->effects().size() : 0;
}

tenon_string tenon_trace_effect(const tenon_trace* trace, size_t index) {
  const Trace* self = get_or_null(trace);
  const auto effects = self ? self->effects() : std::vector<const tenon::OpDef*>();
  return index < effects.size() ? borrow_text(effects[index]->name) : tenon_str("");
}
