// searchsorted: returns the indices at which values would be inserted into a sorted sequence.

#include "core/ops/indexing/searchsorted.h"

#include <limits>

namespace tenon {

EnumInfo enum_info(Side) {
  static constexpr const char* kNames[] = {"left", "right"};
  return {"searchsorted_side", kNames};
}

namespace ops {
namespace {

using Attrs = SearchsortedAttrs;

// Constraints.
//   C1  sequence has one axis.
//   C2  sequence and x have one dtype.
TensorTypes infer(const Attrs&, TypeSpan in) {
  const TensorType &sequence = in[0], &x = in[1];
  require(sequence.rank() == 1, "C1: sequence must have one axis, but is {}", sequence);
  require(sequence.dtype == x.dtype, "C2: sequence is {}, but must have the dtype of x: {}",
          sequence.dtype, x.dtype);
  return {TensorType(DType::kI64, x.shape)};
}

Cases<Attrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const CaseTensor sequence = f32({1, 3, 3, 5});
  const CaseTensor x = f32({0, 1, 3, 4, 6});
  return {
      {.name = "example", .inputs = {sequence, x}, .expect = {i64({0, 0, 1, 3, 4})}},
      {.name = "right",
       .attrs = {.side = Side::kRight},
       .inputs = {sequence, x},
       .expect = {i64({0, 1, 3, 3, 4})}},
      {.name = "values_of_two_axes",
       .inputs = {i64({-5, 0, 7}), i64({2, 2}, {0, -6, 7, 8})},
       .expect = {i64({2, 2}, {1, 0, 2, 3})}},
      {.name = "one_value", .inputs = {u8({1, 200}), u8({}, {199})}, .expect = {i64({}, {1})}},
      {.name = "scalar", .inputs = {sequence, scalar(3.5)}, .expect = {i64({}, {3})}},
      {.name = "nan_belongs_before_nan",
       .inputs = {f32({1, kInf, kNaN, kNaN}), f32({kNaN, kInf, 2})},
       .expect = {i64({2, 1, 1})}},
      {.name = "nan_belongs_behind_nan",
       .attrs = {.side = Side::kRight},
       .inputs = {f16({1, kInf, kNaN, kNaN}), f16({kNaN, kInf, 2})},
       .expect = {i64({4, 2, 1})}},
      {.name = "zeros_of_either_sign_are_equal",
       .inputs = {f64({-0.0, 0, 0}), f64({0, -0.0})},
       .expect = {i64({0, 0})}},
      {.name = "bool",
       .attrs = {.side = Side::kRight},
       .inputs = {boolean({0, 0, 1}), boolean({0, 1})},
       .expect = {i64({2, 3})}},
      {.name = "empty_sequence", .inputs = {f32({0}, {}), f32({1, 2})}, .expect = {i64({0, 0})}},
      {.name = "no_values", .inputs = {sequence, uniform({0, 2})}, .expect = {i64({0, 2}, {})}},
      {.name = "drawn",
       .inputs = {i32({-90, -50, -50, -7, 0, 0, 0, 31, 32, 80, 99}),
                  uniform({30, 50}, -100, 100, DType::kI32)}},
      {.name = "sequence_of_two_axes", .inputs = {f32({1, 2}, {1, 2}), x}, .error = "C1"},
  };
}

}  // namespace

OpDef searchsorted_def() {
  return define<Attrs>({
      .name = "searchsorted",
      .summary = "The positions at which values would be inserted into a sorted sequence.",
      .formula =
          "y[i] = the number of elements of sequence that are less than x[i], or not greater",
      .details = "The order is that of sort: NaN comes after all other values and equals itself. "
                 "If the sequence is not sorted, the result is unspecified.",
      .inputs = {{"sequence", "the sorted sequence, ascending, of any dtype"}, {"x", "the values"}},
      .outputs = {{"y", "the positions as int64, with the shape of x"}},
      .attrs_doc = {{"side",
                     "Whether a value is inserted before the elements that equal it (left) or "
                     "after them (right)."}},
      .infer = infer,
      .cases = cases,
      .promotes = Promotes::kAll,
      .sparse_output = true,
      .no_gradient = "its result is an index",
  });
}

}  // namespace ops
}  // namespace tenon
