// Shared declarations of the extension module `tenon._native`, which wraps the C ABI for Python.
//
// Tensors are a plain Python type with number slots (tensor.cc), and ops are called through a
// generated table (call.cc), to keep eager calls fast. All other objects are nanobind classes.
//
// Locks: Python callbacks acquire the GIL, and every call that may block releases it.
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

// Consumes `error`, sets the Python exception for it, and returns nullptr. If `error` results from
// an exception of a callback, sets that exception again.
PyObject* set_exception(tenon_error* error);

// Consumes `error` and throws the Python exception for it. NULL does nothing.
[[noreturn]] void throw_error(tenon_error* error);
inline void check(tenon_error* error) {
  if (error) [[unlikely]]
    throw_error(error);
}

// Converts the exception that a callback threw to the C error that the callback returns. Remembers
// the exception for set_exception(). Call it in a catch block, with the GIL.
tenon_error* catch_exception();

// Returns a C string that refers to the memory of `text`.
inline tenon_string to_c(std::string_view text) { return {text.data(), text.size()}; }
// Returns a view of the memory of `text`; empty if its data is NULL.
inline std::string_view view(tenon_string text) { return {text.data ? text.data : "", text.size}; }
// Copies a C string to a Python string.
nb::str to_python(tenon_string text);
// Converts a C string that the caller owns to a Python string, and releases the C string.
nb::str take_text(tenon_string text);

// ---- scopes (scope.cc) -------------------------------------------------------------------------

// The scope in which the calls of a thread run.
struct Current {
  tenon_scope* scope = nullptr;
  bool tracing = false;  // Whether the scope records calls into a trace.
};
// Uses the static block of thread-local storage, because each call reads this variable.
[[gnu::tls_model("initial-exec")]] inline thread_local constinit Current current;

// Creates a scope in the shared context for a thread that has none. Throws if that fails.
tenon_scope* make_thread_scope();
// Returns the scope in which the calls of this thread run.
inline tenon_scope* scope() { return current.scope ? current.scope : make_thread_scope(); }
// Returns the shared context. Creates it at the first use.
tenon_context* shared_context();

// Makes the scope that a callback received the thread's current one.
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

// Sets the location of the current scope to the source line of the user's Python code. Errors of
// traced calls report this location later.
void set_user_location();

// Drops a reference to a Python object later, on a thread that holds the GIL. Any thread may call
// this function, without the GIL, and while it holds locks of the core.
void release_later(PyObject* object);
// The destructor of a C payload that is a reference to a Python object. Calls release_later().
void release_payload(void* object);

// ---- tensors (tensor.cc) -----------------------------------------------------------------------

struct PyTensor {
  PyObject_HEAD tenon_tensor* handle;
  PyObject* weak_references;
  bool is_small;     // Whether calls on the tensor are too short to release the GIL.
  bool is_symbolic;  // Whether it is a tensor of a trace.
};

inline PyTypeObject* tensor_type = nullptr;
inline bool is_tensor(PyObject* object) { return Py_TYPE(object) == tensor_type; }
inline PyTensor* as_tensor(PyObject* object) { return reinterpret_cast<PyTensor*>(object); }

// Wraps a tensor that a call returned, and takes ownership of it. Returns a new reference, or
// nullptr with an exception. `is_on_host`: a short call computed the tensor from tensors in memory
// that the host can read.
PyObject* wrap(tenon_tensor* owned, bool is_on_host = false);
// Wraps a borrowed tensor, for example an input of a callback.
PyObject* wrap_borrowed(tenon_tensor* borrowed);
// Wraps a tensor that a call returned, like wrap(), but throws if that fails.
inline nb::object take(tenon_tensor* owned) {
  PyObject* object = wrap(owned);
  if (!object) nb::raise_python_error();
  return nb::steal(object);
}
// Wraps a tensor that a call returned, like take(). Returns None for NULL.
inline nb::object take_or_none(tenon_tensor* owned) { return owned ? take(owned) : nb::none(); }

// Adds the class of tensors to the module tenon._native.
void define_tensor(nb::module_& module);

