// Branches, loops and effects.
#include "native.h"

namespace tenon_python {

namespace {

constexpr size_t kMaxBlockOutputs = 256;

// Runs one of two Python functions as a block, and returns its outputs.
nb::list cond(nb::handle predicate, nb::handle then_block, nb::handle else_block) {
  Operand condition;
  if (!condition.set(predicate.ptr())) nb::raise_python_error();
  Results results(kMaxBlockOutputs);
  size_t count = 0;
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_cond(here, condition.handle, block_of(then_block), block_of(else_block),
                      results.data(), results.size(), &count);
  });
  results.resize(count);
  return results.take();
}

// Runs the Python function at `index` as a block, and returns its outputs.
nb::list switch_case(nb::handle index, nb::list functions) {
  Operand operand;
  if (!operand.set(index.ptr())) nb::raise_python_error();
  std::vector<tenon_block> blocks;
  for (nb::handle function : functions) blocks.push_back(block_of(function));
  Results results(kMaxBlockOutputs);
  size_t count = 0;
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_case(here, operand.handle, blocks.data(), blocks.size(), results.data(),
                      results.size(), &count);
  });
  results.resize(count);
  return results.take();
}

// Runs a while loop of at most `max_trips` iterations (0: no limit), and returns the final carried
// values. `policy` is a TENON_LOOP_* constant.
nb::list while_loop(nb::handle condition, nb::handle body, nb::list initial, int32_t policy,
                    int64_t max_trips) {
  const Operands values(initial, false);
  tenon_while_options options = TENON_WHILE_OPTIONS_DEFAULT;
  options.policy = policy;
  options.max_trips = max_trips;
  Results results(values.size());
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_while_loop(here, block_of(condition), block_of(body), values.data(), values.size(),
                            &options, results.data());
  });
  return results.take();
}

// Runs a scan over the tensors `xs`, and returns the final carried values and the stacked outputs.
// `policy` is a TENON_LOOP_* constant.
nb::tuple scan(nb::handle body, nb::list initial, nb::list xs, bool reverse, int32_t policy) {
  const Operands carried(initial, false);
  const Operands slices(xs, false);
  tenon_scan_options options = TENON_SCAN_OPTIONS_DEFAULT;
  options.reverse = reverse;
  options.policy = policy;
  Results last(carried.size());
  Results stacked(kMaxBlockOutputs);
  size_t count = 0;
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_scan(here, block_of(body), carried.data(), carried.size(), slices.data(),
                      slices.size(), &options, last.data(), stacked.data(), stacked.size(), &count);
  });
  stacked.resize(count);
  return nb::make_tuple(last.take(), stacked.take());
}

// Calls a Python function on the host. The outputs have the types of the tensors in `like`.
nb::list host_call(nb::handle function, nb::list inputs, nb::list like) {
  const Operands of(inputs, false);
  const Operands types(like, false);
  Results results(types.size());
  tenon_scope* here = scope();
  const tenon_tensor_function c_function = tensor_function_of(function);
  run_blocking([&] {
    return tenon_host_call(here, c_function, of.data(), of.size(), types.data(), results.data(),
                           results.size());
  });
  return results.take();
}

// Prints a line, in which values replace the {} of the format.
void print(const std::string& format, nb::list values) {
  const Operands of(values);
  tenon_scope* here = scope();
  run_blocking([&] { return tenon_print(here, to_c(format), of.data(), of.size(), nullptr); });
}

// Fails with `message` unless all elements of `condition` are true.
void assert_that(nb::handle condition, const std::string& message, nb::list values) {
  Operand holds;
  if (!holds.set(condition.ptr())) nb::raise_python_error();
  const Operands of(values);
  tenon_scope* here = scope();
  run_blocking(
      [&] { return tenon_assert(here, holds.handle, to_c(message), of.data(), of.size()); });
}

// The C callback that passes printed text to the Python function in `payload`.
void write_text(void* payload, tenon_string text) {
  const nb::gil_scoped_acquire gil;
  try {
    nb::handle(static_cast<PyObject*>(payload))(to_python(text));
  } catch (nb::python_error& error) {
    error.restore();
    PyErr_WriteUnraisable(static_cast<PyObject*>(payload));
  }
}

}  // namespace

// Adds the functions for branches, loops and effects to the module tenon._native.
void define_control(nb::module_& module) {
  module.def("cond", &cond);
  module.def("switch_case", &switch_case);
  module.def("while_loop", &while_loop);
  module.def("scan", &scan);
  module.def("host_call", &host_call);
  module.def("print", &print);
  module.def("assert_that", &assert_that);
  module.def(
      "set_print",
      [](nb::handle function) {
        tenon_print_callback callback = {nullptr, nullptr, nullptr};
        if (!function.is_none()) callback = {write_text, function.inc_ref().ptr(), release_payload};
        tenon_context* context = tenon_scope_context(scope());
        run_blocking([&] { return tenon_context_set_print(context, callback); });
      },
      nb::arg("function").none());
  module.def("shape", [](nb::handle tensor) {
    Operand operand;
    if (!operand.set(tensor.ptr(), false)) nb::raise_python_error();
    tenon_tensor* result = nullptr;
    check(tenon_shape(scope(), operand.handle, &result));
    return take(result);
  });
  module.def("format", [](nb::handle tensor, int64_t threshold, int32_t precision, bool long_form) {
    Operand operand;
    if (!operand.set(tensor.ptr(), false)) nb::raise_python_error();
    tenon_format_options options = TENON_FORMAT_OPTIONS_DEFAULT;
    options.threshold = threshold;
    options.precision = precision;
    options.long_form = long_form;
    tenon_string text;
    tenon_scope* here = scope();
    run_blocking([&] { return tenon_tensor_format(here, operand.handle, &options, &text); });
    return take_text(text);
  });
}

}  // namespace tenon_python
