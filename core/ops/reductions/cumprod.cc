// cumprod: cumulative products along an axis.

#include "core/ops/definition/formulas.h"
#include "core/ops/definition/op_ids.h"

namespace tenon::ops {
namespace {

using Attrs = CumsumAttrs;

Tensor cumprod(const Tensor& x, const Attrs& attrs) { return call1(OpId::k_cumprod, attrs, {x}); }

// Constraints.
//   C1  x is numeric.
//   C2  -rank(x) <= axis < rank(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require(is_numeric(in[0].dtype), "C1: x must be numeric, but is {}", in[0].dtype);
  require_axis(attrs.axis, in[0], "C2");
  return {TensorType(in[0].dtype, in[0].shape)};
}

// Shifts x along an axis: element i becomes the element at i + step, or `beyond` if there is none.
Tensor shift(const Tensor& x, size_t axis, int64_t step, double beyond) {
  Sizes pads(2 * x->rank(), 0);
  pads[axis] = -step;
  pads[x->rank() + axis] = step;
  return pad(x, number(beyond), pads);
}

// Element k is a factor of all products after it. Its gradient is p[k] * s[k], where p[k] is the
// product of the elements before it, and s[k] = dy[k] + x[k + 1] s[k + 1]. Each iteration of the
// loop doubles the number of terms that s includes. The formula has no division, so it is correct
// for zeros, and can be differentiated any number of times.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& type = v.input_type(0);
  if (count(type.shape) == 0) return {v.cotangent(0)};
  const DType wide = wide_dtype(type.dtype);
  const Tensor x = to_dtype(v.input(0), wide), dy = to_dtype(v.cotangent(0), wide);
  const auto axis = static_cast<size_t>(from_front(attrs.axis, type.rank()));
  const int64_t next = attrs.reverse ? -1 : 1;

  Tensor s = attrs.exclusive ? shift(dy, axis, next, 0) : dy;
  Tensor factor = shift(x, axis, next, 1);
  for (int64_t reach = 1; reach < type.shape[axis]; reach *= 2) {
    s = s + factor * shift(s, axis, next * reach, 0);
    factor = factor * shift(factor, axis, next * reach, 1);
  }
  const Tensor p = cumprod(x, {.axis = attrs.axis, .exclusive = true, .reverse = attrs.reverse});
  return {to_dtype(p * s, type.dtype)};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({1, 2, 3, 4});
  return {
      {.name = "example", .inputs = {x}, .expect = {f32({1, 2, 6, 24})}},
      {.name = "exclusive",
       .attrs = {.exclusive = true},
       .inputs = {x},
       .expect = {f32({1, 1, 2, 6})}},
      {.name = "reverse",
       .attrs = {.reverse = true},
       .inputs = {x},
       .expect = {f32({24, 24, 12, 4})}},
      {.name = "exclusive_and_reverse",
       .attrs = {.exclusive = true, .reverse = true},
       .inputs = {x},
       .expect = {f32({24, 12, 4, 1})}},
      {.name = "last_axis",
       .attrs = {.axis = -1},
       .inputs = {f32({2, 2}, {1, 2, 3, 4})},
       .expect = {f32({2, 2}, {1, 2, 3, 12})}},
      {.name = "first_axis",
       .inputs = {f32({2, 2}, {1, 2, 3, 4})},
       .expect = {f32({2, 2}, {1, 2, 3, 8})}},
      {.name = "one_zero", .inputs = {f32({2, 0, 5, 3})}, .expect = {f32({2, 0, 0, 0})}},
      {.name = "two_zeros",
       .attrs = {.reverse = true},
       .inputs = {f32({3, 0, 5, 0, 7})},
       .expect = {f32({0, 0, 0, 0, 7})}},
      {.name = "zero_and_exclusive",
       .attrs = {.exclusive = true},
       .inputs = {f32({2, 0, 5})},
       .expect = {f32({1, 2, 0})}},
      {.name = "middle_axis", .attrs = {.axis = 1}, .inputs = {uniform({2, 5, 3}, -2, 2)}},
      {.name = "integers_wrap", .inputs = {i8({16, 17})}, .expect = {i8({16, 16})}},
      {.name = "half", .inputs = {f16({0.5, 3, 4})}, .expect = {f16({0.5, 1.5, 6})}},
      {.name = "one_element", .inputs = {f64({3})}, .expect = {f64({3})}},
      {.name = "no_elements", .inputs = {uniform({0, 2})}, .expect = {f32({0, 2}, {})}},
      {.name = "bool_is_not_numeric", .inputs = {boolean({1})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axis = 1}, .inputs = {x}, .error = "C2"},
      {.name = "rank_0_has_no_axis", .inputs = {f32({}, {1})}, .error = "C2"},
  };
}

}  // namespace

OpDef cumprod_def() {
  return define<Attrs>({
      .name = "cumprod",
      .summary = "The cumulative product along an axis.",
      .formula = "y[i] = x[0] * ... * x[i]",
      .details = "Integers wrap around in their own dtype.",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the products, in the shape of x"}},
      .attrs_doc = {{"axis", "The axis to accumulate along; a negative one counts from the end."},
                    {"exclusive", "Whether to exclude x[i] from y[i]."},
                    {"reverse", "Whether to accumulate from the end."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kFirstInput,
      .numeric = Numeric::kAccumulation,
  });
}

}  // namespace tenon::ops