// A tensor for the duration of a call. Borrows the handle of a Tensor, or owns a tensor that it
// creates from a number, a variable or an array.
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

  // Converts `object` to the operand. Returns false with a Python exception if that fails. With
  // `weak_numbers`, a Python number becomes an inline scalar, which adopts the dtype of the other
  // operands.
  bool set(PyObject* object, bool weak_numbers = true) {
    if (!is_tensor(object)) return set_other(object, weak_numbers);
    handle = as_tensor(object)->handle;
    is_small = as_tensor(object)->is_small;
    return true;
  }

  tenon_tensor* handle = nullptr;
  bool is_small = true;

 private:
  // Sets the operand to a number, a variable or an array.
  bool set_other(PyObject* object, bool weak_numbers);
  // Sets the operand to the value of a variable, or to a tensor that Python code creates.
  bool set_converted(PyObject* object);

  tenon_tensor* owned_ = nullptr;
  PyObject* object_ = nullptr;
};

// The operands of a sequence, and an array of their handles.
class Operands {
 public:
  // Converts each object of `sequence` to an operand. If `optional` is true, None becomes NULL.
  explicit Operands(nb::handle sequence, bool weak_numbers = true, bool optional = false);
  tenon_tensor* const* data() const { return handles_.data(); }
  size_t size() const { return handles_.size(); }

 private:
  std::vector<Operand> operands_;
  std::vector<tenon_tensor*> handles_;
};

// The tensors that a call returns. Releases those that were not passed to Python.
class Results {
 public:
  explicit Results(size_t count) : handles_(count, nullptr) {}
  ~Results() { tenon_tensor_release_all(handles_.data(), handles_.size()); }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  tenon_tensor** data() { return handles_.data(); }
  size_t size() const { return handles_.size(); }
  // Returns the tensors as a list; NULL becomes None.
  nb::list take();
  // Changes the number of results to the number of tensors that the call returned.
  void resize(size_t count) { handles_.resize(count); }

 private:
  std::vector<tenon_tensor*> handles_;
};

// Converts a Python object to a dtype: a tn.DType, a name, or a type of Python or NumPy.
bool dtype_from_python(PyObject* object, tenon_dtype* out);
// Like dtype_from_python(), but throws the exception.
tenon_dtype to_dtype(nb::handle object);
// Returns the tn.DType of a dtype; None for TENON_DTYPE_NONE.
nb::object to_python(tenon_dtype dtype);
// Converts a sequence of ints. None becomes TENON_SIZE_UNKNOWN.
std::vector<int64_t> to_sizes(nb::handle sizes);
// Converts sizes to a tuple of ints. An unknown size becomes None.
nb::tuple sizes_to_python(const int64_t* sizes, size_t rank);

// ---- variables (state.cc) ----------------------------------------------------------------------

// Returns the C variable that a Python object wraps; nullptr, without an exception, if the object
// is not a variable.
tenon_variable* variable_of(PyObject* object);
// Returns the tenon_value of a Python Tensor or Variable. Throws for other objects.
tenon_value* value_of(nb::handle object);
// Returns the Python object that wraps a C variable. Creates the object if none exists.
nb::object wrap_variable(tenon_variable* borrowed);

// ---- calls of Python (callbacks.cc) ------------------------------------------------------------

// Calls a Python function with a list of tensors, in `scope`. Stores the returned tensors in `out`;
// the caller owns a reference to each. Fails if the function returns more than n_out tensors or, if
// `exactly` is true, fewer.
tenon_error* call_python(PyObject* function, tenon_scope* scope, tenon_tensor* const* inputs,
                         size_t n_inputs, tenon_tensor** out, size_t n_out, bool exactly);
// Returns a C block that calls the Python function. The block holds no reference to the function,
// which must outlive it.
tenon_block block_of(nb::handle function);
// Returns a C function that calls the Python function and owns a reference to it.
tenon_tensor_function tensor_function_of(nb::handle function);
// Returns a C derivative that calls the Python function and owns a reference to it.
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

// ---- registration of the parts of the module ---------------------------------------------------

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
// Adds the slots of the operators to the slots of the tensor type.
void add_operators(std::vector<PyType_Slot>& slots);

}  // namespace tenon_python
