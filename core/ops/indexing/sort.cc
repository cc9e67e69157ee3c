// sort and argsort: return the sorted elements along an axis, or their original indices.

#include <limits>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = SortAttrs;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Constraints.
//   C1  -rank(x) <= axis < rank(x).
TensorTypes sort_infer(const Attrs& attrs, TypeSpan in) {
  require_axis(attrs.axis, in[0], "C1");
  return {TensorType(in[0].dtype, in[0].shape)};
}

TensorTypes argsort_infer(const Attrs& attrs, TypeSpan in) {
  require_axis(attrs.axis, in[0], "C1");
  return {TensorType(DType::kI64, in[0].shape)};
}

// Each cotangent goes to the original position of its element. The indices are recomputed, because
// saving them would cost memory in every sort, and few sorts are differentiated.
Tensors sort_vjp(const Attrs& attrs, const VjpArgs& v) {
  const Tensor places = argsort(v.input(0), attrs);
  return {scatter_elements(zeros(v.input_type(0)), places, v.cotangent(0), {.axis = attrs.axis})};
}

// Returns the cases of one op, followed by the cases that sort and argsort share.
Cases<Attrs> with_shared_cases(Cases<Attrs> cases) {
  cases.push_back({.name = "drawn", .inputs = {uniform({3, 7})}});
  cases.push_back({.name = "drawn_descending",
                   .attrs = {.axis = 1, .descending = true},
                   .inputs = {uniform({2, 6, 3})}});
  cases.push_back({.name = "many_ties", .inputs = {uniform({2, 3000}, 0, 50, DType::kI32)}});
  cases.push_back({.name = "many_halves",
                   .attrs = {.descending = true},
                   .inputs = {uniform({3000}, -1, 1, DType::kF16)},
                   .check_gradient = false});
  cases.push_back({.name = "many_wide",
                   .attrs = {.axis = 0},
                   .inputs = {uniform({2500, 2}, -1e300, 1e300, DType::kF64)},
                   .check_gradient = false});
  cases.push_back({.name = "no_elements", .attrs = {.axis = 1}, .inputs = {uniform({3, 0})}});
  cases.push_back({.name = "no_lines", .inputs = {uniform({0, 3})}});
  cases.push_back(
      {.name = "axis_out_of_range", .attrs = {.axis = 1}, .inputs = {f32({1, 2})}, .error = "C1"});
  cases.push_back({.name = "rank_0_has_no_axis", .inputs = {f32({}, {1})}, .error = "C1"});
  return cases;
}

Cases<Attrs> sort_cases() {
  return with_shared_cases({
      {.name = "example", .inputs = {f32({3, 1, 2})}, .expect = {f32({1, 2, 3})}},
      {.name = "descending",
       .attrs = {.descending = true},
       .inputs = {f32({3, 1, 2})},
       .expect = {f32({3, 2, 1})}},
      {.name = "axis",
       .attrs = {.axis = 0},
       .inputs = {f32({2, 3}, {4, 2, 6, 1, 5, 3})},
       .expect = {f32({2, 3}, {1, 2, 3, 4, 5, 6})}},
      {.name = "nan_comes_last",
       .inputs = {f32({kNaN, kInf, -1, kNaN, -kInf})},
       .expect = {f32({-kInf, -1, kInf, kNaN, kNaN})}},
      {.name = "nan_comes_last_descending",
       .attrs = {.descending = true},
       .inputs = {f32({kNaN, -kInf, -1, kNaN, kInf})},
       .expect = {f32({kInf, -1, -kInf, kNaN, kNaN})}},
      {.name = "half_types",
       .inputs = {bf16({2, -0.5, kNaN, -3})},
       .expect = {bf16({-3, -0.5, 2, kNaN})}},
      {.name = "signed_integers",
       .inputs = {i8({1, -128, 127, -1})},
       .expect = {i8({-128, -1, 1, 127})}},
      {.name = "unsigned_integers",
       .attrs = {.descending = true},
       .inputs = {u64({1, 9007199254740992, 0})},
       .expect = {u64({9007199254740992, 1, 0})}},
      {.name = "bool", .inputs = {boolean({1, 0, 1})}, .expect = {boolean({0, 1, 1})}},
  });
}

Cases<Attrs> argsort_cases() {
  return with_shared_cases({
      {.name = "example", .inputs = {f32({3, 1, 2})}, .expect = {i64({1, 2, 0})}},
      {.name = "ties_go_to_the_lowest_index",
       .inputs = {f32({2, 1, 2, 1})},
       .expect = {i64({1, 3, 0, 2})}},
      {.name = "ties_go_to_the_lowest_index_descending",
       .attrs = {.descending = true},
       .inputs = {f32({1, 2, 1, 2})},
       .expect = {i64({1, 3, 0, 2})}},
      {.name = "zeros_of_either_sign_are_equal",
       .inputs = {f32({0, -0.0, 1, 0, -0.0, -1})},
       .expect = {i64({5, 0, 1, 3, 4, 2})}},
      {.name = "axis",
       .attrs = {.axis = 0},
       .inputs = {i32({2, 3}, {4, 2, 6, 1, 5, 3})},
       .expect = {i64({2, 3}, {1, 0, 1, 0, 1, 0})}},
      {.name = "nan_comes_last",
       .inputs = {f16({kNaN, kInf, -1, kNaN, -kInf})},
       .expect = {i64({4, 2, 1, 0, 3})}},
      {.name = "nan_comes_last_descending",
       .attrs = {.descending = true},
       .inputs = {f64({kNaN, -kInf, -1, kNaN, kInf})},
       .expect = {i64({4, 2, 1, 0, 3})}},
      {.name = "bool",
       .attrs = {.descending = true},
       .inputs = {boolean({0, 1, 0, 1})},
       .expect = {i64({1, 3, 0, 2})}},
  });
}

OpDef define_sort(Definition<Attrs> d) {
  d.details =
      "The sort is stable: equal elements, including zeros of either sign, stay in the order of "
      "their indices in both directions. NaN comes last in both directions.";
  d.inputs = {{"x", "the input, of any dtype; false comes before true"}};
  d.attrs_doc = {{"axis", "The axis to sort along; a negative one counts from the end."},
                 {"descending", "Whether the largest element comes first."}};
  return define(d);
}

}  // namespace

OpDef sort_def() {
  return define_sort({
      .name = "sort",
      .summary = "The elements along an axis in sorted order.",
      .formula = "y[0] <= y[1] <= ..., a permutation of x",
      .outputs = {{"y", "the sorted elements, with the shape and dtype of x"}},
      .infer = sort_infer,
      .vjp = sort_vjp,
      .cases = sort_cases,
      .saves = Saves::kFirstInput,
  });
}

OpDef argsort_def() {
  return define_sort({
      .name = "argsort",
      .summary = "The indices that sort the elements along an axis.",
      .formula = "x[y[0]] <= x[y[1]] <= ..., y a permutation of the indices",
      .outputs = {{"y", "the indices as int64, with the shape of x"}},
      .infer = argsort_infer,
      .cases = argsort_cases,
      .sparse_output = true,
      .no_gradient = "its result is an index",
  });
}

}  // namespace tenon::ops
