// segment_reduce: reduces the slices along the first axis that have the same segment id.

#include <cmath>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

enum class SegmentReduction : int32_t { kSum, kProd, kMin, kMax, kMean };

EnumInfo enum_info(SegmentReduction) {
  static constexpr const char* kNames[] = {"sum", "prod", "min", "max", "mean"};
  return {"segment_reduction", kNames};
}

struct Attrs {
  int64_t num_segments = 0;                             // Number of segments.
  SegmentReduction reduction = SegmentReduction::kSum;  // How the slices of a segment are combined.
  TENON_ATTRS(num_segments, reduction)
};

// Constraints.
//   C1  x is numeric, and floating point for mean.
//   C2  -num_segments <= id < num_segments for each of segment_ids.
//   C3  segment_ids are int32 or int64, one for each slice of x along its first axis.
//   C4  num_segments is not negative, and the size of the result does not overflow.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[0], &ids = in[1];
  require(is_numeric(x.dtype), "C1: x must be numeric, but is {}", x.dtype);
  require(attrs.reduction != SegmentReduction::kMean || is_floating(x.dtype),
          "C1: x must be floating point for a mean, but is {}", x.dtype);
  require(ids.dtype == DType::kI32 || ids.dtype == DType::kI64,
          "C3: segment_ids must be int32 or int64, but are {}", ids.dtype);
  require(x.rank() > 0 && ids.rank() == 1 && ids.shape[0] == x.shape[0],
          "C3: segment_ids {} must have one element for each slice along axis 0 of {}", ids, x);
  require(attrs.num_segments >= 0, "C4: num_segments must not be negative, but is {}",
          attrs.num_segments);
  TensorType y(x.dtype, x.shape);
  y.shape[0] = attrs.num_segments;
  check_size(y);
  return {y};
}

// Returns a tensor filled with the lowest value of its dtype.
Tensor lowest(const TensorType& type) {
  if (is_floating(type.dtype)) return fill(number(-INFINITY), type.shape, type.dtype);
  if (is_unsigned_integer(type.dtype)) return zeros(type);
  const auto bits = static_cast<int>(8 * size_of(type.dtype));
  return fill(integer(INT64_MIN >> (64 - bits)), type.shape, type.dtype);
}

// Returns a tensor filled with the highest value of its dtype.
Tensor highest(const TensorType& type) {
  return is_floating(type.dtype) ? neg(lowest(type)) : bitwise_not(lowest(type));
}

// Half types are summed and multiplied in float32.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const DType dtype = in[0]->type.dtype, wide = is_floating(dtype) ? wide_dtype(dtype) : dtype;
  const Tensor ids = expand_dims(in[1], {-1});
  Dims shape = in[0]->shape();
  shape[0] = attrs.num_segments;
  const TensorType narrow_type(dtype, shape), wide_type(wide, shape);
  const auto sums = [&] {
    return scatter_nd(zeros(wide_type), ids, to_dtype(in[0], wide), ScatterReduction::kAdd);
  };

  switch (attrs.reduction) {
    case SegmentReduction::kSum:
      return {to_dtype(sums(), dtype)};
    case SegmentReduction::kProd:
      return {to_dtype(
          scatter_nd(ones(wide_type), ids, to_dtype(in[0], wide), ScatterReduction::kMul), dtype)};
    case SegmentReduction::kMin:
      return {scatter_nd(highest(narrow_type), ids, in[0], ScatterReduction::kMin)};
    case SegmentReduction::kMax:
      return {scatter_nd(lowest(narrow_type), ids, in[0], ScatterReduction::kMax)};
    case SegmentReduction::kMean:
      break;
  }
  const Tensor n =
      scatter_nd(zeros(TensorType(DType::kI64, {attrs.num_segments})), ids,
                 ones(TensorType(DType::kI64, in[1]->shape())), ScatterReduction::kAdd);
  Dims along(shape);
  for (size_t i = 1; i < shape.rank(); ++i) along[i] = 1;
  return {to_dtype(sums() / reshape(cast(n, wide), along), dtype)};
}

