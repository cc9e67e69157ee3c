// Conversion of C errors to Python exceptions, and of exceptions in callbacks to C errors.
#include "native.h"

namespace tenon_python {

namespace {

// The last exception of a callback on this thread, and the message of its error.
struct Remembered {
  PyObject* exception = nullptr;
  std::string message;
};
thread_local Remembered remembered;

// Stores the exception of a callback in `remembered`, and returns the C error for it.
tenon_error* remember_exception(PyObject* exception) {
  nb::object text = nb::steal(PyObject_Str(exception));
  if (!text.is_valid()) PyErr_Clear();
  nb::object name = nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(exception))).attr("__name__");
  std::string message = nb::cast<std::string>(name) + ": " +
                        (text.is_valid() ? nb::cast<std::string>(text) : std::string("?"));
  tenon_code code = TENON_INTERNAL;
  if (nb::hasattr(exception, "code") &&
      nb::isinstance<nb::int_>(nb::handle(exception).attr("code")))
    code = nb::cast<int32_t>(nb::handle(exception).attr("code"));
  Py_XDECREF(remembered.exception);
  Py_INCREF(exception);
  remembered = {exception, message};
  return tenon_error_create(code, to_c(message));
}

// Returns whether the message of an error, or of an error that caused it, contains the message of
// the remembered exception.
bool is_remembered(const tenon_error* error) {
  for (; error; error = tenon_error_cause(error))
    if (view(tenon_error_message(error)).find(remembered.message) != std::string_view::npos)
      return true;
  return false;
}

// Creates the Python exception for a C error, with its causes.
nb::object make_exception(const tenon_error* error) {
  nb::object make = nb::module_::import_("tenon.errors").attr("_make");
  const tenon_error* cause = tenon_error_cause(error);
  return make(tenon_error_code(error), to_python(tenon_error_message(error)),
              to_python(tenon_error_op(error)), to_python(tenon_error_argument(error)),
              to_python(tenon_error_device(error)), to_python(tenon_error_location(error)),
              cause ? make_exception(cause) : nb::none());
}

}  // namespace

// Copies a C string to a Python string.
nb::str to_python(tenon_string text) { return nb::str(text.data ? text.data : "", text.size); }

// Converts a C string that the caller owns to a Python string, and releases the C string.
nb::str take_text(tenon_string text) {
  nb::str result = to_python(text);
  tenon_string_release(text);
  return result;
}

// Sets the Python exception for `error`, releases `error`, and returns nullptr.
PyObject* set_exception(tenon_error* error) {
  const tenon_code code = tenon_error_code(error);
  if (remembered.exception && is_remembered(error)) {
    PyObject* exception = std::exchange(remembered.exception, nullptr);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
    Py_DECREF(exception);
  } else if (code == TENON_CANCELLED && PyErr_CheckSignals() != 0) {
    // PyErr_CheckSignals() has run Python's signal handler, which has set KeyboardInterrupt.
  } else {
    try {
      nb::object exception = make_exception(error);
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
    } catch (nb::python_error& failure) {
      failure.restore();
    }
  }
  tenon_error_release(error);
  return nullptr;
}

// Throws the Python exception for `error`, and releases `error`.
void throw_error(tenon_error* error) {
  set_exception(error);
  nb::raise_python_error();
}

// Converts the exception that is being handled to a C error.
tenon_error* catch_exception() {
  try {
    throw;
  } catch (nb::python_error& error) {
    nb::object value = nb::borrow(error.value());
    if (error.traceback().is_valid())
      PyException_SetTraceback(value.ptr(), error.traceback().ptr());
    return remember_exception(value.ptr());
  } catch (const std::exception& error) {
    return tenon_error_create(TENON_INTERNAL, tenon_str(error.what()));
  } catch (...) {
    return tenon_error_create(TENON_INTERNAL, TENON_STR("an unknown C++ exception"));
  }
}

// Adds the names of error codes and the version of libtenon to the module tenon._native.
void define_errors(nb::module_& module) {
  module.def("code_name", [](int32_t code) { return to_python(tenon_code_name(code)); });
  module.def("version", [] { return to_python(tenon_version()); });
  module.def("version_number", &tenon_version_number);
}

}  // namespace tenon_python
