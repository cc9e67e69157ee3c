// identity and stop_gradient: both return the input. stop_gradient passes no gradient to it.

#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

// Constraints: none.
TensorTypes infer(const NoAttrs&, TypeSpan in) { return {TensorType(in[0].dtype, in[0].shape)}; }

// Implements `view` (see OpDef): the result has the layout of the input.
bool view(const NoAttrs&, size_t, const TensorType&, const TensorType&, const StridedLayout& in,
          StridedLayout& out) {
  out = in;
  return true;
}

Tensors identity_vjp(const NoAttrs&, const VjpArgs& v) { return {v.cotangent(0)}; }

Cases<NoAttrs> cases() {
  return {
      {.name = "example", .inputs = {f32({1, 2})}, .expect = {f32({1, 2})}},
      {.name = "bool", .inputs = {boolean({1, 0})}, .expect = {boolean({1, 0})}},
      {.name = "rank_0", .inputs = {i64({}, {7})}, .expect = {i64({}, {7})}},
      {.name = "no_elements", .inputs = {uniform({0, 2})}, .expect = {f32({0, 2}, {})}},
      {.name = "no_input", .error = "takes 1 inputs"},
  };
}

// Returns the cases with their gradient checks disabled.
Cases<NoAttrs> without_gradient(Cases<NoAttrs> cases) {
  for (AnyCase& c : cases) c.check_gradient = false;
  return cases;
}

}  // namespace

OpDef identity_def() {
  return define<NoAttrs>({
      .name = "identity",
      .summary = "The input, unchanged.",
      .formula = "y = x",
      .details = "A scalar stays a scalar, and adopts the dtype of the tensors that it meets.",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the same elements"}},
      .infer = infer,
      .vjp = identity_vjp,
      .view = view,
      .cases = cases,
      .onnx = "Identity",
  });
}

OpDef stop_gradient_def() {
  return define<NoAttrs>({
      .name = "stop_gradient",
      .summary = "The input, treated as a constant in derivatives.",
      .formula = "y = x, and dy/dx = 0",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the same elements, through which no gradient flows"}},
      .infer = infer,
      .vjp = no_gradients,
      .view = view,
      .cases = [] { return without_gradient(cases()); },
  });
}

}  // namespace tenon::ops
