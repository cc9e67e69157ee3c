// What code does beside giving values: it prints, checks, and calls the host. Eager, that happens
// at once; in code under trace it becomes part of the trace, and happens when that runs, in the
// order in which it was written (core/trace/order.h).

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/dispatch/scope.h"
#include "core/ops/op.h"
#include "core/tensor/text.h"

namespace tenon {

// Prints a line: the format, in which each {} is the next value as text, and {{ and }} are braces.
// An empty format is the values alone.
struct PrintOptions : TextOptions {
  bool long_form = false;  // With dtype, shape and device.
};
void print(Scope& scope, std::string_view format, TensorSpan values,
           const PrintOptions& options = {});

// Fails unless all elements of `condition`, a bool, are true. The message is a format as that of
// print().
void assert_all(Scope& scope, const Tensor& condition, std::string_view message,
                TensorSpan values = {});

// Code of the host: it runs eagerly, in the scope that it is given.
struct HostCode {
  std::function<Tensors(Scope& scope, TensorSpan inputs)> run;
};

// What the code gives of the inputs: tensors of the types of `like`. It may read and assign
// variables, choose by values, and call whatever it likes. Tapes see the call as one; where they
// ask for its gradient, what it calls is recorded by tapes of its own, which then give it.
Tensors host_call(Scope& scope, const std::shared_ptr<const HostCode>& code, TensorSpan inputs,
                  TensorSpan like);

namespace control {
const OpDef& print();          // order, values... -> order
const OpDef& assert_all();     // order, condition, values... -> order
const OpDef& host_call();      // order, inputs... -> outputs..., a record if it keeps one, order
const OpDef& host_gradient();  // record, sources..., cotangents... -> gradients...
}  // namespace control

}  // namespace tenon
