// The sliding window of convolutions and pooling over up to three spatial axes. A tensor is [n,
// channels, spatial...]. If it has fewer than three spatial axes, leading ones of size 1 are added.

#pragma once

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "plugins/sdk/kernel.h"
#include "plugins/vulkan/encoder.h"
#include "plugins/vulkan/kernels/axes.h"
#include "plugins/vulkan/spirv/code.h"

namespace tenon_vulkan {

inline constexpr size_t kSpatial = 3;
using Spatial = std::array<int64_t, kSpatial>;

// Parameters of a window, read from an op's attributes.
struct Window {
  Spatial steps = {1, 1, 1}, pads = {0, 0, 0}, dilations = {1, 1, 1}, lhs_dilations = {1, 1, 1};

  template <class Attrs>
  Window(const Attrs& attrs, size_t rank) {
    set(steps, attrs.strides, attrs.n_strides, rank);
    set(dilations, attrs.dilations, attrs.n_dilations, rank);
    // The first half of `pads` is the padding before the input.
    set(pads, attrs.pads, attrs.n_pads / 2, rank);
    if constexpr (requires { attrs.lhs_dilation; }) {
      set(lhs_dilations, attrs.lhs_dilation, attrs.n_lhs_dilation, rank);
    }
  }

  // Whether the positions of all taps of all windows fit into signed 32-bit integers.
  bool positions_fit_signed_words(const Spatial& windows, const Spatial& taps) const {
    for (size_t i = 0; i < kSpatial; ++i) {
      const int64_t last = (windows[i] - 1) * steps[i] + (taps[i] - 1) * dilations[i] - pads[i];
      if (!fits_signed_word(-pads[i]) || !fits_signed_word(last)) return false;
    }
    return true;
  }
  // Returns whether a position fits into a signed 32-bit integer.
  static bool fits_signed_word(int64_t place) { return place == static_cast<int32_t>(place); }
  // Makes the error for positions that exceed signed 32-bit integers.
  static tenon_error* error(tenon_device_p* device) {
    return make_error(device, TENON_UNIMPLEMENTED,
                      "the positions of window elements exceed 2^31 - 1, the maximum in shaders");
  }

  void push(spirv::Words& words) const {
    for (const Spatial& of_axes : {steps, dilations, pads}) {
      for (const int64_t word : of_axes) words.push_back(static_cast<uint32_t>(word));
    }
    for (const int64_t dilation : lhs_dilations) Division::push(words, dilation);
  }

  // Copies the `n` values of an attribute to the last axes of `to`. `rank`: rank of the tensor.
  static void set(Spatial& to, const int64_t* values, size_t n, size_t rank) {
    std::copy_n(values, n, to.begin() + static_cast<ptrdiff_t>(kSpatial + 2 - rank));
  }
};

// Sizes and strides of a view with axes [n, channels, three spatial axes], which are pushed as
// parameters.
struct PlaneLayout {
  explicit PlaneLayout(const tenon_view& view)
      : batch(view.sizes[0]),
        channels(view.sizes[1]),
        batch_stride(view.strides[0]),
        channel_stride(view.strides[1]) {
    const size_t missing = kSpatial + 2 - view.rank;
    for (size_t i = missing; i < kSpatial; ++i) {
      sizes[i] = view.sizes[i - missing + 2];
      strides[i] = view.strides[i - missing + 2];
    }
  }
  void push(spirv::Words& words) const {
    for (const int64_t word :
         {batch, batch_stride, channel_stride, strides[0], strides[1], strides[2]}) {
      words.push_back(static_cast<uint32_t>(word));
    }
    for (const int64_t number : {channels, sizes[0], sizes[1], sizes[2]}) {
      Division::push(words, number);
    }
  }
  // Returns the number of positions of a plane.
  int64_t n_positions() const { return sizes[0] * sizes[1] * sizes[2]; }

  int64_t batch, channels, batch_stride, channel_stride;
  Spatial sizes = {1, 1, 1}, strides = {0, 0, 0};
};

// ---- in a shader

using Place = std::array<spirv::U32, kSpatial>;

// Shader side of PlaneLayout: loads sizes and strides of a view from parameter `at` on.
class PlanesCode {
 public:
  static constexpr uint32_t kWords = 6 + 4 * Division::kWords;

