// The sliding window of convolutions and pooling, over up to three spatial axes.
//
// A tensor is [n, channels, spatial...]. With fewer than three spatial axes, leading axes of size 1
// are added, so that every loop handles three.

#pragma once

#include <array>

#include "plugins/simd/kernels/axes.h"

namespace tenon_simd {

using Spatial = std::array<int64_t, 3>;

// Returns the number of positions in a block with these sizes.
inline int64_t volume(const Spatial& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

// Calls each(p) for every position p in a block of these sizes, in row-major order.
template <class Each>
void for_each_position(const Spatial& sizes, const Each& each) {
  for (int64_t i = 0; i < sizes[0]; ++i) {
    for (int64_t j = 0; j < sizes[1]; ++j) {
      for (int64_t k = 0; k < sizes[2]; ++k) each(Spatial{i, j, k});
    }
  }
}

// Converts values per spatial axis to three spatial axes. Leading axes are added with value
// `otherwise`.
inline Spatial spatial(const int64_t* values, size_t n, size_t rank, int64_t otherwise) {
  Spatial result{otherwise, otherwise, otherwise};
  std::copy_n(values, n, result.begin() + static_cast<ptrdiff_t>(5 - rank));
  return result;
}

// Sizes and strides of a view with axes [n, channels, three spatial axes].
struct Planes {
  int64_t n, channels;
  Spatial sizes{1, 1, 1};
  int64_t n_stride, channel_stride;
  Spatial strides{0, 0, 0};

  explicit Planes(const tenon_view& view)
      : n(view.sizes[0]),
        channels(view.sizes[1]),
        n_stride(stride_of(view, 0)),
        channel_stride(stride_of(view, 1)) {
    for (size_t axis = 2; axis < view.rank; ++axis) {
      sizes[axis + 3u - view.rank] = view.sizes[axis];
      strides[axis + 3u - view.rank] = stride_of(view, axis);
    }
  }
};

// Parameters of the window. The padding at the end is determined by the sizes of the output.
struct Window {
  Spatial steps, pads, dilations, lhs_dilations{1, 1, 1};

  template <class Attrs>
  Window(const Attrs& attrs, size_t rank)
      : steps(spatial(attrs.strides, attrs.n_strides, rank, 1)),
        pads(spatial(attrs.pads, attrs.n_pads / 2, rank, 0)),
        dilations(spatial(attrs.dilations, attrs.n_dilations, rank, 1)) {
    if constexpr (requires { attrs.lhs_dilation; }) {
      lhs_dilations = spatial(attrs.lhs_dilation, attrs.n_lhs_dilation, rank, 1);
    }
  }

  // Returns the size of the padded input that all taps at all output positions cover, along each
  // axis.
  Spatial reach(const Spatial& out, const Spatial& taps) const {
    Spatial result;
    for (size_t i = 0; i < 3; ++i) {
      result[i] = (out[i] - 1) * steps[i] + (taps[i] - 1) * dilations[i] + 1;
    }
    return result;
  }
};

}  // namespace tenon_simd
