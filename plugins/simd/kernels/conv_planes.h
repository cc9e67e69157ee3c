// The padded planes that convolutions and pooling read.
//
// Each channel of an image is copied once to a padded plane. In this layout, the input elements
// under one tap of the filter are contiguous for all outputs of a row: a row is stored as `step`
// phases, and a phase consists of the elements at w = phase, phase + step, and so on. A tap is then
// an offset into the planes. Only the copy depends on padding, strides, dilations and layouts.

#pragma once

#include "plugins/simd/kernels/multiply.h"
#include "plugins/simd/kernels/window.h"

namespace tenon_simd {

// The layout of the padded planes of one image.
struct PlaneLayout {
  Spatial sizes;  // Depth, height, and the width of one phase.
  int64_t phases;
  int64_t row, slice, plane;

  PlaneLayout(const Window& window, const Spatial& out, const Spatial& taps) {
    const Spatial reach = window.reach(out, taps);
    phases = window.steps[2];
    sizes = {reach[0], reach[1], (reach[2] + phases - 1) / phases};
    row = sizes[2] * phases;
    slice = row * sizes[1];
    plane = slice * sizes[0];
  }
  // Returns the offset of an element of the padded input.
  int64_t offset(int64_t d, int64_t h, int64_t w) const {
    return d * slice + h * row + w % phases * sizes[2] + w / phases;
  }
  // Appends the offsets of all taps of a channel's plane.
  void add_offsets(const Window& window, const Spatial& taps, int64_t channel,
                   std::vector<int64_t>& offsets) const {
    for_each_position(taps, [&](const Spatial& tap) {
      offsets.push_back(channel * plane + offset(tap[0] * window.dilations[0],
                                                 tap[1] * window.dilations[1],
                                                 tap[2] * window.dilations[2]));
    });
  }
};

// Copies channels to padded planes.
template <class T>
class PlaneCopy {
 public:
  PlaneCopy(const Window& window, const Planes& planes, const PlaneLayout& layout,
            const Spatial& taps, T padding = T{0})
      : window_(window), planes_(planes), layout_(layout), padding_(padding) {
    const int64_t width = layout.row;
    rows_ = copied_range(1, planes.sizes[1], layout.sizes[1]);
    columns_ = copied_range(2, planes.sizes[2], width);
    const bool is_dilated = window.lhs_dilations != Spatial{1, 1, 1};
    is_plain_ = !is_dilated && layout.phases == 1 && planes.strides[2] == 1;
    is_covered_ = !is_dilated && layout.phases == 1 && layout.sizes[0] == planes.sizes[0] &&
                  window.pads[0] == 0 && rows_.size() == layout.sizes[1] &&
                  columns_.size() == width;
    rows_read_ = remainders_read(1, taps[1]);
    phases_read_ = remainders_read(2, taps[2]);
  }

  // Copies the channel that begins at `x` to a padded plane.
  void operator()(const T* x, T* to) const {
    fill_padding(1, to);
    copy_elements(x, to);
  }
  // Writes the padding of `channels` planes.
  void fill_padding(int64_t channels, T* to) const {
    if (!is_covered_) std::fill_n(to, channels * layout_.plane, padding_);
  }
  // Copies a channel to a plane whose padding is already written. All channels of the same layout
  // have the same padding.
  void copy_elements(const T* x, T* to) const {
    for (int64_t d = 0; d < planes_.sizes[0]; ++d) {
      const int64_t to_d = padded_index(0, d);
      if (to_d < 0 || to_d >= layout_.sizes[0]) continue;
      copy_slice(x + d * planes_.strides[0], to + to_d * layout_.slice);
    }
  }

 private:
  // A range of indices along an axis of the input.
  struct Range {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
  };

  // Returns the range of indices along an axis that fall into the padded planes. Requires that the
  // input is not dilated along the axis.
  Range copied_range(size_t axis, int64_t size, int64_t padded_size) const {
    const int64_t begin = std::max<int64_t>(0, -window_.pads[axis]);
    return {begin, std::max(begin, std::min(size, padded_size - window_.pads[axis]))};
  }
  // Returns the index in the padded plane of index `at` of the input.
  int64_t padded_index(size_t axis, int64_t at) const {
    return at * window_.lhs_dilations[axis] + window_.pads[axis];
  }
  // Returns a bit mask. Bit i is set if a tap reads padded positions p with p % step == i.
  uint64_t remainders_read(size_t axis, int64_t taps) const {
    const int64_t step = window_.steps[axis];
    if (step > 64) return ~uint64_t{0};
    uint64_t read = 0;
    for (int64_t tap = 0; tap < std::min(taps, step); ++tap) {
      read |= uint64_t{1} << (tap * window_.dilations[axis] % step);
    }
    return read;
  }
  // Whether bit i is set in a mask of remainders_read().
  static bool has_remainder(uint64_t remainders, int64_t i) {
    return remainders >> std::min<int64_t>(i, 63) & 1;
  }

  // Copies one depth of the input.
  void copy_slice(const T* from, T* to) const {
    if (is_plain_) {
      tiles_.copy_rows(
          from + rows_.begin * planes_.strides[1] + columns_.begin, planes_.strides[1],
          to + layout_.offset(0, padded_index(1, rows_.begin), padded_index(2, columns_.begin)),
          layout_.row, rows_.size(), columns_.size());
      return;
    }
    for (int64_t h = 0; h < planes_.sizes[1]; ++h) {
      const int64_t to_h = padded_index(1, h);
      if (to_h < 0 || to_h >= layout_.sizes[1]) continue;
      if (!has_remainder(rows_read_, to_h % window_.steps[1])) continue;
      copy_row(from + h * planes_.strides[1], to + to_h * layout_.row);
    }
  }

  // Copies one row and separates it into phases.
  void copy_row(const T* from, T* to) const {
    const int64_t stride = planes_.strides[2], pad = window_.pads[2];
    if (window_.lhs_dilations[2] != 1) {
      for (int64_t w = 0; w < planes_.sizes[2]; ++w) {
        const int64_t to_w = padded_index(2, w);
        if (to_w >= 0 && to_w < layout_.row) to[layout_.offset(0, 0, to_w)] = from[w * stride];
      }
      return;
    }
    for (int64_t phase = 0; phase < layout_.phases; ++phase) {
      if (!has_remainder(phases_read_, phase)) continue;
      // `begin` is the index of the first element of this phase.
      const int64_t first = columns_.begin + pad;
      const int64_t skipped = ((phase - first) % layout_.phases + layout_.phases) % layout_.phases;
      const int64_t begin = columns_.begin + skipped;
      const int64_t n = (columns_.end - begin + layout_.phases - 1) / layout_.phases;
      T* const to_phase = to + layout_.offset(0, 0, begin + pad);
      const T* const source = from + begin * stride;
      const int64_t step = layout_.phases * stride;
      if (step == 2) {
        for (int64_t i = 0; i < n; ++i) to_phase[i] = source[2 * i];
      } else {
        for (int64_t i = 0; i < n; ++i) to_phase[i] = source[step * i];
      }
    }
  }

  const MultiplyTiles<T>& tiles_ = multiply_tiles<T>();
  Window window_;
  Planes planes_;
  PlaneLayout layout_;
  T padding_;
  Range rows_, columns_;
  bool is_plain_ = false;    // Whether rows are copied without rearrangement.
  bool is_covered_ = false;  // Whether elements cover the whole plane, so no padding is written.
  uint64_t rows_read_ = 0, phases_read_ = 0;
};

}  // namespace tenon_simd
