// histogram: counts the elements in each bin of equal width.

#include <cmath>
#include <limits>

#include "core/ops/definition/op_ids.h"
#include "core/ops/indexing/searchsorted.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t bins = 10;  // Number of bins.
  TENON_ATTRS(bins)
};

constexpr double kInf = std::numeric_limits<double>::infinity();

// Constraints.
//   C1  x is floating point; low and high have its dtype and rank 0.
//   C2  bins is positive, and the result has at most 2^62 bytes.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}: convert it with cast",
          x.dtype);
  require(in[1].rank() == 0 && in[2].rank() == 0,
          "C1: low and high must have rank 0, but are {} and {}", in[1], in[2]);
  require(attrs.bins >= 1, "C2: bins must be positive, but is {}", attrs.bins);
  return {require_sizes(DType::kI64, {attrs.bins}, "C2")};
}

// The last bin includes its upper edge. Elements outside all bins are counted in an additional bin,
// which is not returned.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const DType wide = wide_dtype(in[0]->type.dtype);
  const Tensor low = cast(in[1], wide), high = cast(in[2], wide);
  const Size n = count(in[0]->shape());
  const Tensor x = reshape(cast(in[0], wide), {n});
  const Tensor whole = high - low, width = whole / static_cast<double>(attrs.bins);
  const Tensor edges = low + cast(iota({attrs.bins}, DType::kI64, 0), wide) * width;

  const Tensor up_to =
      call1(OpId::k_searchsorted, SearchsortedAttrs{.side = Side::kRight}, {edges, x});
  const Tensor has_bins = logical_and(greater(whole, number(0)), less(whole, number(kInf)));
  const Tensor is_within =
      logical_and(has_bins, logical_and(greater_equal(x, low), less_equal(x, high)));
  const Tensor bin = where(is_within, sub(up_to, integer(1)), integer(attrs.bins));
  const Tensor counts =
      scatter_elements(zeros(TensorType(DType::kI64, {attrs.bins + 1})), bin,
                       ones(TensorType(DType::kI64, {n})), {.reduction = ScatterReduction::kAdd});
  return {slice(counts, {.starts = {0}, .ends = {attrs.bins}})};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({0, 1, 2, 2.5, 4, 3.75});
  return {
      {.name = "example",
       .attrs = {.bins = 4},
       .inputs = {x, f32({}, {0}), f32({}, {4})},
       .expect = {i64({1, 1, 2, 2})}},
      {.name = "beyond_the_edges",
       .attrs = {.bins = 2},
       .inputs = {f64({-1, 0.5, 1, 1.5, 2, 2.5, NAN, -INFINITY}), f64({}, {0}), f64({}, {2})},
       .expect = {i64({1, 3})}},
      {.name = "ten_bins",
       .inputs = {x, f32({}, {0}), f32({}, {5})},
       .expect = {i64({1, 0, 1, 0, 1, 1, 0, 1, 1, 0})}},
      {.name = "matrix",
       .attrs = {.bins = 1},
       .inputs = {f16({2, 2}, {1, 2, 3, 4}), f16({}, {2}), f16({}, {3})},
       .expect = {i64({2})}},
      {.name = "nothing",
       .attrs = {.bins = 2},
       .inputs = {f32({0}, {}), f32({}, {0}), f32({}, {1})},
       .expect = {i64({0, 0})}},
      {.name = "low_is_not_below_high",
       .attrs = {.bins = 2},
       .inputs = {x, f32({}, {2}), f32({}, {2})},
       .expect = {i64({0, 0})}},
      {.name = "too_far_apart",
       .attrs = {.bins = 2},
       .inputs = {x, f32({}, {-kInf}), f32({}, {2})},
       .expect = {i64({0, 0})}},
      {.name = "an_edge_is_nan",
       .attrs = {.bins = 2},
       .inputs = {x, f32({}, {NAN}), f32({}, {2})},
       .expect = {i64({0, 0})}},
      {.name = "integers", .inputs = {i32({1}), i32({}, {0}), i32({}, {1})}, .error = "C1"},
      {.name = "low_has_an_axis", .inputs = {x, f32({0}), f32({}, {1})}, .error = "C1"},
      {.name = "no_bins",
       .attrs = {.bins = 0},
       .inputs = {x, f32({}, {0}), f32({}, {1})},
       .error = "C2"},
  };
}

}  // namespace

OpDef histogram_def() {
  return define<Attrs>({
      .name = "histogram",
      .summary = "The number of elements in each of several bins of equal width.",
      .formula = "y[k] = the number of i with low + k * w <= x[i] < low + (k + 1) * w, "
                 "where w = (high - low) / bins",
      .details = "The last bin includes its upper edge, high. NaN and elements outside the bins "
                 "are not counted. All counts are 0 if high - low is not positive and finite.",
      .inputs = {{"x", "the elements to count"},
                 {"low", "the lower edge of the first bin, of rank 0"},
                 {"high", "the upper edge of the last bin, of rank 0"}},
      .outputs = {{"y", "the counts as int64, along one axis"}},
      .attrs_doc = {{"bins", "The number of bins."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .sparse_output = true,
      .no_gradient = "its result is a count",
  });
}

}  // namespace tenon::ops
