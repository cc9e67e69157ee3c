// truncated_normal: numbers drawn from the middle of a bell curve.

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

constexpr double kSqrt2 = 1.41421356237309504880;
constexpr double kWithin = 0.954499736103641585599;  // erf(sqrt(2)): of the whole curve.

// Constraints.
//   C1  state is u32[6].
//   C2  dtype is floating point.
//   C3  the sizes of `shape` are not negative and their product fits.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require_rng_state(in);
  require(is_floating(attrs.dtype), "C2: dtype must be floating point, but is {}", attrs.dtype);
  return {require_sizes(attrs.dtype, attrs.shape, "C3"), rng_state_type()};
}

// The inverse of the curve's integral, at places that are drawn evenly within the bounds.
Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const DType wide = attrs.dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const Tensors drawn = draw_uniform(in[0], to_dims(attrs.shape), wide);
  const Tensor place = kWithin * (2.0 * drawn[0] - 1.0);
  Tensor y = kSqrt2 * call1(OpId::k_erfinv, NoAttrs{}, {place});
  if (attrs.scale != 1) y = y * attrs.scale;
  if (attrs.mean != 0) y = y + attrs.mean;
  return {cast(y, attrs.dtype), drawn[1]};
}

// Expected values were computed with SciPy from the known answers of rng_bits.
Cases<Attrs> cases() {
  const CaseTensor zeros = u32({0, 0, 0, 0, 0, 0});
  const CaseTensor next = u32({0, 0, 1, 0, 0, 0});
  return {
      {.name = "example",
       .attrs = {.shape = {2, 2}},
       .inputs = {zeros},
       .expect = {f32({2, 2}, {-0.24393692, 1.09483893, 0.59772348, 0.25511369}), next},
       .n_outputs = 2},
      {.name = "mean_and_scale",
       .attrs = {.shape = {2}, .mean = 3, .scale = 0.5},
       .inputs = {zeros},
       .expect = {f32({2.87803154, 3.547419465}), next},
       .n_outputs = 2},
      {.name = "f64",
       .attrs = {.shape = {2}, .dtype = DType::kF64},
       .inputs = {zeros},
       .expect = {f64({1.0948390776653407, 0.25511381199551564}), next},
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

OpDef truncated_normal_def() {
  return define<Attrs>({
      .name = "truncated_normal",
      .summary =
          "Numbers drawn from a bell curve within two standard deviations of its middle, and "
          "the generator's state behind them.",
      .formula = "y = mean + scale * sqrt(2) * erfinv(erf(sqrt(2)) * (2u - 1))",
      .details = "u is drawn as by random_uniform. f16 and bf16 are drawn in f32.",
      .inputs = {{"state", "the generator's state, u32[6]"}},
      .outputs = {{"y", "the numbers"}, {"new_state", "the state for the next draw"}},
      .attrs_doc = {{"shape", "The sizes of the draw."},
                    {"dtype", "The dtype of the numbers; floating point."},
                    {"mean", "The middle of the curve."},
                    {"scale", "The standard deviation of the whole curve."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .no_gradient = "its result is drawn, not computed from numbers",
  });
}

}  // namespace tenon::ops
