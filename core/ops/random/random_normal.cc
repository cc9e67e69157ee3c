// random_normal and truncated_normal: draw from a normal distribution, and from one truncated to
// two standard deviations.

#include "core/ops/definition/op_ids.h"
#include "core/ops/random/random_draws.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Sizes shape;                // The sizes of the draw.
  DType dtype = DType::kF32;  // The dtype of the result, which must be floating point.
  double mean = 0;            // Mean of the distribution.
  double scale = 1;           // Standard deviation of the distribution.
  TENON_ATTRS(shape, dtype, mean, scale)
};

constexpr double kTwoPi = 6.283185307179586476925;
constexpr double kSqrt2 = 1.41421356237309504880;
constexpr double kTwoSigmaProbability =
    0.954499736103641585599;  // erf(sqrt(2)): the probability within two standard deviations.

// Constraints.
//   C1  state is u32[6].
//   C2  dtype is floating point.
//   C3  the sizes in `shape` are not negative, and the size of the result does not overflow.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  return infer_floating_draw(in, attrs.dtype, attrs.shape);
}

// Returns the dtype in which samples are computed before they are rounded to `drawn`.
DType sampling_dtype(DType drawn) { return drawn == DType::kF64 ? DType::kF64 : DType::kF32; }

// Applies `scale` and `mean` to standard normal samples, before they are rounded to the dtype.
Tensor shift_and_scale(const Attrs& attrs, Tensor y) {
  if (attrs.scale != 1) y = y * attrs.scale;
  if (attrs.mean != 0) y = y + attrs.mean;
  return cast(y, attrs.dtype);
}

// The Box-Muller transform: each pair of uniform samples determines a radius and an angle, whose
// Cartesian coordinates are two independent normal samples. The first half of the result consists
// of the cosine terms, the second half of the sine terms.
Tensors decompose_normal(const Attrs& attrs, TensorSpan in) {
  const Dims shape = to_dims(attrs.shape);
  const Size n = count(shape);
  const Size pairs = (n + 1) / 2;

  Tensors drawn = draw_uniform(in[0], {2, pairs}, sampling_dtype(attrs.dtype));
  const auto half = [&](int64_t i) {
    return reshape(slice(drawn[0], {.starts = {i}, .ends = {i + 1}, .axes = {0}}), {pairs});
  };
  const Tensor radius = sqrt(-2.0 * log(1.0 - half(0)));  // 1 - u is never 0.
  const Tensor angle = kTwoPi * half(1);
  const Tensor both[] = {radius * cos(angle), radius * sin(angle)};

  const Tensor y = slice(concat(both, 0), {.starts = {0}, .ends = {n}, .axes = {0}});
  return {shift_and_scale(attrs, reshape(y, shape)), drawn[1]};
}

// Inverse transform sampling: draws uniform samples between the values of the cumulative
// distribution function at the two bounds, and applies the inverse of that function.
Tensors decompose_truncated_normal(const Attrs& attrs, TensorSpan in) {
  const Tensors drawn = draw_uniform(in[0], to_dims(attrs.shape), sampling_dtype(attrs.dtype));
  const Tensor place = kTwoSigmaProbability * (2.0 * drawn[0] - 1.0);
  const Tensor y = kSqrt2 * call1(OpId::k_erfinv, NoAttrs{}, {place});
  return {shift_and_scale(attrs, y), drawn[1]};
}

// The expected values were computed with Python in double precision from the published results of
// Philox.
Cases<Attrs> normal_cases() {
  const CaseTensor zeros = u32({0, 0, 0, 0, 0, 0});
  return joined<Attrs>(
      {
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
      },
      shared_draw_cases<Attrs>());
}

// The expected values were computed with SciPy from the published results of Philox.
Cases<Attrs> truncated_normal_cases() {
  const CaseTensor zeros = u32({0, 0, 0, 0, 0, 0});
  const CaseTensor next = u32({0, 0, 1, 0, 0, 0});
  return joined<Attrs>(
      {
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
      },
      shared_draw_cases<Attrs>());
}

// Defines random_normal or truncated_normal. `scale_doc` documents the attribute `scale`.
OpDef define_normal(Definition<Attrs> d, const char* scale_doc) {
  d.inputs = {{"state", "the generator's state, u32[6]"}};
  d.outputs = {{"y", "the samples"}, {"new_state", "the state for the next draw"}};
  d.attrs_doc = {{"shape", "The shape of the result."},
                 {"dtype", "The dtype of the result; floating point."},
                 {"mean", "The mean of the distribution."},
                 {"scale", scale_doc}};
  d.infer = infer;
  d.numeric = Numeric::kComposite;
  d.no_gradient = "its result is drawn, not computed from numbers";
  return define<Attrs>(std::move(d));
}

}  // namespace

OpDef random_normal_def() {
  return define_normal(
      {
          .name = "random_normal",
          .summary = "Samples from a normal distribution, and the generator's next state.",
          .formula =
              "y = mean + scale * sqrt(-2 ln(1 - u)) * (cos or sin)(2 pi v), for even u and v",
          .details =
              "Of the n elements in row-major order, the first ceil(n / 2) use the cosine and the "
              "others the sine of the same u and v. u and v are the first and the second half of 2 "
              "ceil(n / 2) samples drawn as by random_uniform. f16 and bf16 are drawn in f32.",
          .decompose = decompose_normal,
          .cases = normal_cases,
      },
      "The standard deviation.");
}

OpDef truncated_normal_def() {
  return define_normal(
      {
          .name = "truncated_normal",
          .summary =
              "Samples from a normal distribution truncated at two standard deviations, and the "
              "generator's next state.",
          .formula = "y = mean + scale * sqrt(2) * erfinv(erf(sqrt(2)) * (2u - 1))",
          .details = "u is drawn as by random_uniform. f16 and bf16 are drawn in f32.",
          .decompose = decompose_truncated_normal,
          .cases = truncated_normal_cases,
      },
      "The standard deviation before truncation.");
}

}  // namespace tenon::ops
