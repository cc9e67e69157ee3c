// random_normal: numbers drawn from a bell curve.

#include "core/ops/random_draws.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Ints shape;                 // The sizes of the draw.
  DType dtype = DType::kF32;  // Of the draw; floating point.
  double mean = 0;            // The middle of the curve.
  double scale = 1;           // Its standard deviation.
  TENON_ATTRS(shape, dtype, mean, scale)
};

constexpr double kTwoPi = 6.283185307179586476925;

// Constraints.
//   C1  state is u32[6].
//   C2  dtype is floating point.
//   C3  the sizes of `shape` are not negative and their product fits.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require_rng_state(in);
  require(is_floating(attrs.dtype), "C2: dtype must be floating point, but is {}", attrs.dtype);
  return {require_sizes(attrs.dtype, attrs.shape, "C3"), rng_state_type()};
}

// Box and Muller's transform: a pair of even draws is a radius and an angle, whose sides are two
// independent normal numbers. The first half of the result holds the cosines, the second the sines.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Dims shape = to_dims(attrs.shape);
  const int64_t n = count(shape);
  const int64_t pairs = (n + 1) / 2;
  const DType wide = attrs.dtype == DType::kF64 ? DType::kF64 : DType::kF32;

  Tensors drawn = draw_uniform(in[0], {2, pairs}, wide);
  const auto half = [&](int64_t i) {
    return reshape(slice(drawn[0], {.starts = {i}, .ends = {i + 1}, .axes = {0}}), {pairs});
  };
  const Tensor radius = sqrt(-2.0 * log(1.0 - half(0)));  // 1 - u is never 0.
  const Tensor angle = kTwoPi * half(1);
  const Tensor both[] = {radius * cos(angle), radius * sin(angle)};

  Tensor y = slice(concat(both, 0), {.starts = {0}, .ends = {n}, .axes = {0}});
  if (attrs.scale != 1) y = y * attrs.scale;
  if (attrs.mean != 0) y = y + attrs.mean;
  return {cast(reshape(y, shape), attrs.dtype), drawn[1]};
}

// Expected values were computed with Python in double precision from the known answers of rng_bits.
Cases<Attrs> cases() {
  const CaseTensor zeros = u32({0, 0, 0, 0, 0, 0});
  return {
      {.name = "example",
       .attrs = {.shape = {2, 2}},
       .inputs = {zeros},
       .expect = {f32({2, 2}, {-0.0904731637, -1.62496374, -1.00513172, -1.26834861}),
                  u32({0, 0, 1, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "odd_count_drops_the_last_sine",
       .attrs = {.shape = {1}},
       .inputs = {zeros},
       .expect = {f32({0.73792566}), u32({0, 0, 1, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "mean_and_scale",
       .attrs = {.shape = {2}, .mean = 3, .scale = 0.5},
       .inputs = {zeros},
       .expect = {f32({3.36896283, 2.65578317}), u32({0, 0, 1, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "f64",
       .attrs = {.shape = {2}, .dtype = DType::kF64},
       .inputs = {zeros},
       .expect = {f64({-1.6249634408710401, -1.2683492025469478}), u32({0, 0, 1, 0, 0, 0})},
       .n_outputs = 2},
      {.name = "no_elements",
       .attrs = {.shape = {0}},
       .inputs = {zeros},
       .expect = {f32({0}, {}), zeros},
       .n_outputs = 2},
      {.name = "state_is_too_short", .attrs = {.shape = {1}}, .inputs = {u32({1})}, .error = "C1"},
      {.name = "integers_are_not_drawn",
       .attrs = {.shape = {1}, .dtype = DType::kI32},
       .inputs = {zeros},
       .error = "C2"},
      {.name = "negative_size", .attrs = {.shape = {-1}}, .inputs = {zeros}, .error = "C3"},
  };
}

}  // namespace

OpDef random_normal_def() {
  return define<Attrs>({
      .name = "random_normal",
      .summary = "Numbers drawn from a bell curve, and the generator's state behind them.",
      .formula = "y = mean + scale * sqrt(-2 ln(1 - u)) * (cos or sin)(2 pi v), for even u and v",
      .details =
          "Of n numbers, the first ceil(n / 2) take the cosine and the rest the sine, of the same "
          "u and v: the first and the second half of 2 ceil(n / 2) numbers as random_uniform draws "
          "them. f16 and bf16 are drawn in f32.",
      .inputs = {{"state", "the generator's state, u32[6]"}},
      .outputs = {{"y", "the numbers"}, {"new_state", "the state for the next draw"}},
      .attrs_doc = {{"shape", "The sizes of the draw."},
                    {"dtype", "The dtype of the numbers; floating point."},
                    {"mean", "The middle of the curve."},
                    {"scale", "The standard deviation of the curve."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .no_gradient = "its result is drawn, not computed from numbers",
  });
}

}  // namespace tenon::ops
