// The table of ops, which ops_gen.cc defines, and the functions of Python that it describes.
#pragma once

#include "native.h"

namespace tenon_python {

enum class InputKind : uint8_t { kRequired, kOptional, kVariadic };
enum class AttributeKind : uint8_t { kInt, kFloat, kBool, kDtype, kEnum, kString, kInts };

struct Attribute {
  const char* name;
  AttributeKind kind;
  uint16_t offset;                 // Of the value in the struct.
  uint16_t count_offset;           // Of the number of sizes, for kInts.
  const char* const* enumerators;  // For kEnum, ending with nullptr.
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
  bool has_many_outputs;  // Their number depends on the arguments.
  bool is_quick;          // A view or an elementwise op: short if its inputs are small.
  int8_t state;           // Index of the input that is a generator's state; -1 for none.
  const void* defaults;   // The attribute struct with its default values; NULL for none.
  uint16_t attributes_size;
  const char* const* outputs;
};

// The largest attribute struct; ops_gen.cc asserts it.
inline constexpr size_t kMaxAttributesSize = 256;
inline constexpr size_t kMaxParameters = 24;

extern const Op kOps[];
extern const size_t kOpCount;
extern PyMethodDef kOpFunctions[];  // Ends with an empty entry.
extern PyMethodDef kOpMethods[];    // Methods of Tensor, for ops whose first input is a tensor.

// Calls an op with the arguments of Python's vectorcall. `self` is the first input, or nullptr.
// With a generator, a random op takes no input `state` and returns no next state.
PyObject* call_op(const Op& op, PyObject* self, PyObject* const* arguments, Py_ssize_t n_arguments,
                  PyObject* keyword_names, tenon_generator* generator = nullptr);

template <size_t index>
PyObject* op_function(PyObject*, PyObject* const* arguments, Py_ssize_t n_arguments,
                      PyObject* keyword_names) {
  return call_op(kOps[index], nullptr, arguments, n_arguments, keyword_names);
}

template <size_t index>
PyObject* op_method(PyObject* self, PyObject* const* arguments, Py_ssize_t n_arguments,
                    PyObject* keyword_names) {
  return call_op(kOps[index], self, arguments, n_arguments, keyword_names);
}

// Calls an op without attributes that has one output. Returns a new reference or nullptr.
PyObject* call_plain(uint32_t op, tenon_tensor* const* inputs, size_t n_inputs, bool is_short);

}  // namespace tenon_python
