// roll: rotates elements along axes; those shifted past the end reappear at the start.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Ints shifts;  // Shift towards the end, in elements: one for each of `axes`, or one for all.
  Ints axes;    // The axes; empty: rolls the flattened tensor.
  TENON_ATTRS(shifts, axes)
};

// Constraints.
//   C1  shifts has one entry, or one for each of axes.
//   C2  -rank(x) <= axis < rank(x) for each of axes.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const size_t n = attrs.shifts.size();
  require(n == 1 || (n > 0 && n == attrs.axes.size()),
          "C1: shifts must have one entry, or one for each axis, but has {} for {} axes", n,
          attrs.axes.size());
  for (const int64_t axis : attrs.axes) require_axis(axis, in[0], "C2");
  return {TensorType(in[0].dtype, in[0].shape)};
}

// Rotates the elements along one axis by `shift` elements.
Tensor roll_axis(const Tensor& x, int64_t shift, int64_t axis) {
  const Size n = x->shape()[static_cast<size_t>(axis)];
  if (shift == 0 || identical(n, 0)) return x;
  // `places` is the shift modulo n, so that 0 <= places < n. For n = 0, the divisor is 1 instead.
  const Size divisor = n.known() ? n : greatest(n, 1);
  const Size places = (Size(shift) % divisor + divisor) % divisor;
  if (identical(places, 0)) return x;
  const Tensor parts[] = {
      slice(x, {.starts = {n - places}, .ends = {n}, .axes = {axis}}),
      slice(x, {.starts = {0}, .ends = {n - places}, .axes = {axis}}),
  };
  return concat(parts, axis);
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor& x = in[0];
  if (attrs.axes.empty()) {
    return {reshape(roll_axis(reshape(x, {count(x->shape())}), attrs.shifts[0], 0), x->shape())};
  }
  Tensor y = x;
  for (size_t i = 0; i < attrs.axes.size(); ++i) {
    const int64_t shift = attrs.shifts[attrs.shifts.size() == 1 ? 0 : i];
    y = roll_axis(y, shift, from_front(attrs.axes[i], x->rank()));
  }
  return {y};
}

Cases<Attrs> cases() {
  const CaseTensor line = f32({1, 2, 3, 4, 5}), grid = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  constexpr int64_t kMin = -9223372036854775807ll - 1;  // -2^63, which is 2 modulo 5.
  return {
      {.name = "example",
       .attrs = {.shifts = {2}},
       .inputs = {line},
       .expect = {f32({4, 5, 1, 2, 3})}},
      {.name = "backwards",
       .attrs = {.shifts = {-1}},
       .inputs = {line},
       .expect = {f32({2, 3, 4, 5, 1})}},
      {.name = "more_than_once_around",
       .attrs = {.shifts = {12}},
       .inputs = {line},
       .expect = {f32({4, 5, 1, 2, 3})}},
      {.name = "as_far_back_as_can_be",
       .attrs = {.shifts = {kMin}},
       .inputs = {line},
       .expect = {f32({4, 5, 1, 2, 3})}},
      {.name = "axes",
       .attrs = {.shifts = {1, -1}, .axes = {0, -1}},
       .inputs = {grid},
       .expect = {f32({2, 3}, {5, 6, 4, 2, 3, 1})}},
      {.name = "one_shift_for_all_axes",
       .attrs = {.shifts = {1}, .axes = {0, 1}},
       .inputs = {grid},
       .expect = {f32({2, 3}, {6, 4, 5, 3, 1, 2})}},
      {.name = "shifts_of_one_axis_add_up",
       .attrs = {.shifts = {1, 1}, .axes = {1, -1}},
       .inputs = {grid},
       .expect = {f32({2, 3}, {2, 3, 1, 5, 6, 4})}},
      {.name = "all_elements_as_one_axis",
       .attrs = {.shifts = {1}},
       .inputs = {i64({2, 2}, {1, 2, 3, 4})},
       .expect = {i64({2, 2}, {4, 1, 2, 3})}},
      {.name = "three_axes",
       .attrs = {.shifts = {1, 3}, .axes = {2, 0}},
       .inputs = {uniform({4, 2, 3})}},
      {.name = "rank_0",
       .attrs = {.shifts = {3}},
       .inputs = {f32({}, {1})},
       .expect = {f32({}, {1})}},
      {.name = "no_elements",
       .attrs = {.shifts = {3}, .axes = {0}},
       .inputs = {uniform({0, 2})},
       .expect = {f32({0, 2}, {})}},
      {.name = "no_shifts", .inputs = {line}, .error = "C1"},
      {.name = "a_shift_too_many",
       .attrs = {.shifts = {1, 2}, .axes = {0}},
       .inputs = {line},
       .error = "C1"},
      {.name = "axis_out_of_range",
       .attrs = {.shifts = {1}, .axes = {1}},
       .inputs = {line},
       .error = "C2"},
  };
}

}  // namespace

OpDef roll_def() {
  return define<Attrs>({
      .name = "roll",
      .summary = "The elements shifted cyclically along axes.",
      .formula = "y[(i + shift) mod size] = x[i]",
      .details = "The shifts of an axis that is listed more than once add up.",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the elements of x, shifted"}},
      .attrs_doc =
          {{"shifts",
            "The number of positions to shift towards the end: one for each of axes, or one for "
            "all."},
           {"axes",
            "The axes; if empty, all elements in row-major order are shifted as one axis."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .storage = StorageUse::kMoves,
  });
}

}  // namespace tenon::ops
