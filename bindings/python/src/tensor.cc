// The Python type of tensors: properties, truth value, conversion to numbers, the buffer protocol.
// tenon/_tensor.py adds methods, and operators.cc adds operators.

#include <cstddef>

#include "call.h"

namespace tenon_python {

namespace {

constexpr size_t kMaxShortBytes = 1 << 16;

nb::dict* dtype_objects = nullptr;  // Maps the code of a dtype to its tn.DType.
PyObject* dtype_class = nullptr;

// The slot tp_dealloc: releases the tensor.
void dealloc(PyObject* self) {
  PyTensor* tensor = as_tensor(self);
  if (tensor->weak_references) PyObject_ClearWeakRefs(self);
  tenon_tensor_release(tensor->handle);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

// The slot tp_hash: hashes the identity of the object.
Py_hash_t hash(PyObject* self) {
  const Py_hash_t value = static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self) >> 4);
  return value == -1 ? -2 : value;
}

// Runs `body`, the code of a slot of the tensor type. Converts C++ exceptions to Python exceptions.
template <typename Body>
PyObject* convert_exceptions(Body&& body) try {
  return body();
} catch (nb::python_error& error) {
  error.restore();
  return nullptr;
} catch (const std::exception& error) {
  PyErr_SetString(PyExc_RuntimeError, error.what());
  return nullptr;
}

// Returns the sizes as a tuple; unknown sizes are None.
PyObject* get_shape(PyObject* self, void*) {
  return convert_exceptions([&]() -> PyObject* {
    tenon_tensor* tensor = as_tensor(self)->handle;
    const int64_t* sizes = nullptr;
    size_t rank = 0;
    tenon_error* error = tenon_tensor_read_shape(tensor, &sizes, &rank);
    if (!error) return sizes_to_python(sizes, rank).release().ptr();
    // While tracing, unknown sizes become None.
    tenon_error_release(error);
    rank = tenon_tensor_rank(tensor);
    nb::list result;
    for (size_t axis = 0; axis < rank; ++axis) {
      int64_t size = 0;
      error = tenon_tensor_size(tensor, static_cast<int64_t>(axis), &size);
      if (error) {
        tenon_error_release(error);
        result.append(nb::none());
      } else {
        result.append(size);
      }
    }
    return nb::tuple(result).release().ptr();
  });
}

PyObject* get_dtype(PyObject* self, void*) {
  return convert_exceptions(
      [&] { return to_python(tenon_tensor_dtype(as_tensor(self)->handle)).release().ptr(); });
}

PyObject* get_ndim(PyObject* self, void*) {
  return PyLong_FromSize_t(tenon_tensor_rank(as_tensor(self)->handle));
}

PyObject* get_device(PyObject* self, void*) {
  return convert_exceptions([&] {
    const tenon_string name = tenon_tensor_device_name(as_tensor(self)->handle);
    return (name.size ? to_python(name) : nb::str("cpu:0")).release().ptr();
  });
}

PyObject* get_is_symbolic(PyObject* self, void*) {
  return PyBool_FromLong(as_tensor(self)->is_symbolic);
}

PyObject* get_is_list(PyObject* self, void*) {
  return PyBool_FromLong(tenon_tensor_is_list(as_tensor(self)->handle));
}

// Reads the only element into `real` if the dtype is floating, and into `integer` otherwise. Sets
// `is_integer` to whether it is in `integer`.
tenon_error* read_item(PyObject* self, double* real, int64_t* integer, bool* is_integer) {
  tenon_tensor* tensor = as_tensor(self)->handle;
  const uint32_t code = TENON_DTYPE_CODE(tenon_tensor_dtype(tensor));
  *is_integer = code == TENON_CODE_INT || code == TENON_CODE_UINT || code == TENON_CODE_BOOL;
  tenon_scope* here = scope();
  if (as_tensor(self)->is_small)
    return *is_integer ? tenon_tensor_item_i64(here, tensor, integer)
                       : tenon_tensor_item_f64(here, tensor, real);
  const nb::gil_scoped_release release;
  return *is_integer ? tenon_tensor_item_i64(here, tensor, integer)
                     : tenon_tensor_item_f64(here, tensor, real);
}

// Returns the only element of a uint64 tensor as a Python int. Reads its bytes, because the element
// may exceed the range of int64.
PyObject* read_uint64_item(PyObject* self) {
  uint64_t value = 0;
  if (tenon_error* error =
          tenon_tensor_read(scope(), as_tensor(self)->handle, &value, sizeof value))
    return set_exception(error);
  return PyLong_FromUnsignedLongLong(value);
}

// Returns the only element as a Python bool, int or float.
PyObject* item(PyObject* self, PyObject*) {
  return convert_exceptions([&]() -> PyObject* {
    double real = 0;
    int64_t integer = 0;
    bool is_integer = false;
    if (tenon_error* error = read_item(self, &real, &integer, &is_integer)) {
      if (tenon_error_code(error) == TENON_OUT_OF_RANGE &&
          tenon_tensor_dtype(as_tensor(self)->handle) == TENON_UINT64) {
        tenon_error_release(error);
        return read_uint64_item(self);
      }
      return set_exception(error);
    }
    if (tenon_tensor_dtype(as_tensor(self)->handle) == TENON_BOOL) return PyBool_FromLong(integer);
    return is_integer ? PyLong_FromLongLong(integer) : PyFloat_FromDouble(real);
  });
}

// Sets the exception for the truth value of a symbolic tensor. AutoGraph explains why the condition
// was not converted.
void set_condition_error(PyObject* self) {
  try {
    nb::object error = nb::module_::import_("tenon.autograph").attr("bool_error")(nb::handle(self));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  } catch (nb::python_error& failure) {
    failure.restore();
  }
}

// The slot nb_bool: 1 if the only element is nonzero, 0 if not, -1 with an exception.
int truth(PyObject* self) {
  double real = 0;
  int64_t integer = 0;
  bool is_integer = false;
  if (as_tensor(self)->is_symbolic) {
    set_condition_error(self);
    return -1;
  }
  if (tenon_error* error = read_item(self, &real, &integer, &is_integer)) {
    if (tenon_error_code(error) == TENON_INVALID_ARGUMENT) {
      tenon_error_release(error);
      PyErr_SetString(PyExc_ValueError,
                      "the truth value of a tensor with more or fewer than one element is "
                      "ambiguous: use .any() or .all()");
      return -1;
    }
    set_exception(error);
    return -1;
  }
  return is_integer ? integer != 0 : real != 0;
}

// The slot of float().
PyObject* to_float(PyObject* self) {
  double value = 0;
  if (tenon_error* error = tenon_tensor_item_f64(scope(), as_tensor(self)->handle, &value))
    return set_exception(error);
  return PyFloat_FromDouble(value);
}

// The slot of int().
PyObject* to_int(PyObject* self) {
  nb::object value = nb::steal(item(self, nullptr));
  return value.is_valid() ? PyNumber_Long(value.ptr()) : nullptr;
}

// The slot nb_index. Fails unless the dtype is an integer dtype.
PyObject* to_index(PyObject* self) {
  const uint32_t code = TENON_DTYPE_CODE(tenon_tensor_dtype(as_tensor(self)->handle));
  if (code != TENON_CODE_INT && code != TENON_CODE_UINT) {
    PyErr_SetString(PyExc_TypeError, "only a tensor with an integer dtype can be an index");
    return nullptr;
  }
  return to_int(self);
}

// The slot of len(): the size of the first axis.
Py_ssize_t length(PyObject* self) {
  tenon_tensor* tensor = as_tensor(self)->handle;
  if (tenon_tensor_rank(tensor) == 0) {
    PyErr_SetString(PyExc_TypeError, "a tensor of rank 0 has no len()");
    return -1;
  }
  int64_t size = 0;
  if (tenon_error* error = tenon_tensor_size(tensor, 0, &size)) {
    set_exception(error);
    return -1;
  }
  return static_cast<Py_ssize_t>(size);
}

// Donates the tensor: the next call that takes it may reuse its memory. Returns the tensor.
PyObject* donate(PyObject* self, PyObject*) {
  if (tenon_error* error = tenon_tensor_donate(as_tensor(self)->handle))
    return set_exception(error);
  return Py_NewRef(self);
}

// Copies the tensor to the device with this name.
PyObject* copy_to(PyObject* self, PyObject* device) {
  return convert_exceptions([&] {
    const std::string name = nb::cast<std::string>(nb::handle(device));
    tenon_tensor* result = nullptr;
    tenon_scope* here = scope();
    run_blocking(
        [&] { return tenon_tensor_copy_to(here, as_tensor(self)->handle, to_c(name), &result); });
    return wrap(result);
  });
}

// ---- the buffer protocol -----------------------------------------------------------------------

// Returns the format character of the buffer protocol; nullptr if there is none.
const char* buffer_format(tenon_dtype dtype) {
  switch (dtype) {
    case TENON_BOOL:
      return "?";
    case TENON_INT8:
      return "b";
    case TENON_INT16:
      return "h";
    case TENON_INT32:
      return "i";
    case TENON_INT64:
      return "q";
    case TENON_UINT8:
      return "B";
    case TENON_UINT16:
      return "H";
    case TENON_UINT32:
      return "I";
    case TENON_UINT64:
      return "Q";
    case TENON_FLOAT16:
      return "e";
    case TENON_FLOAT32:
      return "f";
    case TENON_FLOAT64:
      return "d";
    default:
      return nullptr;
  }
}

// The slot bf_getbuffer: exports the elements as a read-only buffer, without a copy.
int get_buffer(PyObject* self, Py_buffer* out, int flags) {
  tenon_tensor* tensor = as_tensor(self)->handle;
  const tenon_dtype dtype = tenon_tensor_dtype(tensor);
  const char* format = buffer_format(dtype);
  const void* data = as_tensor(self)->is_symbolic ? nullptr : tenon_tensor_data(tensor);
  const char* reason = (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE ? "a tensor's value never changes"
                       : !data   ? "the host cannot read the elements in place: use numpy()"
                       : !format ? "this dtype has no buffer format"
                                 : nullptr;
  if (reason) {
    out->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, reason);
    return -1;
  }
  const size_t rank = tenon_tensor_rank(tensor);
  const int64_t* sizes = tenon_tensor_shape(tensor);
  auto* strides = static_cast<Py_ssize_t*>(PyMem_Malloc((rank + 1) * sizeof(Py_ssize_t)));
  if (!strides) {
    PyErr_NoMemory();
    return -1;
  }
  out->itemsize = TENON_DTYPE_SIZE(dtype);
  Py_ssize_t stride = out->itemsize;
  for (size_t axis = rank; axis-- > 0;) {
    strides[axis] = stride;
    stride *= static_cast<Py_ssize_t>(sizes[axis]);
  }
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  out->obj = Py_NewRef(self);
  out->buf = const_cast<void*>(data);
  out->len = static_cast<Py_ssize_t>(tenon_tensor_bytes(tensor));
  out->readonly = 1;
  out->ndim = static_cast<int>(rank);
  out->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  out->shape =
      (flags & PyBUF_ND) ? reinterpret_cast<Py_ssize_t*>(const_cast<int64_t*>(sizes)) : nullptr;
  out->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? strides : nullptr;
  out->suboffsets = nullptr;
  out->internal = strides;
  return 0;
}

// The slot bf_releasebuffer: frees the strides.
void release_buffer(PyObject*, Py_buffer* buffer) { PyMem_Free(buffer->internal); }

PyGetSetDef properties[] = {
    {"shape", get_shape, nullptr, "The sizes: a tuple of ints, None for one that is unknown.",
     nullptr},
    {"dtype", get_dtype, nullptr, "The dtype of the elements.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of axes.", nullptr},
    {"device", get_device, nullptr, "The name of the device that holds the tensor.", nullptr},
    {"is_symbolic", get_is_symbolic, nullptr, "Whether it is a value of a trace.", nullptr},
    {"is_list", get_is_list, nullptr, "Whether it is a list of tensors: see TensorArray.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef own_methods[] = {
    {"item", item, METH_NOARGS, "item($self)\n--\n\nThe only element as a Python number."},
    {"donate", donate, METH_NOARGS,
     "donate($self)\n--\n\nLets the next call that takes this tensor reuse its memory."},
    {"copy_to", copy_to, METH_O, "copy_to($self, device)\n--\n\nThe same value on a device."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

// Wraps a tensor that a call returned, and takes ownership of it.
PyObject* wrap(tenon_tensor* owned, bool is_on_host) {
  PyTensor* tensor = PyObject_New(PyTensor, tensor_type);
  if (!tensor) {
    tenon_tensor_release(owned);
    return nullptr;
  }
  tensor->handle = owned;
  tensor->weak_references = nullptr;
  tensor->is_symbolic = current.tracing;
  tensor->is_small = current.tracing || (tenon_tensor_bytes(owned) <= kMaxShortBytes &&
                                         (is_on_host || tenon_tensor_data(owned) != nullptr));
  return reinterpret_cast<PyObject*>(tensor);
}

// Wraps a borrowed tensor, and adds a reference to it.
PyObject* wrap_borrowed(tenon_tensor* borrowed) {
  tenon_tensor_retain(borrowed);
  return wrap(borrowed);
}

// Sets the operand to a number, a variable or an array.
bool Operand::set_other(PyObject* object, bool weak_numbers) {
  if (!weak_numbers) return set_converted(object);
  if (PyFloat_CheckExact(object)) {
    owned_ = tenon_scalar_f64(PyFloat_AsDouble(object));
  } else if (PyBool_Check(object)) {
    owned_ = tenon_scalar_bool(object == Py_True);
  } else if (PyLong_CheckExact(object)) {
    const long long value = PyLong_AsLongLong(object);
    if (value == -1 && PyErr_Occurred()) return false;
    owned_ = tenon_scalar_i64(value);
  } else {
    return set_converted(object);
  }
  handle = owned_;
  if (!handle) PyErr_NoMemory();
  return handle;
}

// Sets the operand to the value of a variable, or to a tensor that Python code creates.
bool Operand::set_converted(PyObject* object) {
  if (tenon_variable* variable = variable_of(object)) {
    if (tenon_error* error = tenon_variable_read(scope(), variable, &owned_)) {
      set_exception(error);
      return false;
    }
    handle = owned_;
    is_small = current.tracing || tenon_tensor_bytes(handle) <= kMaxShortBytes;
    return true;
  }
  static PyObject* const convert = [] {
    nb::object function = nb::module_::import_("tenon._convert").attr("_to_tensor");
    return function.release().ptr();
  }();
  object_ = PyObject_CallFunctionObjArgs(convert, object, nullptr);
  if (!object_) return false;
  handle = as_tensor(object_)->handle;
  is_small = as_tensor(object_)->is_small;
  return true;
}

Operands::Operands(nb::handle sequence, bool weak_numbers, bool optional) {
  nb::list items(sequence);
  operands_.resize(items.size());
  handles_.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    PyObject* item = PyList_GetItem(items.ptr(), static_cast<Py_ssize_t>(i));
    if (optional && item == Py_None) continue;
    if (!operands_[i].set(item, weak_numbers)) nb::raise_python_error();
    handles_[i] = operands_[i].handle;
  }
}

// Returns the tensors as a list; NULL becomes None.
nb::list Results::take() {
  nb::list result;
  for (tenon_tensor*& handle : handles_)
    result.append(take_or_none(std::exchange(handle, nullptr)));
  return result;
}

// Converts a Python object to a dtype. Returns false with an exception if that fails.
bool dtype_from_python(PyObject* object, tenon_dtype* out) {
  nb::object dtype = nb::borrow(object);
  if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != dtype_class) {
    dtype = nb::steal(PyObject_CallFunctionObjArgs(dtype_class, object, nullptr));
    if (!dtype.is_valid()) return false;
  }
  nb::object code = nb::steal(PyObject_GetAttrString(dtype.ptr(), "code"));
  if (!code.is_valid()) return false;
  *out = static_cast<tenon_dtype>(PyLong_AsUnsignedLong(code.ptr()));
  return true;
}

// Like dtype_from_python(), but throws the exception.
tenon_dtype to_dtype(nb::handle object) {
  tenon_dtype dtype = TENON_DTYPE_NONE;
  if (!dtype_from_python(object.ptr(), &dtype)) nb::raise_python_error();
  return dtype;
}

// Returns the tn.DType of a dtype; None for TENON_DTYPE_NONE.
nb::object to_python(tenon_dtype dtype) {
  if (dtype == TENON_DTYPE_NONE) return nb::none();
  return (*dtype_objects)[nb::int_(dtype)];
}

// Converts a sequence of ints. None becomes TENON_SIZE_UNKNOWN.
std::vector<int64_t> to_sizes(nb::handle sizes) {
  std::vector<int64_t> result;
  for (nb::handle size : nb::list(sizes))
    result.push_back(size.is_none() ? TENON_SIZE_UNKNOWN : nb::cast<int64_t>(size));
  return result;
}

// Converts sizes to a tuple of ints. An unknown size becomes None.
nb::tuple sizes_to_python(const int64_t* sizes, size_t rank) {
  PyObject* result = PyTuple_New(static_cast<Py_ssize_t>(rank));
  if (!result) nb::raise_python_error();
  for (size_t axis = 0; axis < rank; ++axis)
    PyTuple_SetItem(result, static_cast<Py_ssize_t>(axis),
                    sizes[axis] < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(sizes[axis]));
  return nb::steal<nb::tuple>(result);
}

// Adds the class of tensors to the module tenon._native.
void define_tensor(nb::module_& module) {
  std::vector<PyMethodDef>* methods = new std::vector<PyMethodDef>;
  for (PyMethodDef* method = own_methods; method->ml_name; ++method) methods->push_back(*method);
  for (PyMethodDef* method = kOpMethods; method->ml_name; ++method) methods->push_back(*method);
  methods->push_back({nullptr, nullptr, 0, nullptr});
  static PyMemberDef members[] = {
      {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weak_references), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  std::vector<PyType_Slot> slots = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_hash, reinterpret_cast<void*>(hash)},
      {Py_tp_methods, methods->data()},
      {Py_tp_members, members},
      {Py_tp_getset, properties},
      {Py_nb_bool, reinterpret_cast<void*>(truth)},
      {Py_nb_float, reinterpret_cast<void*>(to_float)},
      {Py_nb_int, reinterpret_cast<void*>(to_int)},
      {Py_nb_index, reinterpret_cast<void*>(to_index)},
      {Py_mp_length, reinterpret_cast<void*>(length)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
      {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
      {Py_tp_doc, const_cast<char*>(
                      "A multidimensional array whose value never changes.\n\n"
                      "Create one with tn.tensor(); ops are functions of the module and methods.")},
  };
  add_operators(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"tenon.Tensor", sizeof(PyTensor), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  nb::object type = nb::steal(PyType_FromSpec(&spec));
  if (!type.is_valid()) nb::raise_python_error();
  tensor_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  module.attr("Tensor") = type;
  type.release();
  module.def("set_dtypes", [](nb::object cls, nb::dict objects) {
    dtype_class = cls.release().ptr();
    dtype_objects = new nb::dict(objects);
  });
}

}  // namespace tenon_python
