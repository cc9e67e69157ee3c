// lrn: local response normalisation. Divides each element by a power of the weighted mean square of
// neighbouring channels.

#include <algorithm>

#include "core/ops/convolution/conv_shape.h"

namespace tenon::ops {
namespace {

struct Attrs {
  double alpha = 1e-4;  // Weight of the mean square of the channels.
  double beta = 0.75;   // The exponent.
  double bias = 1;      // Added to the weighted mean square.
  int64_t size = 0;     // Number of channels in the mean.
  TENON_ATTRS(alpha, beta, bias, size)
};

// Constraints.
//   C1  x is floating point.
//   C2  x has a batch and channels.
//   C3  size is from 1 to 2^31.
//   C4  type(y) = type(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  require(x.rank() >= 2, "C2: x must have a batch and channels, but is {}", x);
  require(attrs.size >= 1 && attrs.size <= kMaxWindowExtent,
          "C3: size must be from 1 to 2^31, but is {}", attrs.size);
  return {TensorType(x.dtype, x.shape)};  // C4
}

// Sums over windows of neighbouring channels. Treats the channels as the rows of an image with one
// column per spatial position, and the window as `size` rows by one column.
Tensor channel_window_sums(const Tensor& x, int64_t size) {
  const Dims& shape = x->shape();
  const int64_t last = shape[1] - 1, before = (size - 1) / 2;
  const int64_t above = std::min(before, last), below = std::min(size - 1 - before, last);
  const PoolAttrs window{.kernel_shape = {above + 1 + below, 1}, .pads = {above, 0, below, 0}};
  Size places = 1;
  for (size_t i = kSpatial; i < shape.rank(); ++i) places *= shape[i];
  return reshape(window_sum(reshape(x, {shape[0], 1, shape[1], places}), window), shape);
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  if (count(in[0]->shape()) == 0) return {identity(in[0])};  // An empty tensor contains no windows.
  return {in_wide(in[0], [&](const Tensor& x) {
    const double alpha = attrs.alpha / static_cast<double>(attrs.size);
    const Tensor strength = attrs.bias + alpha * channel_window_sums(square(x), attrs.size);
    return x / pow(strength, number(attrs.beta));
  })};
}

Cases<Attrs> cases() {
  const CaseTensor three = f32({1, 3, 1}, {1, 2, 3});
  return {
      {.name = "example",
       .attrs = {.alpha = 3, .beta = 1, .bias = 1, .size = 3},
       .inputs = {three},
       .expect = {f32({1, 3, 1}, {1.0 / 6, 2.0 / 15, 3.0 / 14})}},
      {.name = "one_channel_more_behind",
       .attrs = {.size = 2},
       .inputs = {f32({1, 4, 1}, {100, 200, 300, 400})},
       .expect = {f32({1, 4, 1}, {39.07949713906801, 44.130012261958306, 42.5962069497515,
                                  76.9800358919501})}},
      {.name = "alpha_beta_bias",
       .attrs = {.alpha = 2, .beta = 0.5, .bias = 3, .size = 2},
       .inputs = {f32({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
       .expect = {f32({1, 2, 2, 2}, {0.18569533817705186, 0.30499714066520933, 0.3841106397986879,
                                     0.4390570399587614, 0.944911182523068, 0.9607689228305227,
                                     0.9707253433941511, 0.9773555548504418})}},
      {.name = "more_than_all_channels",
       .attrs = {.alpha = 1, .beta = 0.5, .bias = 4, .size = 100},
       .inputs = {f64({1, 4, 1}, {100, 200, 300, 400})},
       .expect = {f64({1, 4, 1}, {1.8245259129220668, 3.6490518258441336, 5.473577738766201,
                                  7.298103651688267})}},
      {.name = "halves_do_not_overflow",
       .attrs = {.alpha = 1, .beta = 0.5, .bias = 0, .size = 1},
       .inputs = {f16({1, 1}, {1000})},
       .expect = {f16({1, 1}, {1})}},
      {.name = "three_spatial_axes",
       .attrs = {.alpha = 1, .size = 3},
       .inputs = {uniform({2, 4, 2, 1, 2})}},
      {.name = "empty_batch",
       .attrs = {.size = 3},
       .inputs = {uniform({0, 2, 2})},
       .expect = {f32({0, 2, 2}, {})}},
      {.name = "no_channels",
       .attrs = {.size = 3},
       .inputs = {uniform({2, 0, 2})},
       .expect = {f32({2, 0, 2}, {})}},
      {.name = "integers", .attrs = {.size = 1}, .inputs = {i32({1, 1}, {1})}, .error = "C1"},
      {.name = "no_channel_axis", .attrs = {.size = 1}, .inputs = {f32({1, 2})}, .error = "C2"},
      {.name = "no_size", .inputs = {three}, .error = "C3"},
  };
}

}  // namespace

OpDef lrn_def() {
  return define<Attrs>({
      .name = "lrn",
      .summary = "Local response normalisation across neighbouring channels.",
      .formula = "y[n, c, p] = x[n, c, p] / (bias + alpha / size * sum(x[n, i, p]^2 for i from "
                 "c - floor((size - 1) / 2) to c + ceil((size - 1) / 2)))^beta",
      .details = "Channels outside x count as zeros. Half types are computed in float32.",
      .inputs = {{"x", "batch, channels, then any other axes"}},
      .outputs = {{"y", "of the type of x"}},
      .attrs_doc = {{"alpha", "The weight of the mean square of the channels."},
                    {"beta", "The exponent."},
                    {"bias", "Added to the weighted mean square."},
                    {"size", "The number of channels in the mean; positive."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kComposite,
      .onnx = "LRN",
  });
}

}  // namespace tenon::ops
