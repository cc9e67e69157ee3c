// Calls of ops: converts Python arguments as the generated table describes, and calls tenon_call.
#include "call.h"

#include <cstring>

namespace tenon_python {

namespace {

// Tensors that a call passes for its size attributes.
struct SizeTensors {
  nb::object objects[4];
  Operand operands[4];
  tenon_size_argument arguments[4];
  size_t count = 0;
};

// The attribute struct of a call, and the arrays that it points to.
struct Attributes {
  alignas(8) unsigned char bytes[kMaxAttributesSize];
  std::vector<std::vector<int64_t>> lists;
  std::vector<nb::object> texts;
};

// Sets a TypeError that names the op, and returns false.
bool type_error(const Op& op, const std::string& message) {
  PyErr_SetString(PyExc_TypeError, (std::string(op.name) + "(): " + message).c_str());
  return false;
}

// Converts a Python integer. Returns false with an exception if that fails.
bool read_int(PyObject* value, int64_t* out) {
  if (PyLong_Check(value)) {
    *out = PyLong_AsLongLong(value);
    return *out != -1 || !PyErr_Occurred();
  }
  nb::object index = nb::steal(PyNumber_Index(value));
  if (!index.is_valid()) return false;
  *out = PyLong_AsLongLong(index.ptr());
  return *out != -1 || !PyErr_Occurred();
}

// Writes a value at this offset of the attribute struct.
template <typename T>
void store(Attributes& attributes, size_t offset, T value) {
  std::memcpy(attributes.bytes + offset, &value, sizeof value);
}

// Returns whether a Python object is a tensor of a trace.
bool is_symbolic(PyObject* value) { return is_tensor(value) && as_tensor(value)->is_symbolic; }

// Adds an attribute whose sizes are symbolic tensors to `sizes`. Python code (_convert._sizes)
// stacks a list of sizes into one tensor. Returns false with an exception if that fails.
bool add_sizes(const Op& op, const Attribute& attribute, PyObject* value, SizeTensors& sizes) {
  if (sizes.count == 4) return type_error(op, "at most 4 attributes can be symbolic tensors");
  nb::object converted = nb::borrow(value);
  if (!is_tensor(value) || attribute.kind == AttributeKind::kInts) {
    try {
      converted = nb::module_::import_("tenon._convert").attr("_sizes")(nb::handle(value));
    } catch (nb::python_error& error) {
      error.restore();
      return false;
    }
  }
  if (!sizes.operands[sizes.count].set(converted.ptr())) return false;
  sizes.objects[sizes.count] = converted;
  sizes.arguments[sizes.count] = {tenon_str(attribute.name), sizes.operands[sizes.count].handle};
  ++sizes.count;
  return true;
}

// Stores an int or a sequence of ints. Returns false with an exception if that fails.
bool store_list(const Op& op, const Attribute& attribute, PyObject* value, Attributes& attributes,
                SizeTensors& sizes) {
  std::vector<int64_t> list;
  int64_t number = 0;
  if (is_symbolic(value)) return add_sizes(op, attribute, value, sizes);
  if (PyLong_Check(value)) {
    if (!read_int(value, &number)) return false;
    list.push_back(number);
  } else {
    nb::object sequence = nb::steal(PySequence_List(value));
    if (!sequence.is_valid()) {
      PyErr_Clear();
      if (!read_int(value, &number)) {
        PyErr_Clear();
        return type_error(op,
                          std::string(attribute.name) + " must be an int or a sequence of ints");
      }
      list.push_back(number);
    } else {
      const Py_ssize_t n = PyList_Size(sequence.ptr());
      list.reserve(n);
      for (Py_ssize_t i = 0; i < n; ++i) {
        PyObject* item = PyList_GetItem(sequence.ptr(), i);
        if (is_symbolic(item)) return add_sizes(op, attribute, value, sizes);
        if (!read_int(item, &number)) return false;
        list.push_back(number);
      }
    }
  }
  attributes.lists.push_back(std::move(list));
  const std::vector<int64_t>& kept = attributes.lists.back();
  store(attributes, attribute.offset, kept.data());
  store(attributes, attribute.count_offset, kept.size());
  return true;
}

// Stores the value of an enumerator by its name. Returns false with an exception if there is none
// of this name.
bool store_enum(const Op& op, const Attribute& attribute, PyObject* value, Attributes& attributes) {
  std::string allowed;
  if (PyUnicode_Check(value)) {
    const char* text = PyUnicode_AsUTF8AndSize(value, nullptr);
    if (!text) return false;
    for (int32_t i = 0; attribute.enumerators[i]; ++i) {
      if (std::strcmp(text, attribute.enumerators[i]) == 0) {
        store(attributes, attribute.offset, i);
        return true;
      }
    }
  }
  for (int32_t i = 0; attribute.enumerators[i]; ++i)
    allowed += std::string(i ? ", '" : "'") + attribute.enumerators[i] + "'";
  return type_error(op, std::string(attribute.name) + " must be one of " + allowed);
}

// Converts the Python value of an attribute and stores it. Returns false with an exception if that
// fails.
bool store_attribute(const Op& op, const Attribute& attribute, PyObject* value,
                     Attributes& attributes, SizeTensors& sizes) {
  switch (attribute.kind) {
    case AttributeKind::kInt: {
      if (is_symbolic(value)) return add_sizes(op, attribute, value, sizes);
      int64_t number = 0;
      if (!read_int(value, &number)) return false;
      store(attributes, attribute.offset, number);
      return true;
    }
    case AttributeKind::kFloat: {
      const double number = PyFloat_AsDouble(value);
      if (number == -1 && PyErr_Occurred()) return false;
      store(attributes, attribute.offset, number);
      return true;
    }
    case AttributeKind::kBool: {
      const int truth = PyObject_IsTrue(value);
      if (truth < 0) return false;
      store(attributes, attribute.offset, truth != 0);
      return true;
    }
    case AttributeKind::kDtype: {
      tenon_dtype dtype = TENON_DTYPE_NONE;
      if (value != Py_None && !dtype_from_python(value, &dtype)) return false;
      store(attributes, attribute.offset, dtype);
      return true;
    }
    case AttributeKind::kEnum:
      return store_enum(op, attribute, value, attributes);
    case AttributeKind::kString: {
      Py_ssize_t size = 0;
      const char* text = PyUnicode_AsUTF8AndSize(value, &size);
      if (!text) return false;
      attributes.texts.push_back(nb::borrow(value));
      store(attributes, attribute.offset, tenon_string{text, static_cast<size_t>(size)});
      return true;
    }
    case AttributeKind::kInts:
      return store_list(op, attribute, value, attributes, sizes);
  }
  return false;
}

// Writes the arguments to `out` in the order of the op's parameters: inputs, followed by
// attributes. No argument is assigned to the input with index `skipped`. Returns false with an
// exception if the arguments do not match the parameters.
bool arrange_arguments(const Op& op, PyObject* self, PyObject* const* arguments,
                       Py_ssize_t n_arguments, PyObject* keyword_names, int skipped,
                       PyObject** out) {
  const size_t n_parameters = op.n_inputs + op.n_attributes;
  for (size_t i = 0; i < n_parameters; ++i) out[i] = nullptr;
  size_t next = 0;
  auto add = [&](PyObject* argument) {
    if (static_cast<int>(next) == skipped) ++next;
    if (next >= n_parameters)
      return type_error(op, "takes at most " + std::to_string(n_parameters) + " arguments");
    out[next++] = argument;
    return true;
  };
  if (self && !add(self)) return false;
  for (Py_ssize_t i = 0; i < n_arguments; ++i)
    if (!add(arguments[i])) return false;
  if (!keyword_names) return true;
  const Py_ssize_t n_keywords = PyTuple_Size(keyword_names);
  for (Py_ssize_t i = 0; i < n_keywords; ++i) {
    const char* name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(keyword_names, i), nullptr);
    if (!name) return false;
    size_t at = 0;
    while (at < n_parameters &&
           std::strcmp(name, at < op.n_inputs ? op.inputs[at].name
                                              : op.attributes[at - op.n_inputs].name) != 0)
      ++at;
    if (at == n_parameters || static_cast<int>(at) == skipped)
      return type_error(op, std::string("got an unexpected keyword argument '") + name + "'");
    if (out[at]) return type_error(op, std::string("got multiple values for '") + name + "'");
    out[at] = arguments[n_arguments + i];
  }
  return true;
}

// Returns whether an input is a Python int. Calls need this because Python ints become int32
// tensors, not inline scalars, if all inputs of an op are Python ints.
bool is_integer(PyObject* value) { return PyLong_Check(value); }

// Returns the number of outputs of a call of meshgrid, split or unstack, or -1 with an exception.
// `n_variadic` is the number of tensors in the call's list of inputs.
Py_ssize_t count_outputs(const Op& op, PyObject* const* parameters, size_t n_variadic,
                         const Attributes& attributes) {
  if (op.number == TENON_OP_meshgrid) return static_cast<Py_ssize_t>(n_variadic);
  Operand x;
  if (!x.set(parameters[0])) return -1;
  if (op.number == TENON_OP_split) {
    const auto* split = reinterpret_cast<const tenon_split_attrs*>(attributes.bytes);
    return split->num_outputs > 0 ? split->num_outputs : static_cast<Py_ssize_t>(split->n_split);
  }
  const auto* unstack = reinterpret_cast<const tenon_unstack_attrs*>(attributes.bytes);
  int64_t size = 0;
  if (tenon_error* error = tenon_tensor_size(x.handle, unstack->axis, &size)) {
    set_exception(error);
    return -1;
  }
  return size;
}

// Converts a list of outputs to the named tuple type of the op, which is created at the first call.
PyObject* named_outputs(const Op& op, PyObject* values) {
  static nb::object* const types = new nb::object(nb::dict());
  nb::object type = nb::borrow(PyDict_GetItemString(types->ptr(), op.name));
  if (!type.is_valid()) {
    nb::list names;
    for (size_t i = 0; i < op.n_outputs; ++i) names.append(op.outputs[i]);
    type = nb::module_::import_("tenon._outputs").attr("make")(op.name, names);
    if (PyDict_SetItemString(types->ptr(), op.name, type.ptr()) != 0) return nullptr;
  }
  return PyObject_CallFunctionObjArgs(type.ptr(), values, nullptr);
}

// Returns a list if the number of outputs varies, or else a named tuple.
PyObject* outputs_to_python(const Op& op, Results& results) {
  if (op.has_many_outputs) return results.take().release().ptr();
  return named_outputs(op, results.take().ptr());
}

}  // namespace

