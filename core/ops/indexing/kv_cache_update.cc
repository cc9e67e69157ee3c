// kv_cache_update: writes new keys or values into a cache of fixed size. Each example of the batch
// has its own write position.

#include "core/ops/definition/symbolic_sizes.h"
#include "core/ops/indexing/indexing.h"

namespace tenon::ops {
namespace {

enum class CacheMode : int32_t { kLinear, kCircular };

EnumInfo enum_info(CacheMode) {
  static constexpr const char* kNames[] = {"linear", "circular"};
  return {"cache_mode", kNames};
}

struct Attrs {
  // The axis of cache positions; must not be axis 0, the batch.
  int64_t axis = -2;
  CacheMode mode = CacheMode::kLinear;  // Whether positions wrap around at the end of the cache.
  TENON_ATTRS(axis, mode)
};

enum Input { kCache, kUpdate, kIndices };

// Constraints.
//   C1  write_indices are int32 or int64.
//   C2  -rank <= axis < rank, where rank is that of past_cache, and it is not axis 0.
//   C3  update has the dtype and sizes of past_cache, except along axis, where it may be shorter.
//   C4  write_indices has one element for each example of the batch, or is 0-d and applies to all.
//   C5  -n <= position < n for each written position, where n is the size of past_cache along axis;
//       mode circular accepts any position.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &cache = in[kCache], &update = in[kUpdate];
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, cache, "C2", "past_cache"));
  require(axis != 0, "C2: axis {} is the batch of past_cache: {}", attrs.axis, cache);
  TensorType part = cache;
  const bool fits = update.rank() == cache.rank() && update.shape[axis] <= cache.shape[axis];
  if (fits) part.shape[axis] = update.shape[axis];
  require(fits && update.dtype == part.dtype && update.shape == part.shape,
          "C3: update: {} must have the dtype and sizes of past_cache: {} and be no longer along "
          "axis {}",
          update, cache, axis);
  if (in.has(kIndices)) {
    const TensorType& indices = in[kIndices];
    require(is_index(indices.dtype), "C1: write_indices must be int32 or int64, but are {}",
            indices);
    require(indices.rank() == 0 || indices.shape == Dims{cache.shape[0]},
            "C4: write_indices must have {} elements, but are {}", cache.shape[0], indices);
  }
  return {TensorType(cache.dtype, cache.shape)};
}

// Returns the permutation that moves axis `from` to index `to` and keeps the order of the others.
Ints move_axis_permutation(size_t rank, size_t from, size_t to) {
  Ints perm;
  for (size_t i = 0; i < rank; ++i) {
    if (perm.size() == to) perm.push_back(static_cast<int64_t>(from));
    if (i != from) perm.push_back(static_cast<int64_t>(i));
  }
  if (perm.size() < rank) perm.push_back(static_cast<int64_t>(from));
  return perm;
}

// Moves the axis of positions next to the batch axis. scatter_nd then writes whole rows, each at a
// pair of coordinates (batch, position).
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const size_t rank = in[kCache]->rank();
  const auto axis = static_cast<size_t>(from_front(attrs.axis, rank));
  const Size batch = in[kCache]->shape()[0], places = in[kCache]->shape()[axis];
  const Size length = in[kUpdate]->shape()[axis];
  Tensor place = iota({batch, length}, DType::kI64, 1);
  if (has(in, kIndices)) {
    const Tensor first = cast(in[kIndices], DType::kI64);
    place = place + reshape(first, {count(first->shape()), 1});
  }
  if (attrs.mode == CacheMode::kCircular) place = mod(place, integer(places));
  const Tensor coordinates[] = {expand_dims(iota({batch, length}, DType::kI64, 0), {-1}),
                                expand_dims(place, {-1})};
  const Ints forth = move_axis_permutation(rank, axis, 1),
             back = move_axis_permutation(rank, 1, axis);
  const Tensor written = scatter_nd(transpose(in[kCache], forth), concat(coordinates, -1),
                                    transpose(in[kUpdate], forth), ScatterReduction::kNone);
  return {transpose(written, back)};
}