Cases<Attrs> cases() {
  using enum SegmentReduction;
  const CaseTensor x = f32({1, 2, 3, 4, 5});
  const CaseTensor ids = i64({0, 2, 0, 2, 2});
  const CaseTensor rows = uniform({6, 3});
  const CaseTensor row_ids = i32({1, 0, 3, 1, 1, 0});
  return {
      {.name = "example",
       .attrs = {.num_segments = 3},
       .inputs = {x, ids},
       .expect = {f32({4, 0, 11})}},
      {.name = "prod",
       .attrs = {.num_segments = 3, .reduction = kProd},
       .inputs = {x, ids},
       .expect = {f32({3, 1, 40})}},
      {.name = "min",
       .attrs = {.num_segments = 3, .reduction = kMin},
       .inputs = {x, ids},
       .expect = {f32({1, INFINITY, 2})}},
      {.name = "max",
       .attrs = {.num_segments = 3, .reduction = kMax},
       .inputs = {x, ids},
       .expect = {f32({3, -INFINITY, 5})}},
      {.name = "mean",
       .attrs = {.num_segments = 3, .reduction = kMean},
       .inputs = {f32({1, 2, 3, 4, 6}), ids},
       .expect = {f32({2, NAN, 4})}},
      {.name = "rows",
       .attrs = {.num_segments = 2},
       .inputs = {i32({3, 2}, {1, 2, 3, 4, 5, 6}), i32({1, 0, 1})},
       .expect = {i32({2, 2}, {3, 4, 6, 8})}},
      {.name = "min_of_no_signed_integers",
       .attrs = {.num_segments = 2, .reduction = kMin},
       .inputs = {i16({5, 7}), i64({0, 0})},
       .expect = {i16({5, 32767})}},
      {.name = "max_of_no_signed_integers",
       .attrs = {.num_segments = 2, .reduction = kMax},
       .inputs = {i8({-5, -7}), i64({0, 0})},
       .expect = {i8({-5, -128})}},
      {.name = "min_of_no_unsigned_integers",
       .attrs = {.num_segments = 2, .reduction = kMin},
       .inputs = {u8({5, 7}), i64({1, 1})},
       .expect = {u8({255, 5})}},
      {.name = "max_of_no_unsigned_integers",
       .attrs = {.num_segments = 2, .reduction = kMax},
       .inputs = {u8({5, 7}), i64({1, 1})},
       .expect = {u8({0, 7})}},
      {.name = "nan_stays_in_its_segment",
       .attrs = {.num_segments = 2, .reduction = kMax},
       .inputs = {f32({1, NAN, 2}), i64({0, 0, 1})},
       .expect = {f32({NAN, 2})}},
      {.name = "halves_are_summed_in_float32",
       .attrs = {.num_segments = 1},
       .inputs = {f16({2048, 1, 1}), i64({0, 0, 0})},
       .expect = {f16({2050})}},
      {.name = "integers_wrap",
       .attrs = {.num_segments = 1},
       .inputs = {i8({100, 100}), i64({0, 0})},
       .expect = {i8({-56})}},
      {.name = "negative_counts_from_the_end",
       .attrs = {.num_segments = 3},
       .inputs = {f32({1, 2}), i64({-1, 0})},
       .expect = {f32({2, 0, 1})}},
      {.name = "drawn_sum", .attrs = {.num_segments = 4}, .inputs = {rows, row_ids}},
      {.name = "drawn_prod",
       .attrs = {.num_segments = 4, .reduction = kProd},
       .inputs = {rows, row_ids}},
      {.name = "drawn_max",
       .attrs = {.num_segments = 2, .reduction = kMax},
       .inputs = {uniform({4, 2}), i64({0, 1, 1, 0})}},
      {.name = "drawn_mean",
       .attrs = {.num_segments = 2, .reduction = kMean},
       .inputs = {uniform({4, 2}), i64({1, 1, 0, 1})}},
      {.name = "nothing",
       .attrs = {.num_segments = 2},
       .inputs = {f32({0, 1}, {}), i64({0}, {})},
       .expect = {f32({2, 1}, {0, 0})}},
      {.name = "no_segments",
       .inputs = {uniform({0, 2}), i64({0}, {})},
       .expect = {f32({0, 2}, {})}},
      {.name = "bool_is_not_numeric",
       .attrs = {.num_segments = 1},
       .inputs = {boolean({1}), i64({0})},
       .error = "C1"},
      {.name = "mean_of_integers",
       .attrs = {.num_segments = 1, .reduction = kMean},
       .inputs = {i32({1}), i64({0})},
       .error = "C1"},
      {.name = "id_out_of_range",
       .attrs = {.num_segments = 2},
       .inputs = {x, ids},
       .error = "index 2 is outside [0, 2)"},
      {.name = "ids_are_floating", .attrs = {.num_segments = 3}, .inputs = {x, x}, .error = "C3"},
      {.name = "too_few_ids",
       .attrs = {.num_segments = 3},
       .inputs = {x, i64({0, 1})},
       .error = "C3"},
      {.name = "rank_0", .inputs = {f32({}, {1}), i64({}, {0})}, .error = "C3"},
      {.name = "negative_num_segments",
       .attrs = {.num_segments = -1},
       .inputs = {x, ids},
       .error = "C4"},
  };
}

}  // namespace

OpDef segment_reduce_def() {
  return define<Attrs>({
      .name = "segment_reduce",
      .summary = "The slices along the first axis, reduced by segment.",
      .formula = "y[s] = reduce(x[i] for all i with segment_ids[i] = s)",
      .details = "The result of an empty segment is 0 for sum, 1 for prod and NaN for mean. For "
                 "min it is the largest and for max the lowest value of the dtype, which is an "
                 "infinity for floating point. If a segment contains NaN, its result is NaN. "
                 "Negative ids count from the end. A slice whose id is out of range is dropped and "
                 "is an error. Half types are summed and multiplied in float32. The second "
                 "derivative of prod ignores elements that are 0.",
      .inputs = {{"x", "the slices"}, {"segment_ids", "the segment of each slice, in any order"}},
      .outputs = {{"y", "one slice for each segment"}},
      .attrs_doc = {{"num_segments", "The number of segments."},
                    {"reduction",
                     "How the slices of a segment are reduced: sum, prod, min, max or mean."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kAccumulation,
      .sparse_output = true,
      .index_rule = "C2",
  });
}

}  // namespace tenon::ops
