// Tapes, gradients of functions, and custom gradients.
#include <mutex>

#include "native.h"

namespace tenon_python {

namespace {

// A tape may be released only while no other thread uses its scope. If Python's collector frees a
// tape on another thread, the tape waits in `orphans` until the next call on its scope's thread.
std::mutex orphans_lock;
std::vector<std::pair<tenon_scope*, tenon_tape*>>* orphans =
    new std::vector<std::pair<tenon_scope*, tenon_tape*>>;

// Releases the tapes of the scope `here` that Python's collector freed on other threads.
void release_orphans(tenon_scope* here) {
  std::vector<tenon_tape*> mine;
  {
    const std::lock_guard lock(orphans_lock);
    std::erase_if(*orphans, [&](const auto& orphan) {
      if (orphan.first != here) return false;
      mine.push_back(orphan.second);
      return true;
    });
  }
  for (tenon_tape* tape : mine) tenon_tape_release(tape);
}

struct Tape {
  tenon_tape* handle = nullptr;
  tenon_scope* scope = nullptr;
  ~Tape() {
    if (scope == current.scope) {
      tenon_tape_release(handle);
    } else {
      const std::lock_guard lock(orphans_lock);
      orphans->emplace_back(scope, handle);
    }
  }
};

// Returns the options of a gradient call. If a target does not depend on a source, the gradient is
// zeros if `zeros` is true, and None otherwise.
tenon_gradient_options make_gradient_options(bool zeros) {
  tenon_gradient_options options = TENON_GRADIENT_OPTIONS_DEFAULT;
  options.unreached = zeros ? TENON_UNREACHED_ZEROS : TENON_UNREACHED_NULL;
  return options;
}

// Returns the C handles of a Python list of tensors and variables.
std::vector<tenon_value*> values_of(nb::handle sources) {
  std::vector<tenon_value*> values;
  for (nb::handle source : nb::list(sources)) values.push_back(value_of(source));
  return values;
}

// Returns the tensor or variable of a C value, and releases the value.
nb::object wrap_value(tenon_value* owned) {
  struct Owner {
    tenon_value* value;
    ~Owner() { tenon_value_release(value); }
  } const owner{owned};
  if (tenon_variable* variable = tenon_value_as_variable(owned)) return wrap_variable(variable);
  tenon_tensor* tensor = tenon_value_as_tensor(owned);
  tenon_tensor_retain(tensor);
  return take(tensor);
}

// Returns the gradients of the targets, weighted by the cotangents, with respect to each source.
nb::list gradient(Tape& self, nb::list targets, nb::object cotangents, nb::list sources,
                  bool zeros) {
  const Operands of(targets);
  const Operands with(cotangents.is_none() ? nb::list() : nb::list(cotangents), true, true);
  const std::vector<tenon_value*> values = values_of(sources);
  const tenon_gradient_options options = make_gradient_options(zeros);
  Results results(values.size());
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_tape_gradient(here, self.handle, of.data(), of.size(),
                               cotangents.is_none() ? nullptr : with.data(), values.data(),
                               values.size(), &options, results.data());
  });
  return results.take();
}

// Returns the derivatives of all elements of the target with respect to each source.
nb::list jacobian(Tape& self, nb::handle target, nb::list sources, bool zeros) {
  Operand of;
  if (!of.set(target.ptr())) nb::raise_python_error();
  const std::vector<tenon_value*> values = values_of(sources);
  const tenon_gradient_options options = make_gradient_options(zeros);
  Results results(values.size());
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_tape_jacobian(here, self.handle, of.handle, values.data(), values.size(), &options,
                               results.data());
  });
  return results.take();
}

// Calls a function, and returns its outputs, the gradients with respect to the inputs, and pairs of
// a variable and the gradient with respect to it.
nb::tuple gradients(nb::handle function, nb::list inputs, size_t n_outputs, bool zeros) {
  const Operands of(inputs, false);
  const tenon_gradient_options options = make_gradient_options(zeros);
  Results outputs(n_outputs), grads(of.size());
  tenon_variable_gradients* list = nullptr;
  tenon_scope* here = scope();
  const tenon_tensor_function body = tensor_function_of(function);
  run_blocking([&] {
    return tenon_gradients(here, body, of.data(), of.size(), &options, outputs.data(), n_outputs,
                           grads.data(), &list);
  });
  nb::list variables;
  for (size_t i = 0; i < tenon_variable_gradients_count(list); ++i) {
    tenon_tensor* gradient = tenon_variable_gradients_gradient(list, i);
    tenon_tensor_retain(gradient);
    variables.append(nb::make_tuple(wrap_variable(tenon_variable_gradients_variable(list, i)),
                                    take_or_none(gradient)));
  }
  tenon_variable_gradients_release(list);
  return nb::make_tuple(outputs.take(), grads.take(), variables);
}

// Calls `forward`, whose gradient `backward` computes, and returns its outputs.
nb::list custom_gradient(nb::handle forward, nb::list inputs, nb::handle backward,
                         size_t n_outputs) {
  const Operands of(inputs, false);
  Results results(n_outputs);
  tenon_scope* here = scope();
  const tenon_tensor_function c_forward = tensor_function_of(forward);
  const tenon_backward_function c_backward = backward_of(backward);
  run_blocking([&] {
    return tenon_custom_gradient(here, c_forward, of.data(), of.size(), c_backward, results.data(),
                                 n_outputs);
  });
  return results.take();
}

}  // namespace

// Adds the class of tapes and the functions that compute gradients to the module tenon._native.
void define_gradients(nb::module_& module) {
  nb::class_<Tape>(module, "Tape")
      .def("__init__",
           [](Tape* self, bool persistent, bool watch_trainable) {
             tenon_tape_options options = TENON_TAPE_OPTIONS_DEFAULT;
             options.persistent = persistent;
             options.watch_trainable = watch_trainable;
             tenon_tape* handle = nullptr;
             tenon_scope* here = scope();
             release_orphans(here);
             check(tenon_tape_create(here, &options, &handle));
             new (self) Tape{handle, here};
           })
      .def("watch", [](Tape& self,
                       nb::handle value) { check(tenon_tape_watch(self.handle, value_of(value))); })
      .def("pause", [](Tape& self) { check(tenon_tape_pause(self.handle)); })
      .def("resume", [](Tape& self) { check(tenon_tape_resume(self.handle)); })
      .def("reset", [](Tape& self) { check(tenon_tape_reset(self.handle)); })
      .def_prop_ro("is_recording", [](Tape& self) { return tenon_tape_is_recording(self.handle); })
      .def("watched",
           [](Tape& self) {
             nb::list result;
             for (size_t i = 0; i < tenon_tape_count_watched(self.handle); ++i) {
               tenon_value* value = nullptr;
               check(tenon_tape_get_watched(self.handle, i, &value));
               result.append(wrap_value(value));
             }
             return result;
           })
      .def("gradient", &gradient, nb::arg("targets"), nb::arg("cotangents").none(),
           nb::arg("sources"), nb::arg("zeros"))
      .def("jacobian", &jacobian);
  module.def("gradients", &gradients);
  module.def("custom_gradient", &custom_gradient);
}

}  // namespace tenon_python
