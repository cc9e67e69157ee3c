// Variables and generators.
#include "call.h"

namespace tenon_python {

namespace {

struct Variable {
  tenon_variable* handle = nullptr;
  ~Variable() { tenon_variable_release(handle); }
};

struct Generator {
  tenon_generator* handle = nullptr;
  ~Generator() { tenon_generator_release(handle); }
};

PyTypeObject* variable_type = nullptr;

// Sets `operand` to a Python value, and returns its tensor handle. Throws if the value cannot be
// converted. `weak_numbers`: as in Operand::set().
tenon_tensor* operand_of(Operand& operand, nb::handle value, bool weak_numbers) {
  if (!operand.set(value.ptr(), weak_numbers)) nb::raise_python_error();
  return operand.handle;
}

// The constructor of the Python class of variables.
void create_variable(Variable* self, nb::handle initial, bool trainable, const std::string& name) {
  Operand operand;
  operand_of(operand, initial, false);
  tenon_variable_options options = TENON_VARIABLE_OPTIONS_DEFAULT;
  options.trainable = trainable;
  options.name = to_c(name);
  tenon_variable* handle = nullptr;
  check(tenon_variable_create(scope(), operand.handle, &options, &handle));
  new (self) Variable{handle};
}

// Calls the random op of this name with the generator's state.
nb::object call_random(Generator& self, const std::string& name, nb::args arguments,
                       nb::kwargs keywords) {
  const Op* found = nullptr;
  for (size_t i = 0; i < kOpCount; ++i)
    if (name == kOps[i].name && kOps[i].state >= 0) found = &kOps[i];
  if (!found) throw nb::value_error("no random op has this name");
  std::vector<PyObject*> values;
  for (nb::handle value : arguments) values.push_back(value.ptr());
  nb::list names;
  for (auto [key, value] : keywords) {
    names.append(key);
    values.push_back(value.ptr());
  }
  nb::tuple keyword_names(names);
  PyObject* result =
      call_op(*found, nullptr, values.data(), static_cast<Py_ssize_t>(nb::len(arguments)),
              nb::len(keywords) ? keyword_names.ptr() : nullptr, self.handle);
  if (!result) nb::raise_python_error();
  return nb::steal(result);
}

// Runs a C call without the GIL, and returns the tensor that it creates.
template <typename Draw>
nb::object draw(Draw&& call) {
  tenon_tensor* result = nullptr;
  run_blocking([&] { return call(&result); });
  return take(result);
}

// Adds the class of variables to the module tenon._native.
void define_variables(nb::module_& module) {
  static std::vector<PyType_Slot> slots = {
      {Py_tp_hash, reinterpret_cast<void*>(+[](PyObject* self) -> Py_hash_t {
         return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self) >> 4);
       })}};
  add_operators(slots);
  slots.push_back({0, nullptr});
  nb::class_<Variable> type(module, "Variable", nb::type_slots(slots.data()),
                            nb::is_weak_referenceable());
  type.def("__init__", &create_variable, nb::arg("initial"), nb::arg("trainable"), nb::arg("name"))
      .def("read",
           [](Variable& self) {
             tenon_tensor* result = nullptr;
             check(tenon_variable_read(scope(), self.handle, &result));
             return take(result);
           })
      .def("_assign",
           [](Variable& self, nb::handle value) {
             Operand operand;
             operand_of(operand, value, true);
             tenon_scope* here = scope();
             run_blocking([&] { return tenon_variable_assign(here, self.handle, operand.handle); });
           })
      .def_prop_ro("_pointer",
                   [](Variable& self) { return reinterpret_cast<uintptr_t>(self.handle); })
      .def_prop_ro("dtype",
                   [](Variable& self) { return to_python(tenon_variable_dtype(self.handle)); })
      .def_prop_ro("ndim", [](Variable& self) { return tenon_variable_rank(self.handle); })
      .def_prop_ro("shape",
                   [](Variable& self) {
                     return sizes_to_python(tenon_variable_shape(self.handle),
                                            tenon_variable_rank(self.handle));
                   })
      .def_prop_ro("name",
                   [](Variable& self) { return to_python(tenon_variable_name(self.handle)); })
      .def_prop_ro(
          "device",
          [](Variable& self) { return to_python(tenon_variable_device_name(self.handle)); })
      .def_prop_rw(
          "trainable", [](Variable& self) { return tenon_variable_is_trainable(self.handle); },
          [](Variable& self, bool trainable) {
            tenon_variable_set_trainable(self.handle, trainable);
          })
      .def_static("_adopt", [](nb::handle object, uintptr_t pointer) {
        auto* handle = reinterpret_cast<tenon_variable*>(pointer);
        tenon_variable_retain(handle);
        new (nb::inst_ptr<Variable>(object)) Variable{handle};
        nb::inst_mark_ready(object);
      });
  variable_type = reinterpret_cast<PyTypeObject*>(type.ptr());
}

