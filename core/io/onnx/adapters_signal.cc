// Fourier transforms and mel filter banks.

#include <cmath>
#include <numbers>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {
namespace {

// The tensors cos(a) and sin(a) of shape [positions, frequencies], with a = 2 pi i k / length. The
// product i k is reduced modulo `length` in integers, so high frequencies are as exact as low ones.
struct Waves {
  Tensor cosines, sines;
};

// Maximum length of a transform, which is computed as a product with a [length, length] matrix.
constexpr int64_t kMaxLength = 4096;

// Computes the cosines and sines of a transform of this length.
Waves waves(int64_t positions, int64_t frequencies, int64_t length, DType dtype) {
  const Tensor product =
      mul(iota({positions, 1}, DType::kI64, 0), iota({1, frequencies}, DType::kI64, 1));
  const double turn = 2 * std::numbers::pi / static_cast<double>(length);
  const Tensor angles = cast(mod(product, integer(length)), dtype) * turn;
  return {cos(angles), sin(angles)};
}

// Truncates the last axis to `length` elements, or pads it with zeros.
Tensor with_length(const Tensor& x, int64_t length) {
  Sizes pads(2 * x->rank(), 0);
  pads[2 * x->rank() - 1] = length - x->shape()[x->rank() - 1];
  return pad(x, pads);
}

// Returns the dtype for sums: float64 if the device supports it, else float32. The higher precision
// matters if a signal lacks a frequency: its coefficient is a sum of many terms that cancel.
DType sum_dtype() {
  const bool has_float64 = current_scope().device().features() & TENON_FEATURE_FLOAT64;
  return has_float64 ? DType::kF64 : DType::kF32;
}

struct Transform {
  int64_t length = 0;
  bool is_inverse = false, is_onesided = false;
};

// Computes the Fourier transform along the second-last axis. The last axis has one element (real)
// or two (real and imaginary part).
Tensor fourier_transform(const Tensor& x, const Transform& t) {
  const auto parts = static_cast<int64_t>(x->shape()[x->rank() - 1]);
  require(parts == 1 || parts == 2, "the last axis of {} must have 1 or 2 elements", x->type);
  require(t.length > 0, "the length must be positive, but is {}", t.length);
  require_code(t.length <= kMaxLength, Code::kUnimplemented,
               "lengths of at most {} are supported, but the length is {}", kMaxLength, t.length);
  const DType wide = sum_dtype();
  const int64_t half = t.length / 2 + 1;
  const bool is_real_inverse = t.is_inverse && t.is_onesided;
  const auto part = [&](int64_t i) {
    const Tensor one = slice(x, {.starts = {i}, .ends = {i + 1}, .axes = {-1}});
    return with_length(squeeze(to_dtype(one, wide), {-1}), is_real_inverse ? half : t.length);
  };
  const Tensor real = part(0), imaginary = parts == 2 ? part(1) : Tensor();
  const auto length = static_cast<double>(t.length);
  if (is_real_inverse) {
    // Each stored frequency also represents its conjugate, except frequency 0 and, for even
    // lengths, the last one.
    const Waves w = waves(half, t.length, t.length, wide);
    const Tensor k = iota({half, 1}, DType::kI64, 0);
    const Tensor is_single =
        logical_or(equal(k, integer(0)), equal(mul(k, integer(2)), integer(t.length)));
    const Tensor weight = where(is_single, number(1 / length), number(2 / length));
    Tensor y = matmul(real, w.cosines * weight);
    if (imaginary) y = y - matmul(imaginary, w.sines * weight);
    return expand_dims(y, {-1});
  }
  const Waves w = waves(t.length, t.is_onesided ? half : t.length, t.length, wide);
  Tensor y_real = matmul(real, w.cosines), y_imaginary = neg(matmul(real, w.sines));
  if (t.is_inverse) y_imaginary = neg(y_imaginary);
  if (imaginary) {
    const Tensor crossed = matmul(imaginary, w.sines);
    y_real = t.is_inverse ? y_real - crossed : y_real + crossed;
    y_imaginary = y_imaginary + matmul(imaginary, w.cosines);
  }
  const Tensor both[] = {expand_dims(y_real, {-1}), expand_dims(y_imaginary, {-1})};
  const Tensor y = concat(both, -1);
  return t.is_inverse ? y / length : y;
}

}  // namespace