Cases<Attrs> cases() {
  using enum CacheMode;
  const CaseTensor cache = f32({2, 3, 1}, {1, 2, 3, 4, 5, 6});
  const CaseTensor update = f32({2, 2, 1}, {10, 20, 30, 40});
  return {
      {.name = "example",
       .inputs = {cache, update, i64({1, 0})},
       .expect = {f32({2, 3, 1}, {1, 10, 20, 30, 40, 6})}},
      {.name = "from_the_start",
       .inputs = {cache, update},
       .expect = {f32({2, 3, 1}, {10, 20, 3, 30, 40, 6})}},
      {.name = "one_index_for_all",
       .inputs = {cache, update, i32({}, {1})},
       .expect = {f32({2, 3, 1}, {1, 10, 20, 4, 30, 40})}},
      {.name = "negative_places_count_from_the_end",
       .inputs = {cache, update, i64({-2, -3})},
       .expect = {f32({2, 3, 1}, {1, 10, 20, 30, 40, 6})}},
      {.name = "circular",
       .attrs = {.mode = kCircular},
       .inputs = {cache, update, i64({2, -4})},
       .expect = {f32({2, 3, 1}, {20, 2, 10, 40, 5, 30})}},
      {.name = "axis",
       .attrs = {.axis = 1},
       .inputs = {i32({1, 3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
                  i32({1, 1, 2, 2}, {-1, -2, -3, -4}), i64({1})},
       .expect = {i32({1, 3, 2, 2}, {1, 2, 3, 4, -1, -2, -3, -4, 9, 10, 11, 12})}},
      {.name = "heads_before_places",
       .inputs = {f16({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), f16({1, 2, 1, 2}, {-1, -2, -3, -4}),
                  i64({1})},
       .expect = {f16({1, 2, 2, 2}, {1, 2, -1, -2, 5, 6, -3, -4})}},
      {.name = "last_axis",
       .attrs = {.axis = -1},
       .inputs = {boolean({1, 2, 2}, {0, 0, 0, 0}), boolean({1, 2, 1}, {1, 1}), i64({1})},
       .expect = {boolean({1, 2, 2}, {0, 1, 0, 1})}},
      {.name = "drawn", .inputs = {uniform({2, 2, 4, 3}), uniform({2, 2, 2, 3}), i64({2, 1})}},
      {.name = "nothing_new",
       .inputs = {cache, f32({2, 0, 1}, {}), i64({1, 0})},
       .expect = {cache}},
      {.name = "empty_batch", .inputs = {uniform({0, 3, 2}), uniform({0, 1, 2}), i64({0}, {})}},
      {.name = "floating_indices", .inputs = {cache, update, f32({1, 0})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axis = 3}, .inputs = {cache, update}, .error = "C2"},
      {.name = "axis_of_the_batch", .attrs = {.axis = 0}, .inputs = {cache, update}, .error = "C2"},
      {.name = "update_is_longer",
       .inputs = {cache, f32({2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8})},
       .error = "C3"},
      {.name = "update_differs_in_dtype", .inputs = {cache, i32({2, 1, 1}, {1, 2})}, .error = "C3"},
      {.name = "indices_differ", .inputs = {cache, update, i64({1, 2, 3})}, .error = "C4"},
      {.name = "place_out_of_range",
       .inputs = {cache, update, i64({0, 2})},
       .error = "index 3 is outside [0, 3)"},
  };
}

}  // namespace

OpDef kv_cache_update_def() {
  return define<Attrs>({
      .name = "kv_cache_update",
      .summary = "A fixed-size cache with new keys or values written at a position for each "
                 "example of the batch.",
      .formula =
          "y = past_cache, then y[b, ..., write_indices[b] + i, ...] = update[b, ..., i, ...]",
      .details =
          "Each position is handled separately, as in scatter: a negative position counts from the "
          "end, and an element written out of range is dropped and is an error. In mode circular, "
          "positions are taken modulo the size of the axis, so that none is out of range.",
      .inputs = {{"past_cache",
                  "the cache: batch, then any axes, one of them the axis of positions"},
                 {"update", "the new elements, for as many positions as update has along axis"},
                 {"write_indices",
                  "the first position of each example, or one for all; 0 if absent",
                  InputKind::kOptional}},
      .outputs = {{"present_cache", "the cache after the update"}},
      .attrs_doc = {{"axis",
                     "The axis of positions, which is not the batch axis; negative values count "
                     "from the end."},
                    {"mode",
                     "What follows the last position: an error (linear), or the first position "
                     "(circular)."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .index_rule = "C5",
      .onnx = "TensorScatter",
  });
}

}  // namespace tenon::ops
