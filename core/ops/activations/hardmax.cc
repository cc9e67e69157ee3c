// hardmax: 1 at the first largest element along an axis, and 0 elsewhere.

#include <cmath>

#include "core/ops/definition/formulas.h"
#include "core/ops/definition/op_ids.h"

namespace tenon::ops {
namespace {

using Attrs = LastAxisAttrs;

// Constraints.
//   C1  x is floating point.
//   C2  -rank(x) <= axis < rank(x).
//   C3  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  require_axis(attrs.axis, x, "C2");
  return {x};  // C3
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const TensorType& type = in[0]->type;
  if (count(type.shape) == 0) return {identity(in[0])};  // An empty tensor has no largest element.
  const int64_t axis = from_front(attrs.axis, type.rank());
  const Tensor largest = call1(OpId::k_argmax, ArgReduceAttrs{.axis = axis}, {in[0]});
  return {one_hot(largest, type.shape[static_cast<size_t>(axis)], type.dtype, axis)};
}

// y is piecewise constant, so the derivative is zero.
Tensors vjp(const Attrs&, const VjpArgs&) { return {Tensor()}; }

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({2, 3}, {1, 3, 2, -1, -3, -2})},
       .expect = {f32({2, 3}, {0, 1, 0, 1, 0, 0})}},
      {.name = "axis",
       .attrs = {.axis = 0},
       .inputs = {f32({2, 3}, {1, 3, 2, 4, -3, 5})},
       .expect = {f32({2, 3}, {0, 1, 0, 1, 0, 1})}},
      {.name = "the_first_of_a_tie",
       .inputs = {f32({3, 1, 3, 2})},
       .expect = {f32({1, 0, 0, 0})},
       .check_gradient = false},
      {.name = "nan_is_the_largest",
       .inputs = {f32({INFINITY, NAN, NAN})},
       .expect = {f32({0, 1, 0})}},
      {.name = "half", .inputs = {bf16({1, 2})}, .expect = {bf16({0, 1})}},
      {.name = "drawn", .attrs = {.axis = 1}, .inputs = {uniform({2, 5, 3})}},
      {.name = "no_rows", .inputs = {uniform({0, 4})}},
      {.name = "empty_rows", .inputs = {f32({2, 0}, {})}, .expect = {f32({2, 0}, {})}},
      {.name = "integers", .inputs = {i32({1, 2})}, .error = "C1"},
      {.name = "axis_out_of_range",
       .attrs = {.axis = 2},
       .inputs = {uniform({2, 3})},
       .error = "C2"},
  };
}

}  // namespace

OpDef hardmax_def() {
  return define<Attrs>({
      .name = "hardmax",
      .summary = "One at the largest element along an axis, and zeros elsewhere.",
      .formula = "y[i] = 1 if i == argmax(x along axis), else 0",
      .details =
          "Ties select the first element, and NaN counts as the largest. The derivative is zero.",
      .inputs = {{"x", "any floating tensor"}},
      .outputs = {{"y", "of the type of x"}},
      .attrs_doc = {{"axis", "The axis to search along; negative values count from the end."}},
      .infer = infer,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
      .sparse_output = true,
      .onnx = "Hardmax",
  });
}

}  // namespace tenon::ops
