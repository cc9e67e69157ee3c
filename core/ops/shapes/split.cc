// split: splits a tensor along one axis into several tensors.

#include <algorithm>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = SplitAttrs;

// Constraints.
//   C1  -rank(x) <= axis < rank(x).
//   C2  either num_outputs is at least 1, or `split` is given.
//   C3  the sizes of `split` are not negative and sum to the size of the axis.
// Checks C2 and C3 and returns the sizes of the outputs along the axis.
Sizes output_sizes(const Attrs& attrs, const TensorType& x, int64_t axis) {
  const Size n = x.shape[static_cast<size_t>(axis)];
  require((attrs.num_outputs >= 1) != !attrs.split.empty() && attrs.num_outputs >= 0,
          "C2: exactly one of num_outputs and split must be given, but num_outputs is {} and split "
          "has {} "
          "sizes",
          attrs.num_outputs, attrs.split.size());
  if (attrs.split.empty()) {
    constexpr int64_t kMaxOutputs = 1 << 16;
    require(attrs.num_outputs <= kMaxOutputs, "C2: num_outputs is {}, but must be at most {}",
            attrs.num_outputs, kMaxOutputs);
    const Size part = (n + attrs.num_outputs - 1) / attrs.num_outputs;
    Sizes sizes;
    for (int64_t i = 0; i < attrs.num_outputs; ++i) {
      sizes.push_back(greatest(0, least(n - i * part, part)));
    }
    return sizes;
  }
  Size rest = n;
  for (const Size size : attrs.split) {
    require(
        size >= 0,
        "C3: split contains the size {}, which is negative or exceeds the rest of axis {} of {}",
        size, axis, x);
    require(size <= rest,
            "C3: size {} of split is negative or exceeds what is left of axis {} of {}", size, axis,
            x);
    rest -= size;
  }
  require(rest == 0,
          "C3: the sizes of split must sum to the axis: {} elements of axis {} of {} are left",
          rest, axis, x);
  return attrs.split;
}

TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  const int64_t axis = require_axis(attrs.axis, x, "C1");
  TensorTypes parts;
  for (const Size size : output_sizes(attrs, x, axis)) {
    TensorType& part = parts.emplace_back(x.dtype, x.shape);
    part.shape[static_cast<size_t>(axis)] = size;
  }
  return parts;
}

// Sets `out` to the layout of output `index` as a view of the input. Always succeeds.
bool view(const Attrs& attrs, size_t index, const TensorType&, const TensorType& in_type,
          const StridedLayout& in, StridedLayout& out) {
  const int64_t axis = from_front(attrs.axis, in_type.rank());
  const Sizes sizes = output_sizes(attrs, in_type, axis);
  int64_t start = 0;
  for (size_t i = 0; i < index; ++i) start += sizes[i];
  out = in;
  if (sizes[index] > 0) out.offset += start * in.strides[static_cast<size_t>(axis)];
  return true;
}

Tensors vjp(const Attrs& attrs, const VjpArgs& v) {
  Tensors parts;
  for (size_t i = 0; i < v.n_outputs(); ++i) parts.push_back(v.cotangent(i));
  return {concat(parts, attrs.axis)};
}

Cases<Attrs> cases() {
  const CaseTensor five = f32({1, 2, 3, 4, 5});
  return {
      {.name = "example",
       .attrs = {.num_outputs = 2},
       .inputs = {f32({1, 2, 3, 4})},
       .expect = {f32({1, 2}), f32({3, 4})},
       .n_outputs = 2},
      {.name = "last_part_is_smaller",
       .attrs = {.num_outputs = 2},
       .inputs = {five},
       .expect = {f32({1, 2, 3}), f32({4, 5})},
       .n_outputs = 2},
      {.name = "more_parts_than_elements",
       .attrs = {.num_outputs = 3},
       .inputs = {f32({1, 2})},
       .expect = {f32({1}), f32({2}), f32({0}, {})},
       .n_outputs = 3},
      {.name = "sizes",
       .attrs = {.split = {1, 0, 4}},
       .inputs = {five},
       .expect = {f32({1}), f32({0}, {}), f32({2, 3, 4, 5})},
       .n_outputs = 3},
      {.name = "last_axis",
       .attrs = {.axis = -1, .num_outputs = 2},
       .inputs = {i32({2, 2}, {1, 2, 3, 4})},
       .expect = {i32({2, 1}, {1, 3}), i32({2, 1}, {2, 4})},
       .n_outputs = 2},
      {.name = "axis_out_of_range",
       .attrs = {.axis = 1, .num_outputs = 1},
       .inputs = {five},
       .error = "C1"},
      {.name = "neither_count_nor_sizes", .inputs = {five}, .error = "C2"},
      {.name = "count_and_sizes",
       .attrs = {.num_outputs = 1, .split = {5}},
       .inputs = {five},
       .error = "C2"},
      {.name = "sizes_leave_a_rest", .attrs = {.split = {1, 2}}, .inputs = {five}, .error = "C3"},
      {.name = "sizes_are_too_large", .attrs = {.split = {3, 3}}, .inputs = {five}, .error = "C3"},
      {.name = "negative_size", .attrs = {.split = {6, -1}}, .inputs = {five}, .error = "C3"},
  };
}

}  // namespace

OpDef split_def() {
  return define<Attrs>({
      .name = "split",
      .summary = "The input split into parts along one axis.",
      .formula = "part[k][i] = x[split[0] + ... + split[k - 1] + i]",
      .inputs = {{"x", "the input"}},
      .outputs = {{"parts", "views of x, one for each part", true}},
      .attrs_doc =
          {{"axis", "The axis to split; a negative one counts from the end."},
           {"num_outputs",
            "The number of equal parts, of which the last ones may be smaller; 0 to use split."},
           {"split", "The size of each part."}},
      .infer = infer,
      .vjp = vjp,
      .view = view,
      .cases = cases,
      .onnx = "Split",
  });
}

}  // namespace tenon::ops
