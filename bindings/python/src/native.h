// Shared declarations of the extension module `tenon._native`, which wraps the C ABI for Python.
//
// Tensors are a plain Python type with number slots (tensor.cc), and ops are read from a generated
// table (call.cc), because eager calls must cost little. All other objects are nanobind classes.
//
// Locks: code in Python's callbacks takes the GIL, and every call that may block releases it.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <structmember.h>
#include <tenon/tenon.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace tenon_python {

// ---- errors (errors.cc) ------------------------------------------------------------------------

// Sets the Python exception of `error`, which is consumed. Returns nullptr. If `error` comes from
// an exception of a callback, that exception is set again.
PyObject* set_exception(tenon_error* error);

// Throws the Python exception of an error; NULL does nothing. Consumes `error`.
[[noreturn]] void throw_error(tenon_error* error);
inline void check(tenon_error* error) {
  if (error) [[unlikely]]
    throw_error(error);
}

// Catches the exception in flight in a callback: remembers it for set_exception() and returns the
// error that the callback returns. Call it in a catch block, with the GIL.
tenon_error* catch_exception();

inline tenon_string to_c(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view(tenon_string text) { return {text.data ? text.data : "", text.size}; }
nb::str to_python(tenon_string text);
// Copies owned text to Python and frees it.
nb::str take_text(tenon_string text);

// ---- scopes (scope.cc) -------------------------------------------------------------------------

// The scope in which the calls of a thread run.
struct Current {
  tenon_scope* scope = nullptr;
  bool tracing = false;  // Whether calls in the scope are being traced.
};
// In the static block of thread-local storage, because each call reads it.
[[gnu::tls_model("initial-exec")]] inline thread_local constinit Current current;

// Creates the scope of a thread that has none, in the shared context. Throws.
tenon_scope* make_thread_scope();
inline tenon_scope* scope() { return current.scope ? current.scope : make_thread_scope(); }
tenon_context* shared_context();

// Makes a callback's scope the thread's current one.
class ScopeEntry {
 public:
  explicit ScopeEntry(tenon_scope* scope) : outer_(current) {
    current = {scope, tenon_scope_is_tracing(scope)};
  }
  ~ScopeEntry() { current = outer_; }
  ScopeEntry(const ScopeEntry&) = delete;
  ScopeEntry& operator=(const ScopeEntry&) = delete;

 private:
  Current outer_;
};

// Sets the scope's location to the user's line, for errors of a trace that runs later.
void set_user_location();

// Drops a reference to a Python object later, on a thread that holds the GIL. Any thread may call
// it, without the GIL and with locks of the core.
void release_later(PyObject* object);
void release_payload(void* object);

// ---- tensors (tensor.cc) -----------------------------------------------------------------------

struct PyTensor {
  PyObject_HEAD tenon_tensor* handle;
  PyObject* weak_references;
  bool is_small;     // Calls on it are too short to release the GIL.
  bool is_symbolic;  // A value of a trace.
};

inline PyTypeObject* tensor_type = nullptr;
inline bool is_tensor(PyObject* object) { return Py_TYPE(object) == tensor_type; }
inline PyTensor* as_tensor(PyObject* object) { return reinterpret_cast<PyTensor*>(object); }

// Wraps a tensor that a call returned, whose ownership is transferred. Returns a new reference;
// nullptr with an exception. `is_on_host`: it was computed by a short call, from tensors whose
// memory the host can read.
PyObject* wrap(tenon_tensor* owned, bool is_on_host = false);
// Wraps a tensor of a callback's input.
PyObject* wrap_borrowed(tenon_tensor* borrowed);
inline nb::object take(tenon_tensor* owned) {
  PyObject* object = wrap(owned);
  if (!object) nb::raise_python_error();
  return nb::steal(object);
}
inline nb::object take_or_none(tenon_tensor* owned) { return owned ? take(owned) : nb::none(); }

void define_tensor(nb::module_& module);

// A tensor for the duration of a call: a Tensor's own handle, or one made from a number, a variable
// or an array.
class Operand {
 public:
  Operand() = default;
  Operand(Operand&& other) noexcept
      : handle(std::exchange(other.handle, nullptr)),
        owned_(std::exchange(other.owned_, nullptr)),
        object_(std::exchange(other.object_, nullptr)) {}
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  ~Operand() {
    if (owned_) tenon_tensor_release(owned_);
    Py_XDECREF(object_);
  }

  // Sets the operand to `object`. Returns whether it succeeded; if not, a Python exception is set.
  // With `weak_numbers`, a Python number becomes an inline scalar, which adopts the dtype of the
  // other operands.
  bool set(PyObject* object, bool weak_numbers = true) {
    if (!is_tensor(object)) return set_other(object, weak_numbers);
    handle = as_tensor(object)->handle;
    is_small = as_tensor(object)->is_small;
    return true;
  }

  tenon_tensor* handle = nullptr;
  bool is_small = true;

 private:
  bool set_other(PyObject* object, bool weak_numbers);
  bool set_converted(PyObject* object);

  tenon_tensor* owned_ = nullptr;
  PyObject* object_ = nullptr;
};

// The operands of a sequence, and their handles.
class Operands {
 public:
  // None becomes NULL if `optional`.
  explicit Operands(nb::handle sequence, bool weak_numbers = true, bool optional = false);
  tenon_tensor* const* data() const { return handles_.data(); }
  size_t size() const { return handles_.size(); }

 private:
  std::vector<Operand> operands_;
  std::vector<tenon_tensor*> handles_;
};

// Tensors that a call returns. Releases those that Python has not taken.
class Results {
 public:
  explicit Results(size_t count) : handles_(count, nullptr) {}
  ~Results() { tenon_tensor_release_all(handles_.data(), handles_.size()); }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  tenon_tensor** data() { return handles_.data(); }
  size_t size() const { return handles_.size(); }
  // As a list, with None for NULL.
  nb::list take();
  void resize(size_t count) { handles_.resize(count); }

 private:
  std::vector<tenon_tensor*> handles_;
};

// The dtype that a Python object stands for: a tn.DType, a name, or a type of Python or NumPy.
bool dtype_from_python(PyObject* object, tenon_dtype* out);
tenon_dtype to_dtype(nb::handle object);
nb::object to_python(tenon_dtype dtype);
std::vector<int64_t> to_sizes(nb::handle sizes);
nb::tuple sizes_to_python(const int64_t* sizes, size_t rank);

// ---- variables (state.cc) ----------------------------------------------------------------------

// Reads the variable of a Python object; nullptr without an exception if it is none.
tenon_variable* variable_of(PyObject* object);
tenon_value* value_of(nb::handle object);  // Of a tensor or a variable. Throws.
// The Python object of a variable: the one that exists, or a new one.
nb::object wrap_variable(tenon_variable* borrowed);

// ---- calls of Python (callbacks.cc) ------------------------------------------------------------

// Calls a Python function in a scope: with a list of tensors, for a list of tensors. Stores them,
// owned, in `out`, and returns their number in `out_count`, if that is not NULL.
tenon_error* call_python(PyObject* function, tenon_scope* scope, tenon_tensor* const* inputs,
                         size_t n_inputs, tenon_tensor** out, size_t n_out, bool exactly);
tenon_block block_of(nb::handle function);
tenon_tensor_function tensor_function_of(nb::handle function);
tenon_backward_function backward_of(nb::handle function);

// Runs `call` without the GIL, and throws the exception of the error that it returns.
template <typename Call>
void run_blocking(Call&& call) {
  tenon_error* error;
  if (current.tracing) set_user_location();
  {
    const nb::gil_scoped_release release;
    error = call();
  }
  check(error);
}

// ---- the parts of the module -------------------------------------------------------------------

void define_ops(nb::module_& module);
void define_errors(nb::module_& module);
void define_scopes(nb::module_& module);
void define_state(nb::module_& module);
void define_gradients(nb::module_& module);
void define_control(nb::module_& module);
void define_functions(nb::module_& module);
void define_programs(nb::module_& module);
void define_files(nb::module_& module);
void define_profiler(nb::module_& module);
void define_custom(nb::module_& module);
void define_exchange(nb::module_& module);
void define_lists(nb::module_& module);
// Adds the slots of the operators to those of the type of tensors.
void add_operators(std::vector<PyType_Slot>& slots);

}  // namespace tenon_python
