// diff: takes differences of adjacent elements, n times.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t n = 1;      // Number of times to take differences.
  int64_t axis = -1;  // The axis of the differences; a negative one counts from the end.
  TENON_ATTRS(n, axis)
};

// Constraints.
//   C1  x is numeric.
//   C2  -rank(x) <= axis < rank(x).
//   C3  n is not negative.
//   C4  y has the type of x, except that axis is shorter by n, or empty.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_numeric(x.dtype), "C1: x must be numeric, but is {}: convert it with cast", x.dtype);
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, x, "C2"));
  require(attrs.n >= 0, "C3: n must not be negative, but is {}", attrs.n);
  TensorType y(x.dtype, x.shape);
  y.shape[axis] = attrs.n < x.shape[axis] ? x.shape[axis] - attrs.n : Size(0);
  return {y};  // C4
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  Tensor y = in[0];
  const auto axis = static_cast<size_t>(from_front(attrs.axis, y->rank()));
  const auto part = [&](Size start, Size end) {
    return slice(y, {.starts = {start}, .ends = {end}, .axes = {attrs.axis}});
  };
  for (int64_t i = 0; i < attrs.n && y->shape()[axis] > 0; ++i) {
    const Size size = y->shape()[axis];
    y = sub(part(1, size), part(0, size - 1));
  }
  return {y};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({1, 2, 4, 7, 0}), matrix = f32({2, 3}, {1, 3, 6, 0, 5, 10});
  return {
      {.name = "example", .inputs = {x}, .expect = {f32({1, 2, 3, -7})}},
      {.name = "twice", .attrs = {.n = 2}, .inputs = {x}, .expect = {f32({1, 1, -10})}},
      {.name = "never", .attrs = {.n = 0}, .inputs = {x}, .expect = {x}},
      {.name = "last_axis", .inputs = {matrix}, .expect = {f32({2, 2}, {2, 3, 5, 5})}},
      {.name = "first_axis",
       .attrs = {.axis = 0},
       .inputs = {matrix},
       .expect = {f32({1, 3}, {-1, 2, 4})}},
      {.name = "middle_axis", .attrs = {.n = 3, .axis = 1}, .inputs = {uniform({2, 5, 3})}},
      {.name = "more_often_than_there_are_elements",
       .attrs = {.n = 9223372036854775807},
       .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6})},
       .expect = {f32({2, 0}, {})}},
      {.name = "unsigned_integers_wrap", .inputs = {u8({1, 0, 5})}, .expect = {u8({255, 5})}},
      {.name = "no_elements", .inputs = {uniform({3, 0})}, .expect = {f32({3, 0}, {})}},
      {.name = "bool_is_not_numeric", .inputs = {boolean({1, 0})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axis = 1}, .inputs = {x}, .error = "C2"},
      {.name = "rank_0_has_no_axis", .inputs = {f32({}, {1})}, .error = "C2"},
      {.name = "negative_n", .attrs = {.n = -1}, .inputs = {x}, .error = "C3"},
  };
}

}  // namespace

OpDef diff_def() {
  return define<Attrs>({
      .name = "diff",
      .summary = "The differences of adjacent elements along an axis, taken n times.",
      .formula = "y[i] = x[i + 1] - x[i]",
      .details = "Integers wrap around in their own dtype.",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the differences; axis is shorter by n, or empty"}},
      .attrs_doc = {{"n", "The number of times that differences are taken; 0 gives x."},
                    {"axis", "The axis of the differences; a negative one counts from the end."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
