// cumsum: cumulative sums along an axis.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = CumsumAttrs;

// Constraints.
//   C1  x is numeric.
//   C2  -rank(x) <= axis < rank(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require(is_numeric(in[0].dtype), "C1: x must be numeric, but is {}", in[0].dtype);
  require_axis(attrs.axis, in[0], "C2");
  return {TensorType(in[0].dtype, in[0].shape)};
}

// Element i is a term of all sums from i on, so the derivative is a cumulative sum in the other
// direction.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  Attrs back = attrs;
  back.reverse = !attrs.reverse;
  return {cumsum(v.cotangent(0), back)};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({1, 2, 3, 4});
  return {
      {.name = "example", .inputs = {x}, .expect = {f32({1, 3, 6, 10})}},
      {.name = "exclusive",
       .attrs = {.exclusive = true},
       .inputs = {x},
       .expect = {f32({0, 1, 3, 6})}},
      {.name = "reverse",
       .attrs = {.reverse = true},
       .inputs = {x},
       .expect = {f32({10, 9, 7, 4})}},
      {.name = "exclusive_and_reverse",
       .attrs = {.exclusive = true, .reverse = true},
       .inputs = {x},
       .expect = {f32({9, 7, 4, 0})}},
      {.name = "last_axis",
       .attrs = {.axis = -1},
       .inputs = {f32({2, 2}, {1, 2, 3, 4})},
       .expect = {f32({2, 2}, {1, 3, 3, 7})}},
      {.name = "first_axis",
       .inputs = {f32({2, 2}, {1, 2, 3, 4})},
       .expect = {f32({2, 2}, {1, 2, 4, 6})}},
      {.name = "integers_wrap", .inputs = {i8({100, 100})}, .expect = {i8({100, -56})}},
      {.name = "no_elements", .inputs = {uniform({0, 2})}, .expect = {f32({0, 2}, {})}},
      {.name = "bool_is_not_numeric", .inputs = {boolean({1})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axis = 1}, .inputs = {x}, .error = "C2"},
      {.name = "rank_0_has_no_axis", .inputs = {f32({}, {1})}, .error = "C2"},
  };
}

}  // namespace

OpDef cumsum_def() {
  return define<Attrs>({
      .name = "cumsum",
      .summary = "The cumulative sum along an axis.",
      .formula = "y[i] = x[0] + ... + x[i]",
      .details = "Integers wrap around in their own dtype.",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the sums, in the shape of x"}},
      .attrs_doc = {{"axis", "The axis to accumulate along; a negative one counts from the end."},
                    {"exclusive", "Whether to exclude x[i] from y[i]."},
                    {"reverse", "Whether to accumulate from the end."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .numeric = Numeric::kAccumulation,
      .onnx = "CumSum",
  });
}

}  // namespace tenon::ops
