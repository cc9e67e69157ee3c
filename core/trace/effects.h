// Side effects: printing, checking and calling the host. Eager code runs them immediately. Traced
// code adds them to the trace, and they run with it, in program order (core/trace/graph/order.h).

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/dispatch/scope.h"
#include "core/ops/definition/op.h"
#include "core/tensor/tensor_text.h"

namespace tenon {

// Prints a line. In the format, {} stands for the next value, and {{ and }} for braces. An empty
// format prints the values alone.
struct PrintOptions : TextOptions {
  bool long_form = false;  // Adds dtype, shape and device.
};
void print(Scope& scope, std::string_view format, TensorSpan values,
           const PrintOptions& options = {});

// Fails unless all elements of `condition`, a bool, are true. `message` is a format string as for
// print().
void assert_all(Scope& scope, const Tensor& condition, std::string_view message,
                TensorSpan values = {});

// A function on the host. It runs eagerly, in the given scope.
struct HostCode {
  std::function<Tensors(Scope& scope, TensorSpan inputs)> run;
};

// Runs `code` on the inputs and returns its outputs, which have the types of `like`. The code may
// read and assign variables, branch on values, and call any function. An outer tape records it as
// one call. If a gradient is needed, inner tapes record the code's calls and differentiate them.
Tensors host_call(Scope& scope, const std::shared_ptr<const HostCode>& code, TensorSpan inputs,
                  TensorSpan like);

// The ops: their inputs -> their outputs.
namespace control {
const OpDef& print();          // order, values... -> order
const OpDef& assert_all();     // order, condition, values... -> order
const OpDef& host_call();      // order, inputs... -> outputs..., optional record, order
const OpDef& host_gradient();  // record, sources..., cotangents... -> gradients...
}  // namespace control

}  // namespace tenon
