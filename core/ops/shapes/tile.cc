// tile: repeats the whole tensor along its axes.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Ints repeats;  // Number of repetitions of x along each axis.
  TENON_ATTRS(repeats)
};

// Constraints.
//   C1  repeats has an entry for each axis of x, none of them negative.
//   C2  the size of the result does not overflow.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(attrs.repeats.size() == x.rank(),
          "C1: repeats has {} entries, but needs one for each axis of {}", attrs.repeats.size(), x);
  constexpr int64_t kLimit = int64_t{1} << 62;
  TensorType y(x.dtype, x.shape);
  for (size_t i = 0; i < x.rank(); ++i) {
    const int64_t times = attrs.repeats[i];
    require(times >= 0, "C1: repeats of axis {} must not be negative, but is {}", i, times);
    const bool fits =
        y.shape[i].known() ? y.shape[i] == 0 || times <= kLimit / y.shape[i] : times < kLimit >> 48;
    require(fits, "C2: axis {} of {}, repeated {} times, exceeds the maximum size", i, x, times);
    y.shape[i] *= times;
  }
  check_size(y);
  return {y};
}

// Repeats along one axis after the other: inserts a new axis before it, broadcasts the new axis,
// and merges the two. The intermediate tensors have three axes, so that the rank limit is not
// exceeded.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  Tensor y = in[0];
  for (size_t i = 0; i < attrs.repeats.size(); ++i) {
    const int64_t times = attrs.repeats[i];
    if (times == 1) continue;
    Dims shape = y->shape();
    Size outer = 1, rest = 1;
    for (size_t k = 0; k < shape.rank(); ++k) (k < i ? outer : rest) *= shape[k];
    y = broadcast_to(reshape(y, {outer, 1, rest}), {outer, times, rest});
    shape[i] *= times;
    y = reshape(y, shape);
  }
  return {y};
}

Cases<Attrs> cases() {
  return {
      {.name = "example",
       .attrs = {.repeats = {2}},
       .inputs = {f32({1, 2})},
       .expect = {f32({1, 2, 1, 2})}},
      {.name = "two_axes",
       .attrs = {.repeats = {2, 3}},
       .inputs = {i32({1, 2}, {1, 2})},
       .expect = {i32({2, 6}, {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2})}},
      {.name = "once", .attrs = {.repeats = {1}}, .inputs = {f32({1, 2})}, .expect = {f32({1, 2})}},
      {.name = "never",
       .attrs = {.repeats = {0, 1}},
       .inputs = {uniform({2, 3})},
       .expect = {f32({0, 3}, {})}},
      {.name = "rank_0", .inputs = {f32({}, {1})}, .expect = {f32({}, {1})}},
      {.name = "repeats_are_too_short",
       .attrs = {.repeats = {2}},
       .inputs = {uniform({2, 3})},
       .error = "C1"},
      {.name = "negative_repeats",
       .attrs = {.repeats = {-1}},
       .inputs = {uniform({2})},
       .error = "C1"},
      {.name = "too_many_elements",
       .attrs = {.repeats = {1ll << 62}},
       .inputs = {uniform({2})},
       .error = "C2"},
  };
}

}  // namespace

OpDef tile_def() {
  return define<Attrs>({
      .name = "tile",
      .summary = "The whole input repeated along each of its axes.",
      .formula = "y[i] = x[i mod size]",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the repeated input"}},
      .attrs_doc = {{"repeats", "The number of repetitions of x along each axis."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .storage = StorageUse::kMoves,
      .onnx = "Tile",
  });
}

}  // namespace tenon::ops
