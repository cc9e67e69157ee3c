// Calls of Python functions from C: blocks, function bodies and derivatives.
#include "native.h"

namespace tenon_python {

namespace {

// Wraps borrowed tensors as a Python list; NULL becomes None.
nb::list wrap_inputs(tenon_tensor* const* inputs, size_t n_inputs) {
  nb::list list;
  for (size_t i = 0; i < n_inputs; ++i) {
    if (!inputs[i]) {
      list.append(nb::none());
      continue;
    }
    PyObject* wrapped = wrap_borrowed(inputs[i]);
    if (!wrapped) nb::raise_python_error();
    list.append(nb::steal(wrapped));
  }
  return list;
}

// Converts `result`, the tensors that a Python function returned, to handles in `out`, and adds a
// reference to each. Throws if there are more than n_out tensors or, if `exactly` is true, fewer.
// Converts None to NULL if `optional` is true.
void store_results(nb::handle result, tenon_tensor** out, size_t n_out, bool exactly,
                   bool optional) {
  nb::list items(result);
  const size_t n = items.size();
  if (n > n_out || (exactly && n != n_out))
    throw std::runtime_error("a callback returned " + std::to_string(n) + " tensors instead of " +
                             std::to_string(n_out));
  const Operands operands(items, true, optional);
  for (size_t i = 0; i < n; ++i) {
    tenon_tensor_retain(operands.data()[i]);
    out[i] = operands.data()[i];
  }
}

// The C callback that calls a block written in Python.
tenon_error* run_block(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                       size_t n_inputs, tenon_tensor** out, size_t n_out) {
  return call_python(static_cast<PyObject*>(payload), scope, inputs, n_inputs, out, n_out, false);
}

// The C callback that calls a Python function with a fixed number of outputs.
tenon_error* run_tensor_function(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                                 size_t n_inputs, tenon_tensor** out, size_t n_out) {
  return call_python(static_cast<PyObject*>(payload), scope, inputs, n_inputs, out, n_out, true);
}

// The C callback that calls a derivative written in Python.
tenon_error* run_backward(void* payload, tenon_scope* scope, const tenon_backward_args* args,
                          tenon_tensor** out_grads, size_t n_grads) {
  const nb::gil_scoped_acquire gil;
  const ScopeEntry entry(scope);
  try {
    nb::object result = nb::handle(static_cast<PyObject*>(payload))(
        wrap_inputs(args->inputs, args->n_inputs), wrap_inputs(args->outputs, args->n_outputs),
        wrap_inputs(args->cotangents, args->n_outputs));
    store_results(result, out_grads, n_grads, true, true);
    return nullptr;
  } catch (...) {
    return catch_exception();
  }
}

}  // namespace

// Calls a Python function with a list of tensors in `scope`, and stores the returned tensors in
// `out`.
tenon_error* call_python(PyObject* function, tenon_scope* scope, tenon_tensor* const* inputs,
                         size_t n_inputs, tenon_tensor** out, size_t n_out, bool exactly) {
  const nb::gil_scoped_acquire gil;
  const ScopeEntry entry(scope);
  try {
    nb::object result = nb::handle(function)(wrap_inputs(inputs, n_inputs));
    store_results(result, out, n_out, exactly, false);
    return nullptr;
  } catch (...) {
    return catch_exception();
  }
}

// Returns a C block that calls the Python function. The block holds no reference to the function,
// which must outlive it.
tenon_block block_of(nb::handle function) { return {run_block, function.ptr()}; }

// Returns a C function that calls the Python function and owns a reference to it.
tenon_tensor_function tensor_function_of(nb::handle function) {
  return {run_tensor_function, function.inc_ref().ptr(), release_payload};
}

// Returns a C derivative that calls the Python function and owns a reference to it.
tenon_backward_function backward_of(nb::handle function) {
  return {run_backward, function.inc_ref().ptr(), release_payload};
}

}  // namespace tenon_python
