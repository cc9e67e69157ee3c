// cummax and cummin: the cumulative maximum or minimum along an axis, and its index.

#include <limits>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t axis = 0;      // The axis to accumulate along; a negative one counts from the end.
  bool reverse = false;  // Whether to accumulate from the end.
  TENON_ATTRS(axis, reverse)
};

// Constraints.
//   C1  x is numeric.
//   C2  -rank(x) <= axis < rank(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_numeric(x.dtype), "C1: x must be numeric, but is {}", x.dtype);
  require_axis(attrs.axis, x, "C2");
  return {TensorType(x.dtype, x.shape), TensorType(DType::kI64, x.shape)};
}

// The cotangent of a value goes to the element that the value was read from.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  return {in_wide(v.cotangent(0), [&](const Tensor& dy) {
    return scatter_elements(zeros(TensorType(dy->type.dtype, dy->shape())), v.output(1), dy,
                            {.axis = attrs.axis, .reduction = ScatterReduction::kAdd});
  })};
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The cases of cummax, or with `sign` -1 those of cummin: inputs and values are negated, and
// indices are the same.
Cases<Attrs> cases(double sign) {
  const auto extreme = [sign](std::initializer_list<double> of_max) {
    CaseTensor x = f32(of_max);
    for (double& value : x.values) value *= sign;
    return x;
  };
  CaseTensor matrix = extreme({1, 3, 2, 4, 0, 5}), first_axis = extreme({1, 3, 2, 4, 3, 5}),
             last_axis = extreme({1, 3, 3, 4, 4, 5});
  for (CaseTensor* x : {&matrix, &first_axis, &last_axis}) x->type.shape = {2, 3};
  return {
      {.name = "example",
       .inputs = {extreme({2, 1, 4, 3})},
       .expect = {extreme({2, 2, 4, 4}), i64({0, 0, 2, 2})},
       .n_outputs = 2},
      {.name = "first_axis",
       .inputs = {matrix},
       .expect = {first_axis, i64({2, 3}, {0, 0, 0, 1, 0, 1})},
       .n_outputs = 2},
      {.name = "last_axis",
       .attrs = {.axis = -1},
       .inputs = {matrix},
       .expect = {last_axis, i64({2, 3}, {0, 1, 1, 0, 0, 2})},
       .n_outputs = 2},
      {.name = "reverse",
       .attrs = {.reverse = true},
       .inputs = {extreme({2, 1, 4, 3})},
       .expect = {extreme({4, 4, 4, 3}), i64({2, 2, 2, 3})},
       .n_outputs = 2},
      {.name = "ties_go_to_the_one_met_first",
       .inputs = {extreme({1, 1, 0, 2, 2})},
       .expect = {extreme({1, 1, 1, 2, 2}), i64({0, 0, 0, 3, 3})},
       .check_gradient = false,
       .n_outputs = 2},
      {.name = "ties_in_reverse",
       .attrs = {.reverse = true},
       .inputs = {extreme({1, 2, 2})},
       .expect = {extreme({2, 2, 2}), i64({2, 2, 2})},
       .check_gradient = false,
       .n_outputs = 2},
      {.name = "nan_stays",
       .inputs = {extreme({1, kNaN, 2, kNaN})},
       .expect = {extreme({1, kNaN, kNaN, kNaN}), i64({0, 1, 1, 1})},
       .n_outputs = 2},
      {.name = "middle_axis", .attrs = {.axis = 1}, .inputs = {uniform({2, 5, 3})}, .n_outputs = 2},
      {.name = "no_elements",
       .inputs = {uniform({0, 2})},
       .expect = {f32({0, 2}, {}), i64({0, 2}, {})},
       .n_outputs = 2},
      {.name = "bool_is_not_numeric", .inputs = {boolean({1})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axis = 1}, .inputs = {f32({1})}, .error = "C2"},
      {.name = "rank_0_has_no_axis", .inputs = {f32({}, {1})}, .error = "C2"},
  };
}

// Adds a case with the integers 0, 127 and -128. `extremes` and `places` are the expected values
// and indices.
Cases<Attrs> with_integer_case(Cases<Attrs> cases, std::initializer_list<double> extremes,
                               std::initializer_list<double> places) {
  cases.push_back({.name = "integers",
                   .inputs = {i8({0, 127, -128})},
                   .expect = {i8(extremes), i64(places)},
                   .n_outputs = 2});
  return cases;
}

// Defines cummax or cummin after setting the fields that both share.
OpDef define_cumulative_extreme(Definition<Attrs> d) {
  d.details =
      "Ties go to the element that is visited first, which receives the whole gradient. From the "
      "first NaN on, all values are NaN.";
  d.inputs = {{"x", "the input"}};
  d.outputs = {{"values", "the cumulative maxima or minima, of the type of x"},
               {"indices", "their indices along axis, as int64"}};
  d.attrs_doc = {{"axis", "The axis to accumulate along; a negative one counts from the end."},
                 {"reverse", "Whether to accumulate from the end."}};
  d.infer = infer;
  d.vjp = vjp;
  d.saves = Saves::kSome;
  d.saved_outputs = 1u << 1;
  return define(d);
}

}  // namespace

OpDef cummax_def() {
  return define_cumulative_extreme({
      .name = "cummax",
      .summary = "The cumulative maximum along an axis, and its index.",
      .formula = "values[i] = max(x[0], ..., x[i]) = x[indices[i]]",
      .cases =
          [] {
            return with_integer_case(cases(1), {0, 127, 127}, {0, 1, 1});
          },
  });
}

OpDef cummin_def() {
  return define_cumulative_extreme({
      .name = "cummin",
      .summary = "The cumulative minimum along an axis, and its index.",
      .formula = "values[i] = min(x[0], ..., x[i]) = x[indices[i]]",
      .cases =
          [] {
            return with_integer_case(cases(-1), {0, 0, -128}, {0, 0, 2});
          },
  });
}

}  // namespace tenon::ops