  PlanesCode(spirv::Code& code, uint32_t at)
      : batch(code.parameter(at)),
        batch_stride(code.parameter(at + 1)),
        channel_stride(code.parameter(at + 2)),
        strides{code.parameter(at + 3), code.parameter(at + 4), code.parameter(at + 5)},
        by_channels_(division(code, at, 0)),
        by_sizes_{division(code, at, 1), division(code, at, 2), division(code, at, 3)},
        channels(by_channels_.number),
        sizes{by_sizes_[0].number, by_sizes_[1].number, by_sizes_[2].number} {}

  // Returns the offset of the element at position `p` of a channel of batch element `n`.
  spirv::U32 element_offset(spirv::U32 n, spirv::U32 channel, const Place& p) const {
    return n * batch_stride + channel * channel_stride + p[0] * strides[0] + p[1] * strides[1] +
           p[2] * strides[2];
  }
  // The index of a plane and a position in it, which are the result of split().
  struct Split {
    spirv::U32 plane;
    Place p;
  };
  // Returns the plane, and the position in it, of the element with row-major index `number`.
  Split split(spirv::U32 number) const {
    Split found = {number, {}};
    for (size_t i = kSpatial; i-- > 0;) {
      std::tie(found.plane, found.p[i]) = by_sizes_[i].divide_by_any_divisor(found.plane);
    }
    return found;
  }
  // The coordinates of an element with a row-major index.
  struct At {
    spirv::U32 n, channel;
    Place p;
  };
  // Returns the coordinates of the element with row-major index `number`.
  At at(spirv::U32 number) const {
    const Split found = split(number);
    const auto [n, channel] = by_channels_.divide_by_any_divisor(found.plane);
    return {n, channel, found.p};
  }

  const spirv::U32 batch, batch_stride, channel_stride;
  const Place strides;

 private:
  // Loads division `i` of the view, which begins at parameter `at`: 0 divides by the number of
  // channels, 1 to 3 by the sizes of the spatial axes.
  static Division division(spirv::Code& code, uint32_t at, uint32_t i) {
    return Division::load(code, code.u32(at + 6 + i * Division::kWords));
  }
  const Division by_channels_;
  const std::array<Division, kSpatial> by_sizes_;

 public:
  const spirv::U32 channels;
  const Place sizes;
};

// Returns the loop iterations of for_each_place() over a block of these sizes, including the final
// loop tests.
inline uint64_t iterations_of_places(const Spatial& sizes) {
  const uint64_t line = spirv::Code::iterations_of_many(static_cast<uint64_t>(sizes[2]));
  const uint64_t plane = static_cast<uint64_t>(sizes[1]) * (1 + line) + 1;
  return static_cast<uint64_t>(sizes[0]) * (1 + plane) + 1;
}

// Iterates over the positions of a block of these sizes, the last axis fastest.
template <class Each>
void for_each_place(spirv::Code& code, const Place& sizes, const Each& each) {
  const spirv::U32 zero = code.u32(0), one = code.u32(1);
  code.for_(zero, sizes[0], one, [&](spirv::U32 i) {
    code.for_(zero, sizes[1], one, [&](spirv::U32 j) {
      code.for_many(zero, sizes[2], [&](spirv::U32 k) { each(Place{i, j, k}); });
    });
  });
}

// Shader side of Window: loads the window's parameters from parameter `at` on. Because they are
// parameters, all windows share one shader.
class WindowCode {
 public:
  static constexpr uint32_t kWords = 3 * kSpatial + kSpatial * Division::kWords;

  WindowCode(spirv::Code& code, uint32_t at);

  // The result of find(): the position in x under tap `k` of the window at output position `p`, and
  // whether x has an element there.
  struct Found {
    Place place;
    spirv::Bool is_there;
  };
  // Finds the position in x, whose spatial sizes are `sizes`, for output position `p` and tap `k`.
  Found find(const Place& p, const Place& k, const Place& sizes) const;

 private:
  Place steps_, dilations_, pads_;
  std::vector<Division> by_lhs_dilations_;
};

}  // namespace tenon_vulkan