// Calls an op without attributes that has one output. Short calls keep the GIL.
PyObject* call_plain(uint32_t op, tenon_tensor* const* inputs, size_t n_inputs, bool is_short) {
  tenon_tensor* output = nullptr;
  tenon_error* error;
  tenon_scope* here = scope();
  if (current.tracing) set_user_location();
  if (is_short) {
    error = tenon_call(here, op, nullptr, inputs, n_inputs, &output, 1);
  } else {
    PyThreadState* state = PyEval_SaveThread();
    error = tenon_call(here, op, nullptr, inputs, n_inputs, &output, 1);
    PyEval_RestoreThread(state);
  }
  if (error) [[unlikely]]
    return set_exception(error);
  return wrap(output, is_short);
}

namespace {

// Fast path for an op of one or two tensors without attributes, with positional arguments.
PyObject* call_simple(const Op& op, PyObject* first, PyObject* second) {
  Operand a, b;
  const bool weak = !is_integer(first) || (second && !is_integer(second));
  if (!a.set(first, weak) || (second && !b.set(second, weak))) return nullptr;
  tenon_tensor* const inputs[] = {a.handle, b.handle};
  const bool is_short = op.is_quick && a.is_small && (!second || b.is_small);
  return call_plain(op.number, inputs, second ? 2 : 1, is_short || current.tracing);
}

// Returns whether an op can be called by call_simple().
bool is_simple(const Op& op) {
  return op.n_attributes == 0 && op.n_outputs == 1 && !op.has_many_outputs &&
         (op.n_inputs == 1 || op.n_inputs == 2) && op.inputs[0].kind == InputKind::kRequired &&
         op.inputs[op.n_inputs - 1].kind == InputKind::kRequired;
}

}  // namespace

