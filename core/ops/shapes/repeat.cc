// repeat: repeats each element along an axis, so that its copies are adjacent.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Ints repeats;      // Number of copies: one for all elements along the axis, or one for each.
  int64_t axis = 0;  // The axis along which to repeat; a negative one counts from the end.
  TENON_ATTRS(repeats, axis)
};

// Constraints.
//   C1  -rank(x) <= axis < rank(x).
//   C2  repeats has one entry, or one for each element along axis; none is negative.
//   C3  the size of the result does not overflow.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, x, "C1"));
  const int64_t n = x.shape[axis];
  const auto n_repeats = static_cast<int64_t>(attrs.repeats.size());
  require(n_repeats == 1 || n_repeats == n,
          "C2: repeats has {} entries, but must have 1 or one for each element of axis {} of {}",
          n_repeats, axis, x);
  constexpr int64_t kLimit = int64_t{1} << 62;
  TensorType y(x.dtype, x.shape);
  int64_t size = 0;
  for (const int64_t times : attrs.repeats) {
    require(times >= 0, "C2: repeats must not be negative, but one is {}", times);
    const int64_t elements = n_repeats == n ? 1 : n;
    const bool fits = elements == 0 || times <= (kLimit - size) / elements;
    require(fits, "C3: axis {} of {}, repeated {} times, exceeds the maximum size", axis, x, times);
    size += times * elements;
  }
  y.shape[axis] = size;
  check_size(y);
  return {y};
}

// Repeats each element along `axis` by a broadcast: inserts a new axis after `axis`, broadcasts it,
// and merges the two. The intermediate tensors have three axes, so that the rank limit is not
// exceeded.
Tensor repeat_elements(const Tensor& x, size_t axis, int64_t times) {
  if (times == 1) return x;
  Dims shape = x->shape();
  Size outer = 1, inner = 1;
  for (size_t i = 0; i < shape.rank(); ++i) (i <= axis ? outer : inner) *= shape[i];
  shape[axis] *= times;
  return reshape(broadcast_to(reshape(x, {outer, 1, inner}), {outer, times, inner}), shape);
}

// Repeats runs of adjacent elements that have the same number of copies, and concatenates the
// results.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor& x = in[0];
  const Ints& repeats = attrs.repeats;
  const int64_t axis = from_front(attrs.axis, x->rank());
  const auto at = static_cast<size_t>(axis);
  if (x->shape()[at] == 0) return {x};
  if (repeats.size() == 1) return {repeat_elements(x, at, repeats[0])};
  Tensors parts;
  for (size_t begin = 0, end = 0; begin < repeats.size(); begin = end) {
    while (end < repeats.size() && repeats[end] == repeats[begin]) ++end;
    const SliceAttrs part{.starts = {static_cast<int64_t>(begin)},
                          .ends = {static_cast<int64_t>(end)},
                          .axes = {axis}};
    parts.push_back(repeat_elements(slice(x, part), at, repeats[begin]));
  }
  return {concat(parts, axis)};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({2, 2}, {1, 2, 3, 4});
  return {
      {.name = "example",
       .attrs = {.repeats = {2}},
       .inputs = {f32({1, 2})},
       .expect = {f32({1, 1, 2, 2})}},
      {.name = "axis",
       .attrs = {.repeats = {3}, .axis = -1},
       .inputs = {x},
       .expect = {f32({2, 6}, {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4})}},
      {.name = "rows",
       .attrs = {.repeats = {2}},
       .inputs = {x},
       .expect = {f32({4, 2}, {1, 2, 1, 2, 3, 4, 3, 4})}},
      {.name = "one_number_for_each",
       .attrs = {.repeats = {1, 2}, .axis = 1},
       .inputs = {x},
       .expect = {f32({2, 3}, {1, 2, 2, 3, 4, 4})}},
      {.name = "some_never",
       .attrs = {.repeats = {2, 0, 0, 1}},
       .inputs = {i8({1, 2, 3, 4})},
       .expect = {i8({1, 1, 4})}},
      {.name = "equal_neighbours",
       .attrs = {.repeats = {2, 2, 1, 3, 3}, .axis = 1},
       .inputs = {uniform({2, 5, 3})}},
      {.name = "bool",
       .attrs = {.repeats = {2}},
       .inputs = {boolean({1, 0})},
       .expect = {boolean({1, 1, 0, 0})}},
      {.name = "never", .attrs = {.repeats = {0}}, .inputs = {x}, .expect = {f32({0, 2}, {})}},
      {.name = "no_elements",
       .attrs = {.repeats = {3}},
       .inputs = {uniform({0, 2})},
       .expect = {f32({0, 2}, {})}},
      {.name = "axis_out_of_range",
       .attrs = {.repeats = {1}, .axis = 2},
       .inputs = {x},
       .error = "C1"},
      {.name = "rank_0_has_no_axis",
       .attrs = {.repeats = {1}},
       .inputs = {f32({}, {1})},
       .error = "C1"},
      {.name = "a_number_too_many", .attrs = {.repeats = {1, 2, 3}}, .inputs = {x}, .error = "C2"},
      {.name = "no_repeats", .inputs = {x}, .error = "C2"},
      {.name = "negative_repeats", .attrs = {.repeats = {-1}}, .inputs = {x}, .error = "C2"},
      {.name = "too_many_elements",
       .attrs = {.repeats = {1ll << 62, 1}},
       .inputs = {x},
       .error = "C3"},
  };
}

}  // namespace

OpDef repeat_def() {
  return define<Attrs>({
      .name = "repeat",
      .summary = "The input with each element along an axis repeated consecutively.",
      .formula = "y = x[0], ... repeats[0] times, x[1], ... repeats[1] times, along axis",
      .details = "To repeat all elements in row-major order, reshape to one axis first.",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the repeated elements"}},
      .attrs_doc =
          {{"repeats",
            "The number of repetitions: one for all elements along axis, or one for each element."},
           {"axis", "The axis; a negative one counts from the end."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .storage = StorageUse::kMoves,
  });
}

}  // namespace tenon::ops
