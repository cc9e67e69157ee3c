// dynamic_slice and dynamic_update_slice: read or replace a block of a tensor. The block's offset
// is a tensor, so it may differ in each call.

#include "core/ops/definition/op_ids.h"
#include "core/ops/indexing/indexing.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Sizes sizes;  // The sizes of the slice, one for each axis of x.
  TENON_ATTRS(sizes)
};

// Reads a block of x at `starts` by the op dynamic_slice.
Tensor read(const Tensor& x, const Tensor& starts, const Dims& sizes) {
  return call1(OpId::k_dynamic_slice, Attrs{.sizes = to_sizes(sizes)}, {x, starts});
}
// Writes `update` to x at `starts` by the op dynamic_update_slice.
Tensor write(const Tensor& x, const Tensor& update, const Tensor& starts) {
  return call1(OpId::k_dynamic_update_slice, NoAttrs{}, {x, update, starts});
}

void require_starts(const TensorType& starts, const TensorType& x) {
  require_indices(starts, "starts");
  require(starts.rank() == 1 && starts.shape[0] == static_cast<int64_t>(x.rank()),
          "C2: starts must have one element for each axis of {}, but are {}", x, starts);
}

// Constraints of dynamic_slice.
//   C1  starts are int32 or int64.
//   C2  starts have one axis, with an element for each axis of x.
//   C3  sizes has an entry for each axis of x, none of them negative or larger than that axis.
TensorTypes read_infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require_starts(in[1], x);
  require(attrs.sizes.size() == x.rank(),
          "C3: sizes has {} entries, but needs one for each axis of {}", attrs.sizes.size(), x);
  for (size_t i = 0; i < x.rank(); ++i) {
    const Size size = attrs.sizes[i];
    require(size >= 0, "C3: a slice size of {} is negative or exceeds axis {} of {}", size, i, x);
    require(size <= x.shape[i], "C3: a slice size of {} is negative or exceeds axis {} of {}", size,
            i, x);
  }
  return {TensorType(x.dtype, to_dims(attrs.sizes))};
}

Tensors read_vjp(const Attrs&, const VjpArgs& v) {
  return {write(zeros(v.input_type(0)), v.cotangent(0), v.input(1)), Tensor()};
}

// Constraints of dynamic_update_slice.
//   C1  starts are int32 or int64.
//   C2  starts have one axis, with an element for each axis of x.
//   C3  update has the dtype and rank of x, and no axis of it is longer than that of x.
TensorTypes write_infer(const NoAttrs&, TypeSpan in) {
  const TensorType &x = in[0], &update = in[1];
  require_starts(in[2], x);
  bool fits = update.dtype == x.dtype && update.rank() == x.rank();
  for (size_t i = 0; fits && i < x.rank(); ++i) fits = update.shape[i] <= x.shape[i];
  require(fits,
          "C3: update {} must have the dtype and rank of x and be no larger along any axis: {}",
          update, x);
  return {TensorType(x.dtype, x.shape)};
}

Tensors write_vjp(const NoAttrs&, const VjpArgs& v) {
  const Tensor &g = v.cotangent(0), &starts = v.input(2);
  const TensorType& update = v.input_type(1);
  return {v.needs(0) ? write(g, zeros(update), starts) : Tensor(),
          v.needs(1) ? read(g, starts, update.shape) : Tensor(), Tensor()};
}

// The numbers 0 to 11 in three rows.
CaseTensor grid() { return f32({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}); }

Cases<Attrs> read_cases() {
  const Attrs block{.sizes = {2, 2}};
  return {
      {.name = "example",
       .attrs = block,
       .inputs = {grid(), i64({1, 2})},
       .expect = {f32({2, 2}, {6, 7, 10, 11})}},
      {.name = "starts_are_moved_inside",
       .attrs = block,
       .inputs = {grid(), i32({2, 100})},
       .expect = {f32({2, 2}, {6, 7, 10, 11})}},
      {.name = "negative_counts_from_the_end",
       .attrs = block,
       .inputs = {grid(), i64({-3, -3})},
       .expect = {f32({2, 2}, {1, 2, 5, 6})}},
      {.name = "far_below_is_the_front",
       .attrs = block,
       .inputs = {grid(), i64({-100, 1})},
       .expect = {f32({2, 2}, {1, 2, 5, 6})}},
      {.name = "all",
       .attrs = {.sizes = {3}},
       .inputs = {i8({1, 2, 3}), i64({1})},
       .expect = {i8({1, 2, 3})}},
      {.name = "three_axes",
       .attrs = {.sizes = {2, 1, 3}},
       .inputs = {uniform({3, 2, 4}), i64({1, 1, 0})}},
      {.name = "bool",
       .attrs = {.sizes = {1}},
       .inputs = {boolean({0, 1, 0}), i32({1})},
       .expect = {boolean({1})}},
      {.name = "rank_0", .inputs = {f32({}, {5}), i64({0}, {})}, .expect = {f32({}, {5})}},
      {.name = "nothing",
       .attrs = {.sizes = {0, 2}},
       .inputs = {grid(), i64({9, 0})},
       .expect = {f32({0, 2}, {})}},
      {.name = "starts_are_floating",
       .attrs = block,
       .inputs = {grid(), f32({0, 0})},
       .error = "C1"},
      {.name = "a_start_too_few", .attrs = block, .inputs = {grid(), i64({0})}, .error = "C2"},
      {.name = "starts_of_two_axes",
       .attrs = block,
       .inputs = {grid(), i64({1, 2}, {0, 0})},
       .error = "C2"},
      {.name = "a_size_too_few",
       .attrs = {.sizes = {2}},
       .inputs = {grid(), i64({0, 0})},
       .error = "C3"},
      {.name = "slice_is_larger",
       .attrs = {.sizes = {4, 1}},
       .inputs = {grid(), i64({0, 0})},
       .error = "C3"},
      {.name = "negative_size",
       .attrs = {.sizes = {-1, 1}},
       .inputs = {grid(), i64({0, 0})},
       .error = "C3"},
  };
}