// Calls an op with arguments in Python's vectorcall convention.
PyObject* call_op(const Op& op, PyObject* self, PyObject* const* arguments, Py_ssize_t n_arguments,
                  PyObject* keyword_names, tenon_generator* generator) try {
  if (!keyword_names && n_arguments + (self != nullptr) == op.n_inputs && is_simple(op)) {
    PyObject* first = self ? self : arguments[0];
    return call_simple(op, first, op.n_inputs == 2 ? arguments[self ? 0 : 1] : nullptr);
  }
  PyObject* parameters[kMaxParameters];
  const int skipped = generator ? op.state : -1;
  if (!arrange_arguments(op, self, arguments, n_arguments, keyword_names, skipped, parameters))
    return nullptr;

  Operand operands[8];
  std::vector<Operand> variadic;
  tenon_tensor* handles[8];
  std::vector<tenon_tensor*> variadic_handles;
  tenon_tensor* const* inputs = handles;
  size_t n_inputs = op.n_inputs;
  bool is_short = op.is_quick;
  if (op.n_inputs > 0 && op.inputs[0].kind == InputKind::kVariadic) {
    if (!parameters[0]) {
      type_error(op, std::string("missing argument '") + op.inputs[0].name + "'");
      return nullptr;
    }
    nb::object sequence = nb::steal(PySequence_List(parameters[0]));
    if (!sequence.is_valid()) return nullptr;
    n_inputs = PyList_Size(sequence.ptr());
    bool all_integers = true;
    for (size_t i = 0; i < n_inputs; ++i)
      all_integers = all_integers && is_integer(PyList_GetItem(sequence.ptr(), i));
    variadic.resize(n_inputs);
    for (size_t i = 0; i < n_inputs; ++i) {
      if (!variadic[i].set(PyList_GetItem(sequence.ptr(), i), !all_integers)) return nullptr;
      variadic_handles.push_back(variadic[i].handle);
    }
    inputs = variadic_handles.data();
  } else {
    bool all_integers = true;
    for (size_t i = 0; i < op.n_inputs; ++i)
      if (parameters[i] && parameters[i] != Py_None)
        all_integers = all_integers && is_integer(parameters[i]);
    for (size_t i = 0; i < op.n_inputs; ++i) {
      handles[i] = nullptr;
      if (static_cast<int>(i) == skipped) continue;
      if (!parameters[i] ||
          (parameters[i] == Py_None && op.inputs[i].kind == InputKind::kOptional)) {
        if (op.inputs[i].kind == InputKind::kOptional) continue;
        type_error(op, std::string("missing argument '") + op.inputs[i].name + "'");
        return nullptr;
      }
      if (!operands[i].set(parameters[i], !all_integers)) return nullptr;
      handles[i] = operands[i].handle;
      is_short = is_short && operands[i].is_small;
    }
  }
  const bool is_plain = op.n_attributes == 0 && op.n_outputs == 1 && !op.has_many_outputs;
  if (is_plain) return call_plain(op.number, inputs, n_inputs, is_short || current.tracing);

  Attributes attributes;
  SizeTensors sizes;
  if (op.defaults) std::memcpy(attributes.bytes, op.defaults, op.attributes_size);
  attributes.lists.reserve(op.n_attributes);
  for (size_t i = 0; i < op.n_attributes; ++i) {
    PyObject* value = parameters[op.n_inputs + i];
    if (value && !store_attribute(op, op.attributes[i], value, attributes, sizes)) return nullptr;
  }
  Py_ssize_t n_outputs = op.n_outputs;
  if (op.has_many_outputs) {
    n_outputs = count_outputs(op, parameters, n_inputs, attributes);
    if (n_outputs < 0) return nullptr;
  }
  if (generator) --n_outputs;  // The last output is the next state, which the generator stores.
  Results results(n_outputs);
  const void* c_attributes = op.defaults ? attributes.bytes : nullptr;
  tenon_scope* here = scope();
  auto call = [&] {
    if (generator)
      return tenon_generator_call(here, generator, op.number, c_attributes, inputs, n_inputs,
                                  results.data(), n_outputs);
    if (sizes.count == 0)
      return tenon_call(here, op.number, c_attributes, inputs, n_inputs, results.data(), n_outputs);
    return tenon_call_sized(here, op.number, c_attributes, sizes.arguments, sizes.count, inputs,
                            n_inputs, results.data(), n_outputs);
  };
  if (is_short || current.tracing) {
    if (current.tracing) set_user_location();
    if (tenon_error* error = call()) return set_exception(error);
  } else {
    run_blocking(call);
  }
  if (n_outputs == 1 && !op.has_many_outputs)
    return wrap(std::exchange(results.data()[0], nullptr));
  if (generator) return nb::tuple(results.take()).release().ptr();
  return outputs_to_python(op, results);
} catch (nb::python_error& error) {
  error.restore();
  return nullptr;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

// Adds the functions of all ops to the module.
void define_ops(nb::module_& module) {
  nb::dict functions;
  nb::object module_name = nb::str("tenon.ops");
  for (PyMethodDef* method = kOpFunctions; method->ml_name; ++method) {
    nb::object function = nb::steal(PyCFunction_NewEx(method, nullptr, module_name.ptr()));
    if (!function.is_valid()) nb::raise_python_error();
    functions[method->ml_name] = function;
  }
  module.attr("ops") = functions;
  nb::list random_ops;
  for (size_t i = 0; i < kOpCount; ++i)
    if (kOps[i].state >= 0) random_ops.append(kOps[i].name);
  module.attr("random_ops") = random_ops;
}

}  // namespace tenon_python
