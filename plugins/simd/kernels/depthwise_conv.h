// Depthwise convolutions with 3x3 or 5x5 taps and one filter for each channel. They read the image
// in place instead of copying it to padded planes, and return the same bits as convolution.h.

#pragma once

#include "plugins/simd/kernels/filter_panels.h"
#include "plugins/simd/vectors/depthwise.h"

namespace tenon_simd {

template <class T>
struct DepthwiseConv {
  const Window& window;
  const T* x;
  const Planes& x_planes;
  const Filter<T>& filter;
  const T* bias;  // May be NULL.
  int64_t bias_stride;
  T* y;
  const Spatial& out;
  int64_t groups;

  // Whether run() can compute this convolution.
  bool is_supported() const {
    const int64_t taps = filter.taps[2], step = window.steps[2];
    const bool is_flat =
        filter.taps[0] == 1 && out[0] == 1 && x_planes.sizes[0] == 1 && window.pads[0] == 0;
    return has_depthwise() && filter.out_channels == 1 && filter.channels == 1 && is_flat &&
           (taps == 3 || taps == 5) && filter.taps[1] == taps && (step == 1 || step == 2) &&
           window.steps[1] == step && window.dilations[1] == 1 && window.dilations[2] == 1 &&
           window.lhs_dilations == Spatial{1, 1, 1} && x_planes.strides[2] == 1;
  }

  void run(const Pool& pool) const {
    const int64_t taps = filter.taps[2], width = x_planes.sizes[2], area = volume(out);
    const int64_t grain = std::max<int64_t>(1, (1 << 18) / (taps * taps * area));
    pool.parallel_tasks(x_planes.n * groups, grain, [&](int64_t begin, int64_t end) {
      T* const zeros = scratch_of<T>(kScratchConv, width);
      std::fill_n(zeros, width, T{0});
      T weights[25];
      DepthwiseImage<T> image{.x_row = x_planes.strides[1],
                              .height = x_planes.sizes[1],
                              .width = width,
                              .zeros = zeros,
                              .filter = weights,
                              .taps = taps,
                              .step = window.steps[2],
                              .pad_rows = window.pads[1],
                              .pad_columns = window.pads[2],
                              .add_bias = bias != nullptr,
                              .y_height = out[1],
                              .y_width = out[2]};
      for (int64_t i = begin; i < end; ++i) {
        const int64_t channel = i % groups;
        copy_weights(channel, weights);
        image.x = x + i / groups * x_planes.n_stride + channel * x_planes.channel_stride;
        image.bias = bias == nullptr ? T{0} : bias[channel * bias_stride];
        image.y = y + i * area;
        convolve_depthwise(image);
      }
    });
  }

  // Copies the filter of a channel in row-major order.
  void copy_weights(int64_t channel, T* to) const {
    const T* const from = filter.data + channel * filter.group_stride;
    for (int64_t i = 0; i < filter.taps[1]; ++i) {
      for (int64_t j = 0; j < filter.taps[2]; ++j) {
        *to++ = from[i * filter.strides[1] + j * filter.strides[2]];
      }
    }
  }
};

}  // namespace tenon_simd
