// slice: selects strided ranges along some axes.

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "core/base/size_table.h"
#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = SliceAttrs;

// The range of indices that a slice selects along one axis.
struct Range {
  Size start = 0;
  int64_t step = 1;
  Size size = 0;
};
using Ranges = SmallVector<Range, 6>;

// Clamps start and end to an axis of size n, as NumPy does. With a negative step, the clamped end
// may be -1, one before the first element. Users pass a number below -n for that, because a given
// -1 means the last element.
Range clamp_range(Size n, Size start, Size end, int64_t step) {
  const Size lowest = step > 0 ? 0 : -1, highest = step > 0 ? n : n - 1;
  // Exceeds every size, and sums of a few such numbers do not overflow int64.
  constexpr int64_t kBeyondEveryAxis = int64_t{1} << 60;
  const auto clamp = [&](Size bound) {
    if (bound.known()) bound = std::clamp(bound.word(), -kBeyondEveryAxis, kBeyondEveryAxis);
    return greatest(lowest, least(bound < 0 ? bound + n : bound, highest));
  };
  start = clamp(start);
  end = clamp(end);
  const Size distance = step > 0 ? end - start : start - end;
  const int64_t stride = step > 0 ? step : -std::max(step, -std::numeric_limits<int64_t>::max());
  // If the distance from start to end is data-dependent, its sign is unknown. Use a formula that is
  // correct for both signs.
  const Size size = is_data_dependent(distance) ? greatest(0, (distance + (stride - 1)) / stride)
                    : distance > 0              ? (distance - 1) / stride + 1
                                                : Size(0);
  return {start, step, size};
}

// Constraints.
//   C1  starts and ends have the same length; axes and steps have it too, or are empty.
//   C2  axes lists axes of x, each at most once; if it is empty, there are at most rank(x) starts.
//   C3  no step is 0.
Ranges ranges_of(const Attrs& attrs, const TensorType& x) {
  const size_t n = attrs.starts.size();
  require(attrs.ends.size() == n, "C1: starts has {} entries, but ends has {}", n,
          attrs.ends.size());
  require(attrs.axes.empty() || attrs.axes.size() == n,
          "C1: starts has {} entries, but axes has {}", n, attrs.axes.size());
  require(attrs.steps.empty() || attrs.steps.size() == n,
          "C1: starts has {} entries, but steps has {}", n, attrs.steps.size());
  require(n <= x.rank(), "C2: there are {} starts, more than the axes of x: {}", n, x);
  if (!attrs.axes.empty()) require_axes(attrs.axes, x, "C2");

  Ranges ranges;
  for (const Size size : x.shape) ranges.push_back({0, 1, size});
  for (size_t i = 0; i < n; ++i) {
    const size_t axis =
        attrs.axes.empty() ? i : static_cast<size_t>(from_front(attrs.axes[i], x.rank()));
    const int64_t step = attrs.steps.empty() ? 1 : attrs.steps[i];
    require(step != 0, "C3: the step of axis {} is 0", axis);
    ranges[axis] = clamp_range(x.shape[axis], attrs.starts[i], attrs.ends[i], step);
  }
  return ranges;
}

TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  TensorType y(in[0].dtype, {});
  for (const Range& range : ranges_of(attrs, in[0])) y.shape.push_back(range.size);
  return {y};
}

// Implements `view` (see OpDef): moves the offset to the first element, and multiplies strides by
// steps.
bool view(const Attrs& attrs, size_t, const TensorType& type, const TensorType& in_type,
          const StridedLayout& in, StridedLayout& out) {
  out.offset = in.offset;
  out.strides = dense_strides(type.shape);
  if (count(type.shape) == 0) return true;
  const Ranges ranges = ranges_of(attrs, in_type);
  for (size_t i = 0; i < ranges.size(); ++i) {
    out.offset += ranges[i].start * in.strides[i];
    // A range of one element may have any stride, because it is never used.
    if (ranges[i].size > 1) out.strides[i] = ranges[i].step * in.strides[i];
  }
  return true;
}

// Inserts step - 1 zeros after each element along an axis.
Tensor insert_zeros(const Tensor& x, size_t axis, int64_t step) {
  Dims shape = x->shape();
  Size outer = 1, inner = 1;
  for (size_t i = 0; i < shape.rank(); ++i) (i <= axis ? outer : inner) *= shape[i];
  shape[axis] *= step;
  const Tensor gaps = pad(reshape(x, {outer, 1, inner}), {0, 0, 0, 0, step - 1, 0});
  return reshape(gaps, shape);
}

