// Host side of the sliding window of convolutions and pooling, over up to three spatial axes.

#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "plugins/cuda/kernels/embedded.h"

namespace tenon_cuda {

inline constexpr size_t kSpatial = 3;
using Spatial = std::array<int64_t, kSpatial>;

// Converts values per spatial axis (of an attribute, or the sizes or strides of a view) to three
// spatial axes. Leading axes are added with value `otherwise`.
inline Spatial spatial(const int64_t* values, size_t n, size_t rank, int64_t otherwise) {
  Spatial result;
  result.fill(otherwise);
  const size_t missing = kSpatial + 2 - rank;
  for (size_t i = 0; i < n; ++i) result[missing + i] = values[i];
  return result;
}

// Parameters of a window, read from an op's attributes.
struct Window {
  Spatial steps, pads, dilations, lhs_dilations;

  template <class Attrs>
  Window(const Attrs& attrs, size_t rank)
      : steps(spatial(attrs.strides, attrs.n_strides, rank, 1)),
        pads(spatial(attrs.pads, attrs.n_pads / 2, rank,
                     0)),  // The first half of `pads` is the padding before the input.
        dilations(spatial(attrs.dilations, attrs.n_dilations, rank, 1)) {
    lhs_dilations.fill(1);
    if constexpr (requires { attrs.lhs_dilation; }) {
      lhs_dilations = spatial(attrs.lhs_dilation, attrs.n_lhs_dilation, rank, 1);
    }
  }

  // Pushes the struct Window of device/window.cuh.
  void push(Parameters& parameters) const {
    for (const Spatial& each : {steps, pads, dilations, lhs_dilations}) {
      for (const int64_t value : each) parameters.push(value);
    }
  }
};

// Pushes a view as [n, channels, three spatial axes].
inline void push_planes(Parameters& parameters, const tenon_view& view) {
  const auto strides = strides_of(view);
  parameters.push_operand(view);
  parameters.push(view.sizes[0]);
  parameters.push(view.sizes[1]);
  parameters.push(strides[0]);
  parameters.push(strides[1]);
  const size_t n = view.rank - size_t{2};
  for (const int64_t size : spatial(view.sizes + 2, n, view.rank, 1)) parameters.push(size);
  for (const int64_t each : spatial(strides.data() + 2, n, view.rank, 0)) parameters.push(each);
}

// Returns the source that must precede files that use windows: definitions and window.cuh.
inline std::string window_lines(const Request& request) {
  return type_line(type_name(request.input(0).dtype), "T") + std::string(device_file("window.cuh"));
}

}  // namespace tenon_cuda
