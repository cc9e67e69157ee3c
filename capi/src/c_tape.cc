#include <tenon/tape.h>

#include "capi/src/boundary.h"
#include "capi/src/structs.h"
#include "core/autograd/tape.h"
#include "core/dispatch/callback_depth.h"
#include "core/dispatch/dispatch.h"

using namespace tenon::capi;
using tenon::Ref;
using tenon::Source;
using tenon::Tape;
using tenon::Tensor;
using tenon::Tensors;
using tenon::Variable;

namespace {

tenon::GradientOptions to_gradient_options(const tenon_gradient_options* options) {
  constexpr tenon_gradient_options kDefault = TENON_GRADIENT_OPTIONS_DEFAULT;
  const tenon_gradient_options given = read_struct(options, kDefault, "options");
  if (given.unreached != TENON_UNREACHED_ZEROS && given.unreached != TENON_UNREACHED_NULL) {
    fail_argument("options.unreached", "is not a known value");
  }
  return {.unreached_as_null = given.unreached == TENON_UNREACHED_NULL};
}

Tape& get_tape(const tenon::Scope& scope, tenon_tape* tape) {
  Tape& self = get(tape, "tape");
  if (&self.scope() != &scope) fail_argument("tape", "belongs to another scope");
  return self;
}

tenon_value* to_value(const Source& source) {
  if (const auto* variable = std::get_if<Ref<Variable>>(&source)) {
    return reinterpret_cast<tenon_value*>(Ref<Variable>(*variable).leak());
  }
  return reinterpret_cast<tenon_value*>(Tensor(std::get<Tensor>(source)).leak());
}

// Like boundary(), for calls that change a tape. Makes the tape's scope the current scope.
template <class Body>
tenon_error* boundary_of(tenon_tape* handle, Body&& body) {
  return boundary([&] {
    Tape& tape = get(handle, "tape");
    const tenon::Scope::Enter enter(tape.scope());
    body(tape);
  });
}

}  // namespace

tenon_error* tenon_tape_create(tenon_scope* scope, const tenon_tape_options* options,
                               tenon_tape** out_tape) {
  clear_output(out_tape);
  return boundary_in(scope, [&](tenon::Scope& self) {
    constexpr tenon_tape_options kDefault = TENON_TAPE_OPTIONS_DEFAULT;
    require_pointer(out_tape, "out_tape");
    const tenon_tape_options given = read_struct(options, kDefault, "options");
    give(Ref<Tape>::adopt(
             new Tape(Ref<tenon::Scope>::share(&self),
                      {.persistent = given.persistent, .watch_trainable = given.watch_trainable})),
         out_tape);
  });
}

void tenon_tape_retain(tenon_tape* tape) { retain_handle(tape); }

void tenon_tape_release(tenon_tape* tape) { release_handle(tape); }

tenon_error* tenon_tape_watch(tenon_tape* tape, tenon_value* value) {
  return boundary_of(tape, [&](Tape& self) {
    const Source source = get_source(value, "value");
    const auto* variable = std::get_if<Ref<Variable>>(&source);
    const tenon::Context& context = self.scope().context();
    if (!variable) {
      get_tensor(self.scope(), reinterpret_cast<const tenon_tensor*>(value), "value");
    } else if (&(*variable)->context() != &context) {
      fail_argument("value", "belongs to another context than the tape");
    }
    self.watch(source);
  });
}

tenon_error* tenon_tape_pause(tenon_tape* tape) {
  return boundary_of(tape, [](Tape& self) { self.pause(); });
}

tenon_error* tenon_tape_resume(tenon_tape* tape) {
  return boundary_of(tape, [](Tape& self) { self.resume(); });
}

tenon_error* tenon_tape_reset(tenon_tape* tape) {
  return boundary_of(tape, [](Tape& self) { self.reset(); });
}

bool tenon_tape_is_recording(const tenon_tape* tape) {
  const Tape* self = get_or_null(tape);
  return self && self->is_recording();
}

size_t tenon_tape_count_watched(const tenon_tape* tape) {
  size_t n = 0;
  tenon::release_error(boundary([&] { n = get(tape, "tape").watched().size(); }));
  return n;
}

tenon_error* tenon_tape_get_watched(tenon_tape* tape, size_t index, tenon_value** out_value) {
  clear_output(out_value);
  return boundary_of(tape, [&](Tape& self) {
    require_pointer(out_value, "out_value");
    const std::vector<Source> watched = self.watched();
    tenon::require_code(index < watched.size(), tenon::Code::kOutOfRange,
                        "index {} is out of range: the tape watches {} values", index,
                        watched.size());
    *out_value = to_value(watched[index]);
  });
}

