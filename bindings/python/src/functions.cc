// Functions and their traces. tenon/_function.py flattens the arguments. This file takes lists of
// tensors, and static arguments as pairs of a name and a number, string, bool or None.
#include "functions.h"

#include <cstring>
#include <deque>

namespace tenon_python {

namespace {

// The C callback that runs the body of a function, a Python function, while it is traced.
tenon_error* run_body(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                      size_t n_inputs, const tenon_static*, size_t, tenon_tensor** out,
                      size_t max_outputs) {
  return call_python(static_cast<PyObject*>(payload), scope, inputs, n_inputs, out, max_outputs,
                     false);
}

// The constructor of the Python class Function. `relax` is whether sizes that vary become dynamic;
// `memory_budget` limits the bytes of residuals.
void create(Function* self, const std::string& name, nb::handle body, uint32_t max_outputs,
            nb::handle signature, nb::handle defaults, uint32_t max_traces, bool relax,
            uint64_t memory_budget) {
  tenon_function_options options = TENON_FUNCTION_OPTIONS_DEFAULT;
  const Statics c_defaults(defaults);
  InputSpecs specs;
  if (!signature.is_none()) {
    specs.add_all(signature);
    options.signature = specs.data();
    options.n_signature = specs.size();
  }
  options.defaults = c_defaults.data();
  options.n_defaults = c_defaults.size();
  options.max_outputs = max_outputs;
  options.max_traces = max_traces;
  options.relax = relax;
  options.memory_budget_bytes = memory_budget;
  tenon_function* handle = nullptr;
  check(tenon_function_create(tenon_scope_context(scope()), to_c(name),
                              {run_body, body.inc_ref().ptr(), release_payload}, &options,
                              &handle));
  new (self) Function{handle, max_outputs};
}

// Calls a function, and returns its outputs.
nb::list call(Function& self, nb::list inputs, nb::handle statics) {
  const Operands of(inputs);
  const Statics with(statics);
  Results results(self.max_outputs);
  size_t count = 0;
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_function_call(here, self.handle, of.data(), of.size(), with.data(), with.size(),
                               results.data(), results.size(), &count);
  });
  results.resize(count);
  return results.take();
}

// Returns the trace that a call with these inputs would use.
Trace find_trace(Function& self, nb::list inputs, nb::handle statics) {
  const Operands of(inputs);
  const Statics with(statics);
  Trace trace;
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_function_find_trace(here, self.handle, of.data(), of.size(), with.data(),
                                     with.size(), &trace.handle);
  });
  return trace;
}

// Returns the trace for inputs of these types. Traces if there is none.
Trace trace_for(Function& self, nb::handle specs, nb::handle statics) {
  InputSpecs of;
  of.add_all(specs);
  const Statics with(statics);
  Trace trace;
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_function_trace(here, self.handle, of.data(), of.size(), with.data(), with.size(),
                                &trace.handle);
  });
  return trace;
}

// Runs a trace, and returns its outputs.
nb::list call_trace(Trace& self, nb::list inputs) {
  const Operands of(inputs);
  Results results(tenon_trace_count_outputs(self.handle));
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_trace_call(here, self.handle, of.data(), of.size(), results.data(),
                            results.size());
  });
  return results.take();
}

}  // namespace

Statics::Statics(nb::handle pairs) {
  if (pairs.is_none()) return;
  for (nb::handle pair : nb::list(pairs)) {
    tenon_static value;
    std::memset(&value, 0, sizeof value);
    value.name = keep(nb::borrow<nb::str>(pair[0]));
    nb::object given = pair[1];
    if (given.is_none()) {
      value.kind = TENON_STATIC_NONE;
    } else if (nb::isinstance<nb::bool_>(given)) {
      value.kind = TENON_STATIC_BOOL;
      value.int_value = nb::cast<bool>(given);
    } else if (nb::isinstance<nb::int_>(given)) {
      value.kind = TENON_STATIC_INT;
      value.int_value = nb::cast<int64_t>(given);
    } else if (nb::isinstance<nb::float_>(given)) {
      value.kind = TENON_STATIC_FLOAT;
      value.float_value = nb::cast<double>(given);
    } else {
      value.kind = TENON_STATIC_STRING;
      value.string_value = keep(nb::borrow<nb::str>(given));
    }
    values_.push_back(value);
  }
}

// Copies a string into `texts_`, and returns a C string that refers to the copy.
tenon_string Statics::keep(nb::str text) {
  texts_.push_back(nb::cast<std::string>(text));
  return to_c(texts_.back());
}

