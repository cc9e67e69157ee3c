// hann_window, hamming_window and blackman_window: weights for a signal before a Fourier transform.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t size = 0;           // Number of elements.
  bool periodic = true;       // true: one period without its end point; false: symmetric.
  DType dtype = DType::kF32;  // The dtype of the result, which must be floating point.
  TENON_ATTRS(size, periodic, dtype)
};

constexpr double kTwoPi = 6.283185307179586476925;

// Constraints.
//   C1  dtype is floating point.
//   C2  size >= 0, and the size of the result does not overflow.
TensorTypes infer(const Attrs& attrs, TypeSpan) {
  require(is_floating(attrs.dtype), "C1: dtype must be floating point, but is {}", attrs.dtype);
  return {require_sizes(attrs.dtype, {attrs.size}, "C2")};
}

// Computes a0 - a1 cos(t) + a2 cos(2t), where t runs from 0 to 2 pi.
Tensors cosine_window(const Attrs& attrs, double a0, double a1, double a2) {
  const int64_t period = attrs.periodic ? attrs.size : attrs.size - 1;
  const TensorType type(wide_dtype(attrs.dtype), {attrs.size});
  if (period < 1) return {cast(ones(type), attrs.dtype)};
  const Tensor i = iota(type.shape, type.dtype, 0);
  const Tensor t = i * (kTwoPi / static_cast<double>(period));
  Tensor y = a0 - a1 * cos(t);
  if (a2 != 0) y = y + a2 * cos(2.0 * t);
  return {cast(y, attrs.dtype)};
}

Tensors hann(const Attrs& attrs, TensorSpan) { return cosine_window(attrs, 0.5, 0.5, 0); }
Tensors hamming(const Attrs& attrs, TensorSpan) {
  return cosine_window(attrs, 25.0 / 46, 1 - 25.0 / 46, 0);
}
Tensors blackman(const Attrs& attrs, TensorSpan) { return cosine_window(attrs, 0.42, 0.5, 0.08); }

// `periodic` holds the expected values of a periodic window of size 4, and `symmetric` those of a
// symmetric window of size 5.
Cases<Attrs> cases(std::initializer_list<double> periodic,
                   std::initializer_list<double> symmetric) {
  return {
      {.name = "example", .attrs = {.size = 4}, .expect = {f32(periodic)}},
      {.name = "symmetric", .attrs = {.size = 5, .periodic = false}, .expect = {f32(symmetric)}},
      {.name = "dtype",
       .attrs = {.size = 5, .periodic = false, .dtype = DType::kF16},
       .expect = {f16(symmetric)}},
      {.name = "one_number",
       .attrs = {.size = 1, .periodic = false, .dtype = DType::kF64},
       .expect = {f64({1})}},
      {.name = "no_elements", .attrs = {.size = 0}, .expect = {f32({0}, {})}},
      {.name = "integers", .attrs = {.size = 4, .dtype = DType::kI32}, .error = "C1"},
      {.name = "negative_size", .attrs = {.size = -1}, .error = "C2"},
  };
}

// Defines a window op after setting the fields that the three ops have in common.
OpDef define_window(Definition<Attrs> d) {
  d.details =
      "N is size for a periodic window and size - 1 for a symmetric one. If N is 0, the elements "
      "of the window are 1.";
  d.outputs = {{"y", "the window, along one axis"}};
  d.attrs_doc = {{"size", "The number of elements."},
                 {"periodic",
                  "Whether the element after the last one would equal the first; otherwise the "
                  "window is symmetric."},
                 {"dtype", "The dtype of the result."}};
  d.infer = infer;
  d.numeric = Numeric::kComposite;
  d.no_gradient = "it has no inputs";
  return define(d);
}

}  // namespace

OpDef hann_window_def() {
  return define_window({
      .name = "hann_window",
      .summary = "The Hann window: one period of a raised cosine that begins at 0.",
      .formula = "y[i] = 0.5 - 0.5 * cos(2 * pi * i / N)",
      .decompose = hann,
      .cases =
          [] {
            return cases({0, 0.5, 1, 0.5}, {0, 0.5, 1, 0.5, 0});
          },
  });
}

OpDef hamming_window_def() {
  return define_window({
      .name = "hamming_window",
      .summary = "The Hamming window: one period of a raised cosine that begins above 0.",
      .formula = "y[i] = 25/46 - 21/46 * cos(2 * pi * i / N)",
      .decompose = hamming,
      .cases =
          [] {
            constexpr double kEdge = 0.0869565217391304, kMiddle = 0.543478260869565;
            return cases({kEdge, kMiddle, 1, kMiddle}, {kEdge, kMiddle, 1, kMiddle, kEdge});
          },
  });
}

OpDef blackman_window_def() {
  return define_window({
      .name = "blackman_window",
      .summary =
          "The Blackman window: a sum of two cosines, which falls to 0 faster than a single one.",
      .formula = "y[i] = 0.42 - 0.5 * cos(2 * pi * i / N) + 0.08 * cos(4 * pi * i / N)",
      .decompose = blackman,
      .cases =
          [] {
            return cases({0, 0.34, 1, 0.34}, {0, 0.34, 1, 0.34, 0});
          },
  });
}

}  // namespace tenon::ops
