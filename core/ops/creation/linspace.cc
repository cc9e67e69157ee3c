// linspace: evenly spaced numbers from start to stop.

#include <algorithm>
#include <limits>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t num = 50;            // Number of elements.
  bool endpoint = true;        // Whether stop is the last number.
  DType dtype = DType::kNone;  // The dtype of the result; kNone: that of start and stop.
  TENON_ATTRS(num, endpoint, dtype)
};

// Constraints.
//   C1  start and stop have rank 0.
//   C2  the result's dtype is floating point.
//   C3  num >= 0, and the result has at most 2^62 bytes.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require(in[0].rank() == 0 && in[1].rank() == 0,
          "C1: start and stop must have rank 0, but are {} and {}", in[0], in[1]);
  const DType dtype = attrs.dtype == DType::kNone ? in[0].dtype : attrs.dtype;
  require(is_floating(dtype), "C2: dtype must be floating point, but is {}", dtype);
  return {require_sizes(dtype, {attrs.num}, "C3")};
}

// Replaces the last number by `stop`, because start + (num - 1) * step may differ by rounding.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const DType dtype = attrs.dtype == DType::kNone ? in[0]->type.dtype : attrs.dtype;
  const Tensor start = cast(in[0], dtype), stop = cast(in[1], dtype);
  // Processors convert int32 faster than int64.
  const bool is_short = attrs.num <= std::numeric_limits<int32_t>::max();
  const Tensor i = iota({attrs.num}, is_short ? DType::kI32 : DType::kI64, 0);
  const int64_t gaps = std::max<int64_t>(1, attrs.endpoint ? attrs.num - 1 : attrs.num);
  const Tensor step = (stop - start) / static_cast<double>(gaps);
  const Tensor y = start + cast(i, dtype) * step;
  if (!attrs.endpoint || attrs.num < 2) return {y};
  return {where(equal(i, integer(attrs.num - 1)), stop, y)};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .attrs = {.num = 5},
       .inputs = {f32({}, {0}), f32({}, {1})},
       .expect = {f32({0, 0.25, 0.5, 0.75, 1})}},
      {.name = "without_endpoint",
       .attrs = {.num = 4, .endpoint = false},
       .inputs = {f32({}, {0}), f32({}, {1})},
       .expect = {f32({0, 0.25, 0.5, 0.75})}},
      {.name = "downwards",
       .attrs = {.num = 3},
       .inputs = {f32({}, {2}), f32({}, {-2})},
       .expect = {f32({2, 0, -2})}},
      {.name = "last_is_exact",
       .attrs = {.num = 3},
       .inputs = {f32({}, {-1024}), f32({}, {0.1})},
       .expect = {f32({-1024, -511.95, 0.1})}},
      {.name = "one_number_is_start",
       .attrs = {.num = 1},
       .inputs = {f32({}, {3}), f32({}, {9})},
       .expect = {f32({3})}},
      {.name = "dtype_of_integers_is_given",
       .attrs = {.num = 2, .dtype = DType::kF32},
       .inputs = {i32({}, {1}), i32({}, {4})},
       .expect = {f32({1, 4})}},
      {.name = "no_elements",
       .attrs = {.num = 0},
       .inputs = {f32({}, {0}), f32({}, {1})},
       .expect = {f32({0}, {})}},
      {.name = "start_has_an_axis", .inputs = {f32({0}), f32({}, {1})}, .error = "C1"},
      {.name = "integers_are_not_spaced", .inputs = {i32({}, {0}), i32({}, {1})}, .error = "C2"},
      {.name = "negative_count",
       .attrs = {.num = -1},
       .inputs = {f32({}, {0}), f32({}, {1})},
       .error = "C3"},
  };
}

}  // namespace

OpDef linspace_def() {
  return define<Attrs>({
      .name = "linspace",
      .summary = "Evenly spaced numbers from start to stop.",
      .formula = "y[i] = start + i * (stop - start) / (num - 1)",
      .details = "If endpoint is false, the divisor is num and stop is excluded.",
      .inputs = {{"start", "the first number, of rank 0"}, {"stop", "the last number, of rank 0"}},
      .outputs = {{"y", "the numbers, along one axis"}},
      .attrs_doc = {{"num", "The number of elements."},
                    {"endpoint", "Whether the last number is stop."},
                    {"dtype", "The dtype of the result; none uses that of start and stop."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kComposite,
  });
}

}  // namespace tenon::ops