// Adds the class of random number generators to the module tenon._native.
void define_generators(nb::module_& module) {
  nb::class_<Generator>(module, "Generator")
      .def("__init__",
           [](Generator* self, uint64_t seed) {
             tenon_generator* handle = nullptr;
             tenon_scope* here = scope();
             run_blocking([&] { return tenon_generator_create(here, seed, &handle); });
             new (self) Generator{handle};
           })
      .def("seed",
           [](Generator& self, uint64_t seed) {
             tenon_scope* here = scope();
             run_blocking([&] { return tenon_generator_seed(here, self.handle, seed); });
           })
      .def("read",
           [](Generator& self) {
             return draw([&, here = scope()](tenon_tensor** out) {
               return tenon_generator_read(here, self.handle, out);
             });
           })
      .def(
          "assign",
          [](Generator& self, nb::handle state) {
            Operand operand;
            operand_of(operand, state, true);
            tenon_scope* here = scope();
            run_blocking([&] { return tenon_generator_assign(here, self.handle, operand.handle); });
          })
      .def("uniform",
           [](Generator& self, nb::handle dtype, nb::handle shape, double low, double high) {
             const std::vector<int64_t> sizes = to_sizes(shape);
             const tenon_dtype code = to_dtype(dtype);
             return draw([&, here = scope()](tenon_tensor** out) {
               return tenon_generator_uniform(here, self.handle, code, sizes.data(), sizes.size(),
                                              low, high, out);
             });
           })
      .def("normal",
           [](Generator& self, nb::handle dtype, nb::handle shape, double mean, double scale) {
             const std::vector<int64_t> sizes = to_sizes(shape);
             const tenon_dtype code = to_dtype(dtype);
             return draw([&, here = scope()](tenon_tensor** out) {
               return tenon_generator_normal(here, self.handle, code, sizes.data(), sizes.size(),
                                             mean, scale, out);
             });
           })
      .def("call", &call_random);
}

}  // namespace

// Returns the C variable that a Python object wraps; nullptr if the object is not a variable.
tenon_variable* variable_of(PyObject* object) {
  if (!PyObject_TypeCheck(object, variable_type)) return nullptr;
  return nb::inst_ptr<Variable>(object)->handle;
}

// Returns the tenon_value of a Python Tensor or Variable. Throws for other objects.
tenon_value* value_of(nb::handle object) {
  if (is_tensor(object.ptr())) return tenon_tensor_as_value(as_tensor(object.ptr())->handle);
  if (tenon_variable* variable = variable_of(object.ptr()))
    return tenon_variable_as_value(variable);
  throw nb::type_error("a source of gradients must be a Tensor or a Variable");
}

// Returns the Python object that wraps a C variable. Creates the object if none exists.
nb::object wrap_variable(tenon_variable* borrowed) {
  return nb::module_::import_("tenon._variables")
      .attr("_of")(reinterpret_cast<uintptr_t>(borrowed));
}

// Adds the classes of variables and of random number generators to the module tenon._native.
void define_state(nb::module_& module) {
  define_variables(module);
  define_generators(module);
}

}  // namespace tenon_python