// Discrete Fourier transform. Before version 20 the axis was an attribute.
Tensors dft(const NodeCall& n) {
  const Tensor& x = n.in(0);
  const int64_t given = n.version() < 20 ? n.attr("axis", 1) : n.has(2) ? n.one_int(2) : -2;
  const int64_t axis = require_axis(given, x->rank(), "axis");
  const auto last = static_cast<int64_t>(x->rank()) - 1;
  require(axis != last,
          "axis {} of {} cannot be transformed, because it holds the real and imaginary parts",
          axis, x->type);
  Transform t{0, n.flag("inverse", false), n.flag("onesided", false)};
  const int64_t size = x->shape()[static_cast<size_t>(axis)];
  t.length = n.has(1) ? n.one_int(1) : t.is_inverse && t.is_onesided ? 2 * (size - 1) : size;
  Ints perm;
  for (int64_t i = 0; i <= last; ++i) perm.push_back(i);
  std::swap(perm[static_cast<size_t>(axis)], perm[static_cast<size_t>(last - 1)]);
  const Tensor y = fourier_transform(transpose(x, perm), t);
  return {to_dtype(transpose(y, perm), x->type.dtype)};
}

// Short-time Fourier transform. Returns [batch, frames, frequencies, parts].
Tensors stft(const NodeCall& n) {
  const Tensor& x = n.in(0);
  require(x->rank() == 3, "signal must have three axes, but is {}", x->type);
  const int64_t step = n.one_int(1), size = x->shape()[1];
  const int64_t length = n.has(3) ? n.one_int(3) : n.has(2) ? int64_t{n.in(2)->shape()[0]} : size;
  require(step > 0 && length > 0 && length <= size,
          "frame_length {} and frame_step {} must be positive, and a frame must fit into the "
          "signal, {}",
          length, step, x->type);
  const int64_t frames = 1 + (size - length) / step;
  const Tensor index =
      add(mul(iota({frames, 1}, DType::kI64, 0), integer(step)), iota({1, length}, DType::kI64, 1));
  Tensor parts = gather(x, index, 1);
  if (n.has(2)) parts = mul(parts, reshape(n.in(2), {length, 1}));
  const Tensor y = fourier_transform(parts, {length, false, n.flag("onesided", true)});
  return {to_dtype(y, x->type.dtype)};
}

// Computes overlapping triangular filters at equal distances on the mel scale: [frequencies,
// bands].
Tensors mel_weight_matrix(const NodeCall& n) {
  const int64_t bands = n.one_int(0), length = n.one_int(1), rate = n.one_int(2);
  constexpr int64_t kMaxElements = int64_t{1} << 26;
  require(bands >= 0 && length >= 0 && rate > 0,
          "num_mel_bins {} and dft_length {} must not be negative, and sample_rate {} must be "
          "positive",
          bands, length, rate);
  require_code(bands < kMaxElements && length < kMaxElements &&
                   (bands + 2) * (length / 2 + 1) <= kMaxElements,
               Code::kUnimplemented, "too many elements: {} bands of {} frequencies", bands,
               length / 2 + 1);
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(n.one_number(3)), high = mel(n.one_number(4));
  const int64_t frequencies = length / 2 + 1;
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double at = low + (high - low) / static_cast<double>(bands + 2) * static_cast<double>(i);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    const double place =
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    require(place >= 0 && place < static_cast<double>(frequencies),
            "band edge {} is {} Hz, which is outside the {} frequencies of sample_rate {}", i,
            hertz, frequencies, rate);
    edges.push_back(static_cast<int64_t>(place));
  }
  std::vector<float> weights(static_cast<size_t>(frequencies * bands), 0);
  for (int64_t i = 0; i < bands; ++i) {
    const auto weight = [&](int64_t frequency) -> float& {
      return weights[static_cast<size_t>(frequency * bands + i)];
    };
    const auto* edge = &edges[static_cast<size_t>(i)];
    if (edge[0] == edge[1]) weight(edge[1]) = 1;
    for (int64_t j = edge[0]; edge[0] < edge[1] && j <= edge[1]; ++j) {
      weight(j) = static_cast<float>(j - edge[0]) / static_cast<float>(edge[1] - edge[0]);
    }
    for (int64_t j = edge[1]; j < edge[2]; ++j) {
      weight(j) = static_cast<float>(edge[2] - j) / static_cast<float>(edge[2] - edge[1]);
    }
  }
  Scope& scope = current_scope();
  const Tensor y = from_host(scope, scope.device(), TensorType(DType::kF32, {frequencies, bands}),
                             weights.data());
  return {cast(y, n.attr_dtype("output_datatype", DType::kF32))};
}

}  // namespace tenon::onnx::adapters