Cases<NoAttrs> write_cases() {
  const CaseTensor row = f32({1, 2}, {20, 30});
  return {
      {.name = "example",
       .inputs = {grid(), row, i64({1, 2})},
       .expect = {f32({3, 4}, {0, 1, 2, 3, 4, 5, 20, 30, 8, 9, 10, 11})}},
      {.name = "starts_are_moved_inside",
       .inputs = {grid(), row, i32({7, 3})},
       .expect = {f32({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 30})}},
      {.name = "negative_counts_from_the_end",
       .inputs = {grid(), row, i64({-3, -4})},
       .expect = {f32({3, 4}, {20, 30, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})}},
      {.name = "far_below_is_the_front",
       .inputs = {grid(), row, i64({-50, 1})},
       .expect = {f32({3, 4}, {0, 20, 30, 3, 4, 5, 6, 7, 8, 9, 10, 11})}},
      {.name = "all", .inputs = {i8({1, 2}), i8({3, 4}), i64({1})}, .expect = {i8({3, 4})}},
      {.name = "three_axes", .inputs = {uniform({3, 2, 4}), uniform({2, 1, 3}), i64({1, 1, 0})}},
      {.name = "bool",
       .inputs = {boolean({0, 0, 0}), boolean({1}), i32({1})},
       .expect = {boolean({0, 1, 0})}},
      {.name = "rank_0",
       .inputs = {f32({}, {5}), f32({}, {6}), i64({0}, {})},
       .expect = {f32({}, {6})}},
      {.name = "update_of_nothing",
       .inputs = {grid(), f32({0, 2}, {}), i64({1, 1})},
       .expect = {grid()}},
      {.name = "into_nothing",
       .inputs = {f32({0, 2}, {}), f32({0, 1}, {}), i64({0, 0})},
       .expect = {f32({0, 2}, {})}},
      {.name = "starts_are_unsigned", .inputs = {grid(), row, u8({0, 0})}, .error = "C1"},
      {.name = "a_start_too_few", .inputs = {grid(), row, i64({0})}, .error = "C2"},
      {.name = "update_is_larger", .inputs = {grid(), uniform({1, 5}), i64({0, 0})}, .error = "C3"},
      {.name = "ranks_differ", .inputs = {grid(), f32({1}), i64({0, 0})}, .error = "C3"},
      {.name = "dtypes_differ",
       .inputs = {grid(), i32({1, 2}, {1, 2}), i64({0, 0})},
       .error = "C3"},
  };
}

constexpr const char* kStarts =
    "A negative start counts from the end. Each start is then clamped so that the block lies "
    "inside x, so no start is out of range.";

}  // namespace

OpDef dynamic_slice_def() {
  return define<Attrs>({
      .name = "dynamic_slice",
      .summary = "A block of a tensor, at an offset that another tensor specifies.",
      .formula = "y[i] = x[starts + i]",
      .details = kStarts,
      .inputs = {{"x", "the tensor to read from"},
                 {"starts", "the first index of the block along each axis of x"}},
      .outputs = {{"y", "the slice, a copy"}},
      .attrs_doc = {{"sizes", "The sizes of the slice, one for each axis of x."}},
      .infer = read_infer,
      .vjp = read_vjp,
      .cases = read_cases,
      .saves = Saves::kSecondInput,
      .storage = StorageUse::kMoves,
  });
}

OpDef dynamic_update_slice_def() {
  return define<NoAttrs>({
      .name = "dynamic_update_slice",
      .summary = "A tensor with a block replaced, at an offset that another tensor specifies.",
      .formula = "y = x, then y[starts + i] = update[i]",
      .details = kStarts,
      .inputs = {{"x", "the tensor to update"},
                 {"update", "the new elements of the block"},
                 {"starts", "the first index of the block along each axis of x"}},
      .outputs = {{"y", "x with the block replaced by update"}},
      .infer = write_infer,
      .vjp = write_vjp,
      .cases = write_cases,
      .saves = Saves::kSome,
      .saved_inputs = 0b100,
      .storage = StorageUse::kMoves,
  });
}

}  // namespace tenon::ops