// Writes the cotangent to the selected elements, and zeros elsewhere.
Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& x = v.input_type(0);
  if (count(v.output_type(0).shape) == 0) return {zeros(x)};
  const size_t rank = x.rank();
  const Ranges ranges = ranges_of(attrs, x);
  Tensor g = v.cotangent(0);
  Ints backwards;
  Sizes pads(2 * rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    if (ranges[i].step < 0 && ranges[i].size > 1) backwards.push_back(static_cast<int64_t>(i));
  }
  if (!backwards.empty()) g = flip(g, backwards);
  for (size_t i = 0; i < rank; ++i) {
    const auto [start, step, size] = ranges[i];
    const Size last = start + (size - 1) * (size > 1 ? step : 0);
    const int64_t stride = size > 1 ? std::abs(step) : 1;
    if (stride > 1) g = insert_zeros(g, i, stride);
    pads[i] = least(start, last);
    // A negative pad crops the zeros that were inserted after the last element.
    pads[rank + i] = x.shape[i] - pads[i] - g->shape()[i];
  }
  return {pad(g, pads)};
}

Cases<Attrs> cases() {
  const CaseTensor six = f32({0, 1, 2, 3, 4, 5});
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  return {
      {.name = "example",
       .attrs = {.starts = {1}, .ends = {4}},
       .inputs = {six},
       .expect = {f32({1, 2, 3})}},
      {.name = "negative_bounds_count_from_the_end",
       .attrs = {.starts = {-3}, .ends = {-1}},
       .inputs = {six},
       .expect = {f32({3, 4})}},
      {.name = "bounds_are_clamped",
       .attrs = {.starts = {-100}, .ends = {kMax}},
       .inputs = {six},
       .expect = {six}},
      {.name = "steps",
       .attrs = {.starts = {1}, .ends = {6}, .steps = {2}},
       .inputs = {six},
       .expect = {f32({1, 3, 5})}},
      {.name = "steps_that_leave_a_rest",
       .attrs = {.starts = {0}, .ends = {5}, .steps = {3}},
       .inputs = {six},
       .expect = {f32({0, 3})}},
      {.name = "backwards",
       .attrs = {.starts = {4}, .ends = {1}, .steps = {-1}},
       .inputs = {six},
       .expect = {f32({4, 3, 2})}},
      {.name = "backwards_to_the_front",
       .attrs = {.starts = {kMax}, .ends = {kMin}, .steps = {-2}},
       .inputs = {six},
       .expect = {f32({5, 3, 1})}},
      {.name = "huge_steps",
       .attrs = {.starts = {5}, .ends = {kMin}, .steps = {kMin}},
       .inputs = {six},
       .expect = {f32({5})}},
      {.name = "axes",
       .attrs = {.starts = {1, 0}, .ends = {3, 1}, .axes = {-1, 0}},
       .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6})},
       .expect = {f32({1, 2}, {2, 3})}},
      {.name = "first_axes_by_default",
       .attrs = {.starts = {1}, .ends = {2}},
       .inputs = {i32({2, 2}, {1, 2, 3, 4})},
       .expect = {i32({1, 2}, {3, 4})}},
      {.name = "every_way_at_once",
       .attrs = {.starts = {-1, 0, 1}, .ends = {0, 7, 3}, .steps = {-2, 3, 1}},
       .inputs = {uniform({5, 7, 4})}},
      {.name = "no_elements",
       .attrs = {.starts = {4}, .ends = {2}},
       .inputs = {six},
       .expect = {f32({0}, {})}},
      {.name = "rank_0", .inputs = {f32({}, {1})}, .expect = {f32({}, {1})}},
      {.name = "lengths_differ",
       .attrs = {.starts = {0}, .ends = {1, 2}},
       .inputs = {six},
       .error = "C1"},
      {.name = "too_many_axes",
       .attrs = {.starts = {0, 0}, .ends = {1, 1}},
       .inputs = {six},
       .error = "C2"},
      {.name = "axis_out_of_range",
       .attrs = {.starts = {0}, .ends = {1}, .axes = {1}},
       .inputs = {six},
       .error = "C2"},
      {.name = "step_is_zero",
       .attrs = {.starts = {0}, .ends = {1}, .steps = {0}},
       .inputs = {six},
       .error = "C3"},
  };
}

}  // namespace

OpDef slice_def() {
  return define<Attrs>({
      .name = "slice",
      .summary = "Strided ranges of the input along some axes.",
      .formula = "y[i] = x[starts + i * steps]",
      .details = "Negative bounds count from the end, and all bounds are clamped to the axis. With "
                 "a negative step, an end below -size includes the first element.",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "a view of the selected elements"}},
      .attrs_doc =
          {{"starts", "The first index along each of the axes."},
           {"ends",
            "The exclusive end along each of the axes: one past the last index, in the direction "
            "of the step."},
           {"axes", "The axes; empty for the leading axes."},
           {"steps",
            "The step along each of the axes; empty for ones. A negative step goes backwards."}},
      .infer = infer,
      .vjp = vjp,
      .view = view,
      .cases = cases,
      .onnx = "Slice",
  });
}

}  // namespace tenon::ops
