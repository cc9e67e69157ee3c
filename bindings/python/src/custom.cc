// Custom ops whose functions are written in Python.
#include <cstring>

#include "native.h"

namespace tenon_python {

namespace {

// The attribute struct of a custom op. It contains the number that tenon/_custom.py assigned to the
// attributes.
struct Attributes {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t number;
};

// Returns the number that tenon/_custom.py assigned to the attributes of a call.
int64_t read_attributes_number(const void* attributes) {
  return static_cast<const Attributes*>(attributes)->number;
}

// Converts a tensor type to the Python tuple (dtype, sizes).
nb::tuple type_to_python(const tenon_type& type) {
  return nb::make_tuple(to_python(type.dtype), sizes_to_python(type.shape, type.rank));
}

// Returns (memoryview, dtype, sizes) of an array. `flags` is PyBUF_READ or PyBUF_WRITE.
nb::tuple array_to_python(const tenon_host_array& array, int flags) {
  static char empty = 0;
  char* data = array.size ? static_cast<char*>(array.data) : &empty;
  nb::object memory =
      nb::steal(PyMemoryView_FromMemory(data, static_cast<Py_ssize_t>(array.size), flags));
  if (!memory.is_valid()) nb::raise_python_error();
  return nb::make_tuple(memory, to_python(array.type.dtype),
                        sizes_to_python(array.type.shape, array.type.rank));
}

// Returns the Python object whose methods implement a custom op.
nb::handle functions_of(void* payload) { return static_cast<PyObject*>(payload); }

// The C callback that infers output types by calling Python.
tenon_error* infer(void* payload, const void* attributes, const tenon_type* inputs, size_t n_inputs,
                   tenon_type* out_types, size_t n_outputs) {
  const nb::gil_scoped_acquire gil;
  try {
    nb::list types;
    for (size_t i = 0; i < n_inputs; ++i) types.append(type_to_python(inputs[i]));
    nb::list result(functions_of(payload).attr("infer")(read_attributes_number(attributes), types));
    if (result.size() != n_outputs)
      throw std::runtime_error("infer: the number of returned types must equal n_outputs");
    for (size_t i = 0; i < n_outputs; ++i) {
      const std::vector<int64_t> sizes = to_sizes(result[i][1]);
      if (sizes.size() > TENON_MAX_RANK)
        throw std::runtime_error("infer: the rank exceeds the maximum of 16");
      out_types[i].dtype = to_dtype(nb::object(result[i][0]));
      out_types[i].rank = static_cast<uint32_t>(sizes.size());
      std::copy(sizes.begin(), sizes.end(), out_types[i].shape);
    }
    return nullptr;
  } catch (...) {
    return catch_exception();
  }
}

// The C callback that computes outputs in host memory by calling Python.
tenon_error* compute(void* payload, const void* attributes, const tenon_host_array* inputs,
                     size_t n_inputs, const tenon_host_array* outputs, size_t n_outputs) {
  const nb::gil_scoped_acquire gil;
  try {
    nb::list read, write;
    for (size_t i = 0; i < n_inputs; ++i) read.append(array_to_python(inputs[i], PyBUF_READ));
    for (size_t i = 0; i < n_outputs; ++i) write.append(array_to_python(outputs[i], PyBUF_WRITE));
    functions_of(payload).attr("compute")(read_attributes_number(attributes), read, write);
    return nullptr;
  } catch (...) {
    return catch_exception();
  }
}

// The C callback that computes outputs by a Python function that calls other ops.
tenon_error* decompose(void* payload, tenon_scope* scope, const void* attributes,
                       tenon_tensor* const* inputs, size_t n_inputs, tenon_tensor** out,
                       size_t n_outputs) {
  const nb::gil_scoped_acquire gil;
  try {
    nb::object function =
        functions_of(payload).attr("decomposition")(read_attributes_number(attributes));
    return call_python(function.ptr(), scope, inputs, n_inputs, out, n_outputs, true);
  } catch (...) {
    return catch_exception();
  }
}

// The C callback that computes gradients by calling Python.
tenon_error* backward(void* payload, tenon_scope* scope, const void* attributes,
                      const tenon_backward_args* args, tenon_tensor** out_grads, size_t n_grads) {
  const nb::gil_scoped_acquire gil;
  try {
    nb::object function =
        functions_of(payload).attr("derivative")(read_attributes_number(attributes));
    const tenon_backward_function call = backward_of(function);
    tenon_error* error = call.function(call.payload, scope, args, out_grads, n_grads);
    call.destroy(call.payload);
    return error;
  } catch (...) {
    return catch_exception();
  }
}

// Registers a custom op, and returns its number. The op runs compute() if `computes` is true, and
// decompose() otherwise. `differentiates` is whether it has a backward function.
uint32_t register_op(const std::string& name, nb::handle functions, uint32_t n_inputs,
                     uint32_t n_outputs, bool computes, bool differentiates) {
  tenon_custom_op op;
  std::memset(&op, 0, sizeof op);
  op.struct_size = sizeof op;
  op.n_inputs = n_inputs;
  op.n_outputs = n_outputs;
  op.attrs_size = sizeof(Attributes);
  op.name = to_c(name);
  op.infer = infer;
  op.compute = computes ? compute : nullptr;
  op.decompose = computes ? nullptr : decompose;
  op.backward = differentiates ? backward : nullptr;
  op.payload = functions.inc_ref().ptr();
  op.destroy = release_payload;
  uint32_t number = 0;
  check(tenon_op_register(tenon_scope_context(scope()), &op, &number));
  return number;
}

// Calls a custom op. `attributes_number` is the number of its attributes.
nb::list call(uint32_t op, int64_t attributes_number, nb::list inputs, size_t n_outputs) {
  const Operands of(inputs, true, true);
  const Attributes attributes = {sizeof(Attributes), 0, attributes_number};
  Results results(n_outputs);
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_call(here, op, &attributes, of.data(), of.size(), results.data(), n_outputs);
  });
  return results.take();
}

}  // namespace

// Adds the functions that register, find and call custom ops to the module tenon._native.
void define_custom(nb::module_& module) {
  module.def("register_op", &register_op);
  module.def("call_custom_op", &call);
  module.def("find_op", [](const std::string& name) {
    uint32_t number = 0;
    check(tenon_op_find(tenon_scope_context(scope()), to_c(name), &number));
    return number;
  });
  module.def("op_name", [](uint32_t number) {
    return to_python(tenon_op_name(tenon_scope_context(scope()), number));
  });
}

}  // namespace tenon_python
