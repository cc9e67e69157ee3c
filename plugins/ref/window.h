// The sliding window of convolution and pooling, over up to three spatial axes.
//
// A tensor is [n, channels, spatial...]. If it has fewer than three spatial axes, axes of size 1
// are inserted before them, so that every loop handles three.

#pragma once

#include "plugins/sdk/kernel.h"

namespace tenon_ref {

inline constexpr size_t kSpatial = 3;

struct Spatial {
  int64_t at[kSpatial];
};

// A view with the axes [n, channels] and three spatial axes.
struct Planes {
  int64_t batch;
  int64_t channels;
  int64_t batch_stride;
  int64_t channel_stride;
  Spatial sizes = {{1, 1, 1}};
  Spatial strides = {{0, 0, 0}};

  explicit Planes(const tenon_view& view)
      : batch(view.sizes[0]),
        channels(view.sizes[1]),
        batch_stride(view.strides[0]),
        channel_stride(view.strides[1]) {
    const size_t missing = kSpatial + 2 - view.rank;
    for (size_t i = missing; i < kSpatial; ++i) {
      sizes.at[i] = view.sizes[i - missing + 2];
      strides.at[i] = view.strides[i - missing + 2];
    }
  }

  // The offset of an element, in elements, from the view's first element.
  int64_t offset(int64_t n, int64_t channel, const Spatial& p) const {
    return n * batch_stride + channel * channel_stride + p.at[0] * strides.at[0] +
           p.at[1] * strides.at[1] + p.at[2] * strides.at[2];
  }
};

// Calls each(p) for every position p in a block with these sizes, in row-major order.
template <class Each>
void for_each_position(const Spatial& sizes, Each&& each) {
  for (int64_t i = 0; i < sizes.at[0]; ++i) {
    for (int64_t j = 0; j < sizes.at[1]; ++j) {
      for (int64_t k = 0; k < sizes.at[2]; ++k) each(Spatial{{i, j, k}});
    }
  }
}

// Strides, pads and dilations of the window, one for each spatial axis.
struct Window {
  Spatial steps = {{1, 1, 1}};
  // Number of padding elements before the first element. The padding at the end follows from the
  // output's size.
  Spatial pads = {{0, 0, 0}};
  Spatial dilations = {{1, 1, 1}};
  Spatial lhs_dilations = {{1, 1, 1}};

  // Reads the attributes of an op on tensors of this rank.
  template <class Attrs>
  Window(const Attrs& attrs, size_t rank) {
    set(steps, attrs.strides, attrs.n_strides, rank);
    set(dilations, attrs.dilations, attrs.n_dilations, rank);
    // The first half of attrs.pads is at the beginning of the axes, the second half at the end.
    set(pads, attrs.pads, attrs.n_pads / 2, rank);
    if constexpr (requires { attrs.lhs_dilation; }) {
      set(lhs_dilations, attrs.lhs_dilation, attrs.n_lhs_dilation, rank);
    }
  }

  // Finds the element of x under filter tap k, for the window at output position p. `sizes` are the
  // spatial sizes of x. Returns false if the tap is over padding, or between elements of a dilated
  // x.
  bool find(const Spatial& p, const Spatial& k, const Spatial& sizes, Spatial& found) const {
    for (size_t i = 0; i < kSpatial; ++i) {
      const int64_t dilated = p.at[i] * steps.at[i] + k.at[i] * dilations.at[i] - pads.at[i];
      if (dilated < 0 || dilated % lhs_dilations.at[i] != 0) return false;
      found.at[i] = dilated / lhs_dilations.at[i];
      if (found.at[i] >= sizes.at[i]) return false;
    }
    return true;
  }

  // Stores values per spatial axis in `to`. Leading axes that the tensor lacks keep their value.
  static void set(Spatial& to, const int64_t* values, size_t n_values, size_t rank) {
    const size_t missing = kSpatial + 2 - rank;
    for (size_t i = 0; i < n_values; ++i) to.at[missing + i] = values[i];
  }
};

}  // namespace tenon_ref