// Converts the specs in a Python list to C structs, and appends them.
void InputSpecs::add_all(nb::handle specs) {
  for (nb::handle spec : nb::list(specs)) {
    Kept& kept = kept_.emplace_back();
    kept.name = nb::cast<std::string>(spec[0]);
    kept.shape = to_sizes(spec[2]);
    for (nb::handle name : nb::list(spec[3])) kept.texts.push_back(nb::cast<std::string>(name));
    for (const std::string& name : kept.texts) kept.names.push_back(to_c(name));
    tenon_input_spec c;
    std::memset(&c, 0, sizeof c);
    c.name = to_c(kept.name);
    c.dtype = to_dtype(spec[1]);
    c.rank = static_cast<uint32_t>(kept.shape.size());
    c.shape = kept.shape.data();
    c.size_names = kept.names.empty() ? nullptr : kept.names.data();
    c.is_scalar = nb::cast<bool>(spec[4]);
    specs_.push_back(c);
  }
}

// Converts an input spec to the tuple (name, dtype, sizes, size names, whether it is an inline
// scalar).
nb::tuple spec_to_python(const tenon_input_spec& spec) {
  nb::list names;
  for (uint32_t axis = 0; axis < spec.rank; ++axis)
    names.append(spec.size_names ? to_python(spec.size_names[axis]) : nb::str(""));
  return nb::make_tuple(to_python(spec.name), to_python(spec.dtype),
                        sizes_to_python(spec.shape, spec.rank), names, spec.is_scalar);
}

// Converts a static argument to a number, string, bool, None, list or dict.
nb::object static_to_python(const tenon_static& value) {
  switch (value.kind) {
    case TENON_STATIC_NONE:
      return nb::none();
    case TENON_STATIC_BOOL:
      return nb::bool_(value.int_value != 0);
    case TENON_STATIC_INT:
      return nb::int_(value.int_value);
    case TENON_STATIC_FLOAT:
      return nb::float_(value.float_value);
    case TENON_STATIC_LIST: {
      nb::list items;
      for (uint32_t i = 0; i < value.n_items; ++i) items.append(static_to_python(value.items[i]));
      return items;
    }
    case TENON_STATIC_MAP: {
      nb::dict items;
      for (uint32_t i = 0; i < value.n_items; ++i)
        items[to_python(value.items[i].name)] = static_to_python(value.items[i]);
      return items;
    }
    default:
      return to_python(value.string_value);
  }
}

// Adds the classes of functions and traces to the module tenon._native.
void define_functions(nb::module_& module) {
  nb::class_<Trace>(module, "Trace")
      .def("call", &call_trace)
      .def_prop_ro("pointer", [](Trace& self) { return reinterpret_cast<uintptr_t>(self.handle); })
      .def_prop_ro("n_inputs", [](Trace& self) { return tenon_trace_count_inputs(self.handle); })
      .def_prop_ro("n_outputs", [](Trace& self) { return tenon_trace_count_outputs(self.handle); })
      .def("text",
           [](Trace& self) {
             tenon_string text;
             check(tenon_trace_text(self.handle, &text));
             return take_text(text);
           })
      .def("stages",
           [](Trace& self) {
             tenon_string text;
             check(tenon_trace_stages(self.handle, &text));
             return take_text(text);
           })
      .def("variables",
           [](Trace& self) {
             nb::list result;
             for (size_t i = 0; i < tenon_trace_count_variables(self.handle); ++i)
               result.append(wrap_variable(tenon_trace_variable(self.handle, i)));
             return result;
           })
      .def("effects", [](Trace& self) {
        nb::list result;
        for (size_t i = 0; i < tenon_trace_count_effects(self.handle); ++i)
          result.append(to_python(tenon_trace_effect(self.handle, i)));
        return result;
      });
  nb::class_<Function>(module, "Function")
      .def("__init__", &create, nb::arg("name"), nb::arg("body"), nb::arg("max_outputs"),
           nb::arg("signature").none(), nb::arg("defaults").none(), nb::arg("max_traces"),
           nb::arg("relax"), nb::arg("memory_budget"))
      .def("call", &call, nb::arg("inputs"), nb::arg("statics").none())
      .def("find_trace", &find_trace, nb::arg("inputs"), nb::arg("statics").none())
      .def("trace", &trace_for, nb::arg("specs"), nb::arg("statics").none())
      .def_prop_ro("trace_count",
                   [](Function& self) { return tenon_function_count_traces(self.handle); })
      .def("get_trace",
           [](Function& self, size_t index) {
             Trace trace;
             check(tenon_function_get_trace(self.handle, index, &trace.handle));
             return trace;
           })
      .def("explain",
           [](Function& self) {
             tenon_string text;
             check(tenon_function_explain(self.handle, &text));
             return take_text(text);
           })
      .def("gradient", [](Function& self) {
        tenon_function* gradient = nullptr;
        check(tenon_function_gradient(self.handle, &gradient));
        return Function(gradient, self.max_outputs);
      });
}

}  // namespace tenon_python
