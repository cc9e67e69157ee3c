// rotary_embedding: rotates pairs of features by angles that encode positions.

#include "core/ops/indexing/indexing.h"

namespace tenon::ops {
namespace {

struct Attrs {
  bool interleaved = false;          // true: pairs (2i, 2i + 1); false: pairs (i, i + n / 2).
  int64_t num_heads = 0;             // Number of heads; used only if x has three axes.
  int64_t rotary_embedding_dim = 0;  // Number of features per head to rotate; 0: all.
  TENON_ATTRS(interleaved, num_heads, rotary_embedding_dim)
};

enum Input { kX, kCos, kSin, kPositions };

// The sizes of x, which has the layout [batch, heads, length, size] or [batch, length, heads *
// size].
struct HeadSizes {
  int64_t batch, heads, length, size;
};

// Returns the sizes of x, whose last axis is divided into num_heads heads if x has three axes.
HeadSizes sizes_of(const Attrs& attrs, const Dims& x) {
  if (x.rank() == 4) return {x[0], x[1], x[2], x[3]};
  return {x[0], attrs.num_heads, x[1], x[2] / attrs.num_heads};
}

// Returns the number of features per head that are rotated.
int64_t n_rotated(const Attrs& attrs, const HeadSizes& x) {
  return attrs.rotary_embedding_dim == 0 ? x.size : attrs.rotary_embedding_dim;
}

// Constraints.
//   C1  x, cos_cache and sin_cache are floating point and of one dtype.
//   C2  x has four axes (batch, heads, length, size) or three (batch, length, heads * size). If it
//       has three, num_heads is positive and divides the last size.
//   C3  The number of rotated features, rotary_embedding_dim or all, is even and at most the size
//       of a head.
//   C4  position_ids are int32 or int64 and have the shape [batch, length].
//   C5  cos_cache and sin_cache have the shape [positions, pairs] or, without position_ids,
//       [batch, length, pairs].
//   C6  -n <= position < n, where n is the number of positions.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[kX], &cos = in[kCos], &sin = in[kSin];
  require(is_floating(x.dtype) && cos.dtype == x.dtype && sin.dtype == x.dtype,
          "C1: x, cos_cache and sin_cache must be floating point and of one dtype, but are {}, {} "
          "and {}",
          x, cos, sin);
  require(
      x.rank() == 4 || (x.rank() == 3 && attrs.num_heads > 0 && x.shape[2] % attrs.num_heads == 0),
      "C2: x must have four axes, or three with a last size that is a multiple of num_heads, but "
      "is {} with num_heads {}",
      x, attrs.num_heads);
  const HeadSizes sizes = sizes_of(attrs, x.shape);
  const int64_t n = n_rotated(attrs, sizes);
  require(n >= 0 && n % 2 == 0 && n <= sizes.size,
          "C3: the number of rotated features must be even and at most the head size, but is {} of "
          "{} for x: {}",
          n, sizes.size, x);
  Dims rows{sizes.batch, sizes.length, n / 2};
  if (in.has(kPositions)) {
    const TensorType& positions = in[kPositions];
    require(is_index(positions.dtype) && positions.shape == Dims{sizes.batch, sizes.length},
            "C4: position_ids must be int32 or int64 of shape [{},{}], but are {}", sizes.batch,
            sizes.length, positions);
    rows = {cos.rank() > 0 ? cos.shape[0] : Size(0), n / 2};
  }
  require(cos.shape == rows && sin.shape == rows,
          "C5: cos_cache and sin_cache must have the shape {}, but are {} and {}", rows, cos, sin);
  return {x};
}

// The features of each head: the first and the second element of each rotated pair, and the
// features that are not rotated.
struct Pairs {
  Tensor first, second, rest;
};

// Splits the features of x into pairs. The first n features of each head are rotated.
Pairs pairs_of(const Attrs& attrs, const Tensor& x, int64_t n) {
  const int64_t size = x->shape()[x->rank() - 1];
  const auto part = [&](int64_t start, int64_t end, int64_t step) {
    return slice(x, {.starts = {start}, .ends = {end}, .axes = {-1}, .steps = {step}});
  };
  const Tensor rest = part(n, size, 1);
  if (attrs.interleaved) return {part(0, n, 2), part(1, n, 2), rest};
  return {part(0, n / 2, 1), part(n / 2, n, 1), rest};
}

// Concatenates the features in their original order; the inverse of pairs_of().
Tensor join_pairs(const Attrs& attrs, const Pairs& pairs) {
  if (!attrs.interleaved) {
    const Tensor parts[] = {pairs.first, pairs.second, pairs.rest};
    return concat(parts, -1);
  }
  Dims shape = pairs.first->shape();
  shape[shape.rank() - 1] *= 2;
  const Tensor halves[] = {expand_dims(pairs.first, {-1}), expand_dims(pairs.second, {-1})};
  const Tensor parts[] = {reshape(concat(halves, -1), shape), pairs.rest};
  return concat(parts, -1);
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const TensorType& type = in[kX]->type;
  const DType wide = wide_dtype(type.dtype);
  const HeadSizes sizes = sizes_of(attrs, type.shape);
  const bool has_heads_first = type.rank() == 4;
  // Returns the cosines or sines for each sequence position, with an axis of size 1 for the heads,
  // which share them.
  const auto angles = [&](const Tensor& cache) {
    const Tensor rows = has(in, kPositions) ? gather(cache, in[kPositions], 0) : cache;
    return expand_dims(to_dtype(rows, wide), {has_heads_first ? 1 : 2});
  };
  Tensor x = to_dtype(in[kX], wide);
  if (!has_heads_first) x = reshape(x, {sizes.batch, sizes.length, sizes.heads, sizes.size});
  const Tensor cos = angles(in[kCos]), sin = angles(in[kSin]);
  const Pairs from = pairs_of(attrs, x, n_rotated(attrs, sizes));
  const Pairs to{from.first * cos - from.second * sin, from.first * sin + from.second * cos,
                 from.rest};
  return {to_dtype(reshape(join_pairs(attrs, to), type.shape), type.dtype)};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({1, 2, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  const CaseTensor x3 = f32({1, 2, 8}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  const CaseTensor cos = f32({3, 2}, {1, 0.5, 0, -1, 2, 3}),
                   sin = f32({3, 2}, {0, 1, 1, 0.5, -1, 0});
  const CaseTensor positions = i64({1, 2}, {2, 1});
  const CaseTensor y =
      f32({1, 2, 2, 4}, {5, 6, 5, 12, -7, -10, 5, -5, 29, 30, 13, 36, -15, -22, 13, -9});
  return {
      {.name = "example", .inputs = {x, cos, sin, positions}, .expect = {y}},
      {.name = "negative_positions_count_from_the_end",
       .inputs = {x, cos, sin, i32({1, 2}, {-1, -2})},
       .expect = {y}},
      {.name = "a_row_of_angles_for_each_place",
       .inputs = {x, f32({1, 2, 2}, {2, 3, 0, -1}), f32({1, 2, 2}, {-1, 0, 1, 0.5})},
       .expect = {y}},
      {.name = "interleaved",
       .attrs = {.interleaved = true},
       .inputs = {x, cos, sin, positions},
       .expect = {f32({1, 2, 2, 4},
                      {4, 3, 9, 12, -6, 5, -11, -4.5, 28, 11, 33, 36, -14, 13, -23, -8.5})}},
      {.name = "rotary_embedding_dim",
       .attrs = {.rotary_embedding_dim = 2},
       .inputs = {x, f32({3, 1}, {1, 0, 2}), f32({3, 1}, {0, 1, -1}), positions},
       .expect = {f32({1, 2, 2, 4}, {4, 3, 3, 4, -6, 5, 7, 8, 28, 11, 11, 12, -14, 13, 15, 16})}},
      {.name = "some_features_interleaved",
       .attrs = {.interleaved = true, .rotary_embedding_dim = 4},
       .inputs = {f32({1, 1, 2, 6}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), cos, sin, positions},
       .expect = {f32({1, 1, 2, 6}, {4, 3, 9, 12, 5, 6, -8, 7, -14, -5.5, 11, 12})}},
      {.name = "num_heads",
       .attrs = {.num_heads = 2},
       .inputs = {x3, cos, sin, positions},
       .expect = {f32({1, 2, 8}, {5, 6, 5, 12, 17, 18, 9, 24, -11, -16, 9, -7, -15, -22, 13, -9})}},
      {.name = "half",
       .inputs = {f16({1, 1, 1, 2}, {3, 4}), f16({1, 1}, {2}), f16({1, 1}, {0.5}),
                  i64({1, 1}, {0})},
       .expect = {f16({1, 1, 1, 2}, {4, 9.5})}},
      {.name = "drawn",
       .inputs = {uniform({2, 3, 2, 6}), uniform({5, 3}), uniform({5, 3}),
                  i64({2, 2}, {4, 0, 3, 3})}},
      {.name = "empty_batch", .inputs = {uniform({0, 2, 3, 4}), cos, sin, i64({0, 3}, {})}},
      {.name = "dtypes_differ",
       .inputs = {x, cos, f64({3, 2}, {0, 0, 0, 0, 0, 0}), positions},
       .error = "C1"},
      {.name = "heads_are_not_told", .inputs = {x3, cos, sin, positions}, .error = "C2"},
      {.name = "an_odd_number_turns",
       .attrs = {.rotary_embedding_dim = 3},
       .inputs = {x, cos, sin, positions},
       .error = "C3"},
      {.name = "more_than_there_is_turns",
       .attrs = {.rotary_embedding_dim = 6},
       .inputs = {x, cos, sin, positions},
       .error = "C3"},
      {.name = "floating_positions", .inputs = {x, cos, sin, f32({1, 2}, {0, 1})}, .error = "C4"},
      {.name = "a_position_too_few", .inputs = {x, cos, sin, i64({1, 1}, {0})}, .error = "C4"},
      {.name = "angles_for_other_pairs",
       .inputs = {x, f32({1, 1}, {1}), f32({1, 1}, {1}), positions},
       .error = "C5"},
      {.name = "caches_without_positions", .inputs = {x, cos, sin}, .error = "C5"},
      {.name = "no_such_position",
       .inputs = {x, cos, sin, i64({1, 2}, {0, 3})},
       .error = "index 3 is outside [0, 3)"},
  };
}

}  // namespace

OpDef rotary_embedding_def() {
  return define<Attrs>({
      .name = "rotary_embedding",
      .summary =
          "Rotary position embedding: pairs of features rotated by position-dependent angles.",
      .formula = "y[i] = x[i] * cos - x[j] * sin; y[j] = x[i] * sin + x[j] * cos, for each pair "
                 "(i, j) of features",
      .details = "The pairs are (i, i + n / 2) of the n rotated features, or (2i, 2i + 1) if "
                 "interleaved. A position out of range of the caches reads cosines and sines of 0 "
                 "and is an error, as in gather. Half types are computed in float32.",
      .inputs = {{"x", "the features: batch, heads, length, size; or batch, length, heads * size"},
                 {"cos_cache",
                  "the cosines: positions, pairs; or without position_ids batch, length, pairs"},
                 {"sin_cache", "the sines, with the shape of the cosines"},
                 {"position_ids",
                  "the row of the caches for each element of a sequence: batch, length",
                  InputKind::kOptional}},
      .outputs = {{"y", "the result, with the shape and dtype of x"}},
      .attrs_doc =
          {{"interleaved",
            "Whether the features of a pair are adjacent; otherwise they are n / 2 apart."},
           {"num_heads", "The number of heads; used only if x has three axes."},
           {"rotary_embedding_dim",
            "The number of leading features of each head that are rotated; 0 for all."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .index_rule = "C6",
      .onnx = "RotaryEmbedding",
  });
}

}  // namespace tenon::ops