tenon_error* tenon_tape_gradient(tenon_scope* scope, tenon_tape* tape, tenon_tensor* const* targets,
                                 size_t n_targets, tenon_tensor* const* cotangents,
                                 tenon_value* const* sources, size_t n_sources,
                                 const tenon_gradient_options* options, tenon_tensor** out_grads) {
  clear_outputs(out_grads, n_sources);
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    Tape& from = get_tape(self, tape);
    const auto keep =
        Ref<Tape>::share(&from);  // Keeps the tape alive: a derivative may release it.
    if (n_sources > 0) require_pointer(out_grads, "out_grads");
    set_outputs(from.gradient(
                    get_tensors(self, targets, n_targets, "targets"),
                    get_tensors(self, cotangents, n_targets, "cotangents", Entries::kNullable),
                    get_sources(self, sources, n_sources, "sources"), to_gradient_options(options)),
                out_grads, n_sources);
  });
}

tenon_error* tenon_tape_jacobian(tenon_scope* scope, tenon_tape* tape, tenon_tensor* target,
                                 tenon_value* const* sources, size_t n_sources,
                                 const tenon_gradient_options* options,
                                 tenon_tensor** out_jacobians) {
  clear_outputs(out_jacobians, n_sources);
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    Tape& from = get_tape(self, tape);
    const auto keep =
        Ref<Tape>::share(&from);  // Keeps the tape alive: a derivative may release it.
    if (n_sources > 0) require_pointer(out_jacobians, "out_jacobians");
    set_outputs(from.jacobian(get_tensor(self, target, "target"),
                              get_sources(self, sources, n_sources, "sources"),
                              to_gradient_options(options)),
                out_jacobians, n_sources);
  });
}

tenon_error* tenon_gradients(tenon_scope* scope, tenon_tensor_function function,
                             tenon_tensor* const* inputs, size_t n_inputs,
                             const tenon_gradient_options* options, tenon_tensor** out_outputs,
                             size_t n_outputs, tenon_tensor** out_grads,
                             tenon_variable_gradients** out_variables) {
  clear_outputs(out_outputs, n_outputs);
  clear_outputs(out_grads, n_inputs);
  clear_output(out_variables);
  const Payload payload(function.payload, function.destroy);
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    if (!function.function) fail_argument("function.function", "is NULL");
    if (n_outputs == 0)
      fail_argument("n_outputs", "must be at least 1, because the first output is differentiated");
    require_pointer(out_outputs, "out_outputs");
    const tenon::GradientOptions how = to_gradient_options(options);
    // The function receives a new handle for each argument. A gradient counts only the uses of its
    // own handle, even if the function captured the same tensor or receives it twice.
    std::vector<Tensor> arguments = get_tensors(self, inputs, n_inputs, "inputs");
    for (Tensor& x : arguments) x = tenon::tracked_alias(self, x);
    std::vector<tenon_tensor*> handles;
    for (const Tensor& x : arguments) handles.push_back(to_handle(x.get()));

    const auto tape =
        Ref<Tape>::adopt(new Tape(Ref<tenon::Scope>::share(&self), tenon::TapeOptions()));
    std::vector<Source> sources;
    for (const Tensor& x : arguments) {
      if (!is_floating(x->type.dtype)) continue;
      tape->watch(x);
      sources.emplace_back(x);
    }
    const tenon::CallbackDepth nesting("the function");
    const auto call = [&] {
      const RestoreLocation keep(self);
      CallbackOutputs filled(n_outputs);
      tenon_error* error = function.function(payload.get(), scope, handles.data(), n_inputs,
                                             filled.out(), n_outputs);
      return filled.take(error, "the function", Entries::kRequired);
    };
    std::vector<Tensor> outputs = call();

    const size_t n_arguments = sources.size();
    for (const Source& source : tape->watched()) {
      if (std::holds_alternative<Ref<Variable>>(source)) sources.push_back(source);
    }
    Tensors found = tape->gradient({&outputs[0], 1}, {}, sources, how);

    auto list = Ref<VariableGradients>::adopt(new VariableGradients);
    for (size_t i = n_arguments; i < sources.size(); ++i) {
      list->variables.push_back(std::get<Ref<Variable>>(sources[i]));
      list->gradients.push_back(std::move(found[i]));
    }
    size_t next = 0;
    for (size_t i = 0; out_grads && i < n_inputs; ++i) {
      if (is_floating(arguments[i]->type.dtype)) out_grads[i] = to_handle(found[next++].leak());
    }
    set_outputs(outputs, out_outputs, n_outputs);
    if (out_variables) give(std::move(list), out_variables);
  });
}

size_t tenon_variable_gradients_count(const tenon_variable_gradients* list) {
  const VariableGradients* self = get_or_null(list);
  return self ? self->variables.size() : 0;
}

tenon_variable* tenon_variable_gradients_variable(const tenon_variable_gradients* list,
                                                  size_t index) {
  const VariableGradients* self = get_or_null(list);
  return self && index < self->variables.size() ? to_handle(self->variables[index].get()) : nullptr;
}

tenon_tensor* tenon_variable_gradients_gradient(const tenon_variable_gradients* list,
                                                size_t index) {
  const VariableGradients* self = get_or_null(list);
  return self && index < self->gradients.size() ? to_handle(self->gradients[index].get()) : nullptr;
}

void tenon_variable_gradients_retain(tenon_variable_gradients* list) { retain_handle(list); }

void tenon_variable_gradients_release(tenon_variable_gradients* list) { release_handle(list); }
