// The table of ops, which ops_gen.cc defines, and functions that call the ops from Python.
#pragma once

#include "native.h"

namespace tenon_python {

enum class InputKind : uint8_t { kRequired, kOptional, kVariadic };
enum class AttributeKind : uint8_t { kInt, kFloat, kBool, kDtype, kEnum, kString, kInts };

struct Attribute {
  const char* name;
  AttributeKind kind;
  uint16_t offset;                 // Offset of the value in the attribute struct.
  uint16_t count_offset;           // Offset of the number of sizes, for kInts.
  const char* const* enumerators;  // Names of the enum values, for kEnum; ends with nullptr.
};

struct Input {
  const char* name;
  InputKind kind;
};

struct Op {
  const char* name;
  uint32_t number;
  const Input* inputs;
  const Attribute* attributes;
  uint8_t n_inputs;
  uint8_t n_attributes;
  uint8_t n_outputs;
  bool has_many_outputs;  // Whether the arguments determine the number of outputs.
  bool is_quick;          // Whether calls on small inputs are too short to release the GIL.
  int8_t state;           // Index of the input that is the state of a generator; -1 for none.
  const void* defaults;   // The attribute struct with its default values; NULL for none.
  uint16_t attributes_size;
  const char* const* outputs;
};

// Maximum size of an attribute struct in bytes, which ops_gen.cc asserts.
inline constexpr size_t kMaxAttributesSize = 256;
inline constexpr size_t kMaxParameters = 24;

extern const Op kOps[];
extern const size_t kOpCount;
extern PyMethodDef kOpFunctions[];  // Ends with an empty entry.
extern PyMethodDef kOpMethods[];    // Methods of Tensor: ops whose first input is a tensor.

// Calls an op with arguments in Python's vectorcall convention. `self` is the first input, or
// nullptr. With a generator, a random op takes no input `state` and does not return the next state.
PyObject* call_op(const Op& op, PyObject* self, PyObject* const* arguments, Py_ssize_t n_arguments,
                  PyObject* keyword_names, tenon_generator* generator = nullptr);

// The function that Python calls for the op at position `index` of kOps.
template <size_t index>
PyObject* op_function(PyObject*, PyObject* const* arguments, Py_ssize_t n_arguments,
                      PyObject* keyword_names) {
  return call_op(kOps[index], nullptr, arguments, n_arguments, keyword_names);
}

// The method of Tensor that Python calls for the op at position `index` of kOps.
template <size_t index>
PyObject* op_method(PyObject* self, PyObject* const* arguments, Py_ssize_t n_arguments,
                    PyObject* keyword_names) {
  return call_op(kOps[index], self, arguments, n_arguments, keyword_names);
}

// Calls an op without attributes that has one output. A short call keeps the GIL. Returns a new
// reference, or nullptr with an exception.
PyObject* call_plain(uint32_t op, tenon_tensor* const* inputs, size_t n_inputs, bool is_short);

}  // namespace tenon_python
