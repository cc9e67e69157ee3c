// The filters of a convolution, packed into panels for the tile of the matrix product.

#pragma once

#include "plugins/simd/kernels/multiply.h"
#include "plugins/simd/kernels/window.h"

namespace tenon_simd {

// The filter as a strided matrix [out channels, (channel, taps)].
template <class T>
struct Filter {
  const T* data;
  int64_t out_stride, channel_stride;
  Spatial strides;
  int64_t out_channels, channels;  // Per convolution group.
  Spatial taps;
  int64_t group_stride;

  // Returns the number of terms of an output element.
  int64_t terms() const { return channels * volume(taps); }
  // Whether the terms of an output channel are contiguous.
  bool is_dense() const {
    LoopAxes axes;
    axes.push(channels, channel_stride);
    for (size_t i = 0; i < 3; ++i) axes.push(taps[i], strides[i]);
    return axes.rank <= 1 && axes.inner_stride() == 1;
  }
};

// Finds the packed forms of a filter that are kept between launches. `content`: tenon_view.content
// of the filter.
struct KeptFilters {
  PackedOperands* packed = nullptr;
  uint64_t content = 0;

  // Returns the form with `size` elements, which pack(T* to) writes, or NULL (packed_operands.h).
  // `panel`: the number of output channels in a panel.
  template <class T, class Pack>
  PackedOperands::Memory find(const Filter<T>& filter, int64_t groups, int64_t panel, int64_t size,
                              PackedForm form, const Pack& pack) const {
    // Smaller filters are packed in less time than it takes to find them.
    constexpr int64_t kMinSize = 2048;
    if (content == 0 || size < kMinSize) return nullptr;
    const PackedOperands::Key key{
        content,
        filter.data,
        {form, sizeof(T), panel, groups, filter.group_stride, filter.out_channels,
         filter.out_stride, filter.channels, filter.channel_stride, filter.taps[0], filter.taps[1],
         filter.taps[2], filter.strides[0], filter.strides[1], filter.strides[2]}};
    return packed->find(key, static_cast<size_t>(size) * sizeof(T),
                        [&](std::byte* to) { pack(reinterpret_cast<T*>(to)); });
  }
};

// Packs columns [block, block + kn) of output channels [begin, end) of one group into panels of
// `mr` rows.
template <class T>
void pack_dense(const Filter<T>& filter, int64_t group, const MultiplyTiles<T>& tiles,
                int64_t block, int64_t kn, int64_t mr, T* to, int64_t begin, int64_t end) {
  for (int64_t m = begin; m < end; m += mr, to += mr * kn) {
    const int64_t rows = std::min(mr, end - m);
    if (rows < mr) std::fill_n(to, mr * kn, T{0});
    const T* const from = filter.data + group * filter.group_stride + m * filter.out_stride + block;
    // Prefetches the rows of the next panel, because the rows of a block are too short for the
    // hardware prefetcher.
    constexpr int64_t kLine = 64 / sizeof(T);
    const int64_t next_rows = std::min(mr, end - m - mr);
    for (int64_t i = mr; i < mr + next_rows; ++i) {
      for (int64_t j = 0; j < kn; j += kLine) __builtin_prefetch(from + i * filter.out_stride + j);
    }
    tiles.transpose(from, filter.out_stride, to, mr, rows, kn);
  }
}

// Packs the filter of one group into panels of mr rows, in blocks of kBlockK columns.
template <class T>
void pack_filter(const Filter<T>& filter, int64_t group, const MultiplyTiles<T>& tiles, int64_t mr,
                 T* to) {
  const int64_t k = filter.terms();
  const int64_t m_padded = (filter.out_channels + mr - 1) / mr * mr;
  if (filter.is_dense()) {
    for (int64_t block = 0; block < k; block += kBlockK) {
      pack_dense(filter, group, tiles, block, std::min(kBlockK, k - block), mr,
                 to + block * m_padded, 0, filter.out_channels);
    }
    return;
  }
  if (m_padded != filter.out_channels) std::fill_n(to, m_padded * k, T{0});
  const int64_t taps = volume(filter.taps);
  std::vector<int64_t> offsets;
  for_each_position(filter.taps, [&](const Spatial& tap) {
    offsets.push_back(tap[0] * filter.strides[0] + tap[1] * filter.strides[1] +
                      tap[2] * filter.strides[2]);
  });
  for (int64_t channel = 0; channel < filter.channels; ++channel) {
    for (int64_t m = 0; m < filter.out_channels; ++m) {
      const T* const from = filter.data + group * filter.group_stride +
                            channel * filter.channel_stride + m * filter.out_stride;
      const int64_t panel = m / mr * mr;
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t column = channel * taps + tap, block = column / kBlockK * kBlockK;
        const int64_t block_k = std::min(kBlockK, k - block);
        to[block * m_padded + panel * block_k + (column - block) * mr + m - panel] =
            from[offsets[static_cast<size_t>(tap)]];
      }
    }
  }
}

}  // namespace tenon_simd
