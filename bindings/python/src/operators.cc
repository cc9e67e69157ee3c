// The operators of tensors: x + y, x == y, -x, and so on.
#include "call.h"

namespace tenon_python {

namespace {

bool is_floating(tenon_dtype dtype) {
  const uint32_t code = TENON_DTYPE_CODE(dtype);
  return code == TENON_CODE_FLOAT || code == TENON_CODE_BFLOAT;
}

// Returns whether an operator must return NotImplemented, because the object is not a number, a
// tensor or an array of numbers.
bool is_unsupported_operand(PyObject* object) {
  return object == Py_None || PyUnicode_Check(object) || PyDict_Check(object) ||
         PyComplex_Check(object);
}

// The slot of an operator with two operands. Calls an op.
template <uint32_t op>
PyObject* call_binary(PyObject* a, PyObject* b) {
  if ((!is_tensor(a) && is_unsupported_operand(a)) || (!is_tensor(b) && is_unsupported_operand(b)))
    return Py_NewRef(Py_NotImplemented);
  Operand x, y;
  if (!x.set(a) || !y.set(b)) return nullptr;
  tenon_tensor* const inputs[] = {x.handle, y.handle};
  return call_plain(op, inputs, 2, x.is_small && y.is_small);
}

// The slot of an operator with one operand. Calls an op.
template <uint32_t op>
PyObject* call_unary(PyObject* a) {
  Operand x;
  if (!x.set(a)) return nullptr;
  return call_plain(op, &x.handle, 1, x.is_small);
}

// The operator +a.
PyObject* positive(PyObject* a) {
  return is_tensor(a) ? Py_NewRef(a) : call_unary<TENON_OP_identity>(a);
}

// Casts an integer or bool tensor to float32, so that `/` returns floating point numbers.
PyObject* to_floating(PyObject* object) {
  if (is_unsupported_operand(object)) return Py_NewRef(object);
  if (PyLong_Check(object)) return PyFloat_FromDouble(PyLong_AsDouble(object));
  if (PyFloat_Check(object)) return Py_NewRef(object);
  Operand operand;
  if (!operand.set(object)) return nullptr;
  if (is_floating(tenon_tensor_dtype(operand.handle))) return Py_NewRef(object);
  tenon_cast_attrs attributes = TENON_CAST_ATTRS_DEFAULT;
  attributes.to = TENON_FLOAT32;
  tenon_tensor* output = nullptr;
  if (tenon_error* error =
          tenon_call(scope(), TENON_OP_cast, &attributes, &operand.handle, 1, &output, 1))
    return set_exception(error);
  return wrap(output);
}

// The operator a / b. Converts integers and bools to float32.
PyObject* true_divide(PyObject* a, PyObject* b) {
  if (is_tensor(a) && is_floating(tenon_tensor_dtype(as_tensor(a)->handle)))
    if (!is_tensor(b) || is_floating(tenon_tensor_dtype(as_tensor(b)->handle)))
      return call_binary<TENON_OP_div>(a, b);
  nb::object x = nb::steal(to_floating(a));
  if (!x.is_valid()) return nullptr;
  nb::object y = nb::steal(to_floating(b));
  if (!y.is_valid()) return nullptr;
  return call_binary<TENON_OP_div>(x.ptr(), y.ptr());
}

// The operator a ** b. Does not support pow() with a modulus.
PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) return Py_NewRef(Py_NotImplemented);
  return call_binary<TENON_OP_pow>(a, b);
}

// Returns whether an operand has the dtype bool.
bool is_bool(PyObject* object) {
  if (is_tensor(object)) return tenon_tensor_dtype(as_tensor(object)->handle) == TENON_BOOL;
  if (tenon_variable* variable = variable_of(object))
    return tenon_variable_dtype(variable) == TENON_BOOL;
  return PyBool_Check(object);
}

// The operator ~a: logical not for bools, bitwise not for integers.
PyObject* invert(PyObject* a) {
  return is_bool(a) ? call_unary<TENON_OP_logical_not>(a) : call_unary<TENON_OP_bitwise_not>(a);
}

// The slot of &, | or ^: calls the op `logical` for bools, or `bitwise` for integers.
template <uint32_t logical, uint32_t bitwise>
PyObject* logical_or_bitwise(PyObject* a, PyObject* b) {
  return is_bool(a) && is_bool(b) ? call_binary<logical>(a, b) : call_binary<bitwise>(a, b);
}

// The slot of comparisons. `how` is Py_EQ, Py_NE, Py_LT, Py_LE, Py_GT or Py_GE.
PyObject* compare(PyObject* a, PyObject* b, int how) {
  switch (how) {
    case Py_EQ:
      return call_binary<TENON_OP_equal>(a, b);
    case Py_NE:
      return call_binary<TENON_OP_not_equal>(a, b);
    case Py_LT:
      return call_binary<TENON_OP_less>(a, b);
    case Py_LE:
      return call_binary<TENON_OP_less_equal>(a, b);
    case Py_GT:
      return call_binary<TENON_OP_greater>(a, b);
    default:
      return call_binary<TENON_OP_greater_equal>(a, b);
  }
}

}  // namespace

// Adds the slots of the operators to the slots of the tensor type.
void add_operators(std::vector<PyType_Slot>& slots) {
  auto add = [&](int slot, auto* function) {
    slots.push_back({slot, reinterpret_cast<void*>(function)});
  };
  add(Py_nb_add, call_binary<TENON_OP_add>);
  add(Py_nb_subtract, call_binary<TENON_OP_sub>);
  add(Py_nb_multiply, call_binary<TENON_OP_mul>);
  add(Py_nb_true_divide, true_divide);
  add(Py_nb_floor_divide, call_binary<TENON_OP_floor_div>);
  add(Py_nb_remainder, call_binary<TENON_OP_mod>);
  add(Py_nb_power, power);
  add(Py_nb_matrix_multiply, call_binary<TENON_OP_matmul>);
  add(Py_nb_lshift, call_binary<TENON_OP_shift_left>);
  add(Py_nb_rshift, call_binary<TENON_OP_shift_right>);
  add(Py_nb_and, logical_or_bitwise<TENON_OP_logical_and, TENON_OP_bitwise_and>);
  add(Py_nb_or, logical_or_bitwise<TENON_OP_logical_or, TENON_OP_bitwise_or>);
  add(Py_nb_xor, logical_or_bitwise<TENON_OP_logical_xor, TENON_OP_bitwise_xor>);
  add(Py_nb_negative, call_unary<TENON_OP_neg>);
  add(Py_nb_positive, positive);
  add(Py_nb_absolute, call_unary<TENON_OP_abs>);
  add(Py_nb_invert, invert);
  add(Py_tp_richcompare, compare);
}

}  // namespace tenon_python
