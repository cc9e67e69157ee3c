// top_k: the largest or smallest elements along an axis, and their indices.

#include <limits>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t k = 1;        // Number of elements to choose.
  int64_t axis = -1;    // The axis to choose along; a negative one counts from the end.
  bool largest = true;  // true: the largest elements; false: the smallest.
  bool sorted = true;   // true: results in order of value; false: in order of index.
  TENON_ATTRS(k, axis, largest, sorted)
};

enum Output { kValues, kIndices };

// Constraints.
//   C1  -rank(x) <= axis < rank(x).
//   C2  0 <= k <= the size of x along axis.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, x, "C1"));
  require(attrs.k >= 0 && attrs.k <= x.shape[axis],
          "C2: k is {}, but axis {} of {} has {} elements", attrs.k, axis, x, x.shape[axis]);
  TensorType values(x.dtype, x.shape);
  values.shape[axis] = attrs.k;
  return {values, TensorType(DType::kI64, values.shape)};
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  return {scatter_elements(zeros(v.input_type(0)), v.output(kIndices), v.cotangent(kValues),
                           {.axis = attrs.axis})};
}

Cases<Attrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const CaseTensor x = f32({4, 1, 3, 5, 2});
  return {
      {.name = "example",
       .attrs = {.k = 3},
       .inputs = {x},
       .expect = {f32({5, 4, 3}), i64({3, 0, 2})},
       .n_outputs = 2},
      {.name = "smallest",
       .attrs = {.k = 2, .largest = false},
       .inputs = {x},
       .expect = {f32({1, 2}), i64({1, 4})},
       .n_outputs = 2},
      {.name = "in_the_order_of_indices",
       .attrs = {.k = 3, .sorted = false},
       .inputs = {x},
       .expect = {f32({4, 3, 5}), i64({0, 2, 3})},
       .n_outputs = 2},
      {.name = "axis",
       .attrs = {.k = 1, .axis = 0},
       .inputs = {i32({2, 3}, {4, 2, 6, 1, 5, 3})},
       .expect = {i32({1, 3}, {4, 5, 6}), i64({1, 3}, {0, 1, 0})},
       .n_outputs = 2},
      {.name = "ties_go_to_the_lowest_index",
       .attrs = {.k = 3},
       .inputs = {f32({1, 2, 1, 2, 1})},
       .expect = {f32({2, 2, 1}), i64({1, 3, 0})},
       .check_gradient = false,
       .n_outputs = 2},
      {.name = "nan_is_chosen_last",
       .attrs = {.k = 3},
       .inputs = {f32({kNaN, 1, kNaN, -kInf})},
       .expect = {f32({1, -kInf, kNaN}), i64({1, 3, 0})},
       .n_outputs = 2},
      {.name = "nan_is_chosen_last_of_the_smallest",
       .attrs = {.k = 2, .largest = false},
       .inputs = {bf16({kNaN, 1, kInf})},
       .expect = {bf16({1, kInf}), i64({1, 2})},
       .n_outputs = 2},
      {.name = "bool",
       .attrs = {.k = 2},
       .inputs = {boolean({0, 1, 0})},
       .expect = {boolean({1, 0}), i64({1, 0})},
       .n_outputs = 2},
      {.name = "all", .attrs = {.k = 4, .axis = 1}, .inputs = {uniform({3, 4, 2})}, .n_outputs = 2},
      {.name = "few_of_many",
       .attrs = {.k = 10},
       .inputs = {uniform({4, 2000}, -100, 100, DType::kI16)},
       .n_outputs = 2},
      {.name = "few_of_many_by_index",
       .attrs = {.k = 40, .axis = 0, .largest = false, .sorted = false},
       .inputs = {uniform({1500, 2}, -1, 1, DType::kF64)},
       .check_gradient = false,
       .n_outputs = 2},
      {.name = "none",
       .attrs = {.k = 0},
       .inputs = {uniform({2, 3})},
       .expect = {f32({2, 0}, {}), i64({2, 0}, {})},
       .n_outputs = 2},
      {.name = "no_lines", .inputs = {uniform({0, 3})}, .n_outputs = 2},
      {.name = "axis_out_of_range", .attrs = {.axis = 1}, .inputs = {x}, .error = "C1"},
      {.name = "more_than_there_are", .attrs = {.k = 6}, .inputs = {x}, .error = "C2"},
      {.name = "negative_k", .attrs = {.k = -1}, .inputs = {x}, .error = "C2"},
  };
}

}  // namespace

OpDef top_k_def() {
  return define<Attrs>({
      .name = "top_k",
      .summary = "The k largest or smallest elements along an axis, and their indices.",
      .formula = "values = the first k of sort(x), values[i] = x[indices[i]]",
      .details =
          "The elements are the first k of a descending sort, or of an ascending one. Ties go to "
          "the lowest index, and NaN is chosen only if there are fewer than k other elements.",
      .inputs = {{"x", "the input, of any dtype"}},
      .outputs = {{"values", "the chosen elements"},
                  {"indices", "their indices along axis, as int64"}},
      .attrs_doc = {{"k", "The number of elements to choose."},
                    {"axis", "The axis to choose along; a negative one counts from the end."},
                    {"largest",
                     "Whether the largest elements are chosen; otherwise the smallest are."},
                    {"sorted",
                     "Whether results are in order of value, the most extreme one first; otherwise "
                     "in order of index."}},
      .infer = infer,
      .vjp = vjp,
      .cases = cases,
      .saves = Saves::kSome,
      .saved_outputs = 1u << kIndices,
      .sparse_output = true,
      .onnx = "TopK",
  });
}

}  // namespace tenon::ops
