// One convolution over images in memory.
//
// A convolution is the product of the filter, as a matrix [out channels, (channel, tap)], and the
// patches [(channel, tap), output position]. Patches are never materialised as a whole. A block of
// kBlockK terms is computed in one of these ways, which all sum in the order of multiply.h and thus
// give the same bits:
//
//   plain      one tap, without padding and strides: the image itself is the matrix of patches
//   depthwise  one channel and one filter per group: taps times shifted rows
//   rows       tiles read the rows of padded planes (conv_planes.h), one or two rows at a time
//   panels     the patches of a tile's positions are copied to a panel, which all filters use

#pragma once

#include "plugins/simd/kernels/conv_planes.h"
#include "plugins/simd/vectors/shifted.h"

namespace tenon_simd {

// The filter as a strided matrix [out channels, (channel, taps)].
template <class T>
struct Filter {
  const T* data;
  int64_t out_stride, channel_stride;
  Spatial strides;
  int64_t out_channels, channels;  // Per group.
  Spatial taps;
  int64_t group_stride;

  int64_t terms() const { return channels * volume(taps); }
  // Whether the terms of an out channel are contiguous.
  bool is_dense() const {
    LoopAxes axes;
    axes.push(channels, channel_stride);
    for (size_t i = 0; i < 3; ++i) axes.push(taps[i], strides[i]);
    return axes.rank <= 1 && axes.inner_stride() == 1;
  }
};

// Packs columns [block, block + kn) of the filter of one group into panels for the tile.
template <class T>
void pack_dense(const Filter<T>& filter, int64_t group, const MultiplyTiles<T>& tiles,
                int64_t block, int64_t kn, int64_t mr, T* to) {
  for (int64_t m = 0; m < filter.out_channels; m += mr, to += mr * kn) {
    const int64_t rows = std::min(mr, filter.out_channels - m);
    if (rows < mr) std::fill_n(to, mr * kn, T{0});
    tiles.transpose(filter.data + group * filter.group_stride + m * filter.out_stride + block,
                    filter.out_stride, to, mr, rows, kn);
  }
}

// Packs the filter of one group into panels for the tile, in blocks of kBlockK columns.
template <class T>
void pack_filter(const Filter<T>& filter, int64_t group, const MultiplyTiles<T>& tiles, T* to) {
  const int64_t mr = tiles.panel_rows(filter.out_channels);
  const int64_t k = filter.terms();
  const int64_t m_padded = (filter.out_channels + mr - 1) / mr * mr;
  if (filter.is_dense()) {
    for (int64_t block = 0; block < k; block += kBlockK) {
      pack_dense(filter, group, tiles, block, std::min(kBlockK, k - block), mr,
                 to + block * m_padded);
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

template <class T>
class Convolution {
 public:
  Convolution(const Pool& pool, const Window& window, const T* x, const Planes& x_planes,
              const Filter<T>& filter, const T* bias, int64_t bias_stride, T* y, const Spatial& out,
              int64_t groups)
      : pool_(pool),
        window_(window),
        x_(x),
        x_planes_(x_planes),
        filter_(filter),
        bias_(bias),
        bias_stride_(bias_stride),
        y_(y),
        out_(out),
        groups_(groups),
        layout_(window, out, filter.taps),
        k_(filter.terms()) {}

  void run() {
    const int64_t images = x_planes_.n * groups_;
    if (is_plain()) return multiply_plain(images);
    offsets_.reserve(static_cast<size_t>(k_));
    for (int64_t c = 0; c < filter_.channels; ++c) {
      layout_.add_offsets(window_, filter_.taps, c, offsets_);
    }
    // Tiles read whole vectors, also past the end of the last row.
    planes_size_ = filter_.channels * layout_.plane + tiles_.columns;
    is_depthwise_ = filter_.out_channels == 1 && filter_.channels == 1 && k_ <= kBlockK;
    if (!is_depthwise_) {
      mr_ = tiles_.panel_rows(filter_.out_channels);
      m_padded_ = (filter_.out_channels + mr_ - 1) / mr_ * mr_;
      uses_panels_ = prefers_panels();
      packs_blocks_ = uses_panels_ && images == 1 && steps() <= part() && filter_.is_dense();
      if (!packs_blocks_) pack_filters();
    }
    const PlaneCopy<T> copy(window_, x_planes_, layout_, filter_.taps);
    const int64_t area = volume(out_), work = filter_.out_channels * k_ * area;
    if (images > 1 || work < (1 << 20)) {
      const int64_t grain = std::max<int64_t>(1, (1 << 18) / std::max<int64_t>(1, work));
      pool_.parallel_tasks(images, grain, [&](int64_t begin, int64_t end) {
        T* planes = scratch_of<T>(kScratchConv, planes_size_);
        for (int64_t image = begin; image < end; ++image) {
          for (int64_t c = 0; c < filter_.channels; ++c) pad(copy, image, c, planes);
          multiply(image, planes, 0, steps());
        }
      });
      return;
    }
    T* const planes = scratch_of<T>(kScratchImage, planes_size_);
    pool_.parallel_for(filter_.channels, [&](int64_t c) { pad(copy, 0, c, planes); });
    pool_.parallel_tasks(steps(), 1,
                         [&](int64_t begin, int64_t end) { multiply(0, planes, begin, end); });
  }

 private:
  // Whether the image is the matrix of patches.
  bool is_plain() const {
    LoopAxes axes;
    for (size_t i = 0; i < 3; ++i) axes.push(out_[i], x_planes_.strides[i]);
    return volume(filter_.taps) == 1 && window_.steps == Spatial{1, 1, 1} &&
           window_.pads == Spatial{0, 0, 0} && window_.lhs_dilations == Spatial{1, 1, 1} &&
           out_ == x_planes_.sizes && axes.rank <= 1 && axes.inner_stride() == 1;
  }

  void multiply_plain(int64_t images) const {
    const int64_t area = volume(out_), work = filter_.out_channels * k_ * area;
    const auto product = [&](int64_t image, const auto& run) {
      const int64_t group = image % groups_;
      const Matrix<T> a{filter_.data + group * filter_.group_stride, filter_.out_stride,
                        filter_.channels == 1 ? 1 : filter_.channel_stride};
      const Matrix<T> b{x_ + image / groups_ * x_planes_.n_stride +
                            group * filter_.channels * x_planes_.channel_stride,
                        x_planes_.channel_stride, 1};
      T* const y = y_ + image * filter_.out_channels * area;
      start(group, y, 0, area);
      if (k_ > 0) run(a, b, y, bias_ != nullptr);
    };
    if (images > 1 || work < (1 << 20)) {
      const int64_t grain = std::max<int64_t>(1, (1 << 18) / std::max<int64_t>(1, work));
      pool_.parallel_tasks(images, grain, [&](int64_t begin, int64_t end) {
        for (int64_t image = begin; image < end; ++image) {
          product(image, [&](const Matrix<T>& a, const Matrix<T>& b, T* y, bool add) {
            multiply_part(int64_t{0}, filter_.out_channels, int64_t{0}, area, k_, a, b, y, area,
                          add);
          });
        }
      });
      return;
    }
    product(0, [&](const Matrix<T>& a, const Matrix<T>& b, T* y, bool add) {
      tenon_simd::multiply(pool_, filter_.out_channels, area, k_, a, b, y, area, add);
    });
  }

  // Estimates the cycles of one term of an image. A tile with few valid columns takes as long as a
  // whole one, and copying a row of a panel takes a few cycles for each run of positions.
  bool prefers_panels() const {
    const int64_t width = out_[2], nr = tiles_.columns, area = volume(out_);
    const auto tiles = [nr](int64_t n) { return (n + nr - 1) / nr; };
    const int64_t rows = out_[0] * out_[1], tile_cycles = m_padded_;
    int64_t row_tiles = rows * tiles(width);
    if (2 * width <= nr && k_ <= kLongestChain) row_tiles = (rows + 1) / 2;
    const int64_t runs = tiles(area) + rows;
    return tiles(area) * tile_cycles + 3 * tiles(area) + 2 * runs < row_tiles * tile_cycles;
  }

  // What parallel tasks split: rows of the output, or panels.
  int64_t steps() const {
    return uses_panels_ ? (volume(out_) + tiles_.columns - 1) / tiles_.columns : out_[0] * out_[1];
  }
  // The number of steps whose outputs stay in the second-level cache until all terms are added.
  int64_t part() const {
    const int64_t outputs = filter_.out_channels * (uses_panels_ ? tiles_.columns : out_[2]);
    return std::max<int64_t>(2, (1 << 16) / outputs / 2 * 2);
  }
  void pack_filters() {
    packed_ = scratch_of<T>(kScratchFilter, groups_ * m_padded_ * k_);
    pool_.parallel_for(groups_, [&](int64_t group) {
      pack_filter(filter_, group, tiles_, packed_ + group * m_padded_ * k_);
    });
  }
  // Terms [kb, kb + kn) of a group's filters, in panels.
  const T* packed_block(int64_t group, int64_t kb, int64_t kn) const {
    if (!packs_blocks_) return packed_ + group * m_padded_ * k_ + kb * m_padded_;
    T* const block = scratch_of<T>(kScratchA, m_padded_ * kn);
    pack_dense(filter_, group, tiles_, kb, kn, mr_, block);
    return block;
  }

  void multiply(int64_t image, const T* planes, int64_t begin, int64_t end) const {
    if (is_depthwise_) return multiply_depthwise(image, planes, begin, end);
    for (int64_t step = begin; step < end; step += part()) {
      const int64_t last = std::min(step + part(), end);
      uses_panels_ ? multiply_panels(image, planes, step, last)
                   : multiply_rows(image, planes, step, last);
    }
  }

  void pad(const PlaneCopy<T>& copy, int64_t image, int64_t c, T* planes) const {
    const int64_t n = image / groups_, channel = image % groups_ * filter_.channels + c;
    copy(x_ + n * x_planes_.n_stride + channel * x_planes_.channel_stride,
         planes + c * layout_.plane);
  }

  T bias_of(int64_t group, int64_t m) const {
    return bias_ == nullptr ? T{0} : bias_[(group * filter_.out_channels + m) * bias_stride_];
  }

  // Sets positions [begin, end) of all filters of a group to the bias, or to zero if no terms will
  // be added.
  void start(int64_t group, T* y, int64_t begin, int64_t end) const {
    if (bias_ == nullptr && k_ > 0) return;
    const int64_t area = volume(out_);
    for (int64_t m = 0; m < filter_.out_channels; ++m) {
      std::fill(y + m * area + begin, y + m * area + end, bias_of(group, m));
    }
  }

  // Where the tap at the origin reads for the output at (d, h, 0).
  const T* row_start(const T* planes, int64_t row) const {
    return planes + row / out_[1] * window_.steps[0] * layout_.slice +
           row % out_[1] * window_.steps[1] * layout_.row;
  }

  // Computes panels [begin, end) of one group of one image.
  void multiply_panels(int64_t image, const T* planes, int64_t begin, int64_t end) const {
    const int64_t area = volume(out_), nr = tiles_.columns, group = image % groups_;
    T* const y = y_ + image * filter_.out_channels * area;
    const bool has_bias = bias_ != nullptr;
    start(group, y, begin * nr, std::min(end * nr, area));
    if (k_ <= kLongestChain) {
      return panel_chain(group, planes, begin, end, 0, k_, y + begin * nr, area, has_bias);
    }
    const int64_t columns = (end - begin) * nr;
    std::vector<T> sums(static_cast<size_t>(filter_.out_channels * columns));
    sum_chains(columns, sums, [&](int64_t first, int64_t last, T* to) {
      panel_chain(group, planes, begin, end, first, last, to, columns, false);
    });
    copy_sums(sums.data(), columns, y + begin * nr, std::min(columns, area - begin * nr));
  }

  // Adds terms [k0, k1) of panels [begin, end). `to` points to the first position of the first
  // channel; channels are `to_channel` apart.
  void panel_chain(int64_t group, const T* planes, int64_t begin, int64_t end, int64_t k0,
                   int64_t k1, T* to, int64_t to_channel, bool add) const {
    const int64_t area = volume(out_), nr = tiles_.columns, width = out_[2];
    T* const panel = scratch_of<T>(kScratchB, kBlockK * nr + nr);
    std::vector<PatchRun> runs;
    for (int64_t kb = k0; kb < k1; kb += kBlockK) {
      const int64_t kn = std::min(kBlockK, k1 - kb);
      TileArgs<T> args{.k = kn,
                       .a_row = 1,
                       .a_k = mr_,
                       .b = panel,
                       .b_k = nr,
                       .c_row = to_channel,
                       .add = add || kb > k0};
      const T* const packed = packed_block(group, kb, kn);
      for (int64_t step = begin; step < end; ++step) {
        const int64_t first = step * nr;
        args.n = std::min(nr, area - first);
        runs.clear();
        for (int64_t i = 0; i < args.n;) {
          const int64_t column = (first + i) % width;
          const int64_t n = std::min(width - column, args.n - i);
          const T* const from = row_start(planes, (first + i) / width) + column;
          runs.push_back({from - planes, i, n});
          i += n;
        }
        tiles_.copy_patches(planes, offsets_.data() + kb, kn, runs.data(),
                            static_cast<int64_t>(runs.size()), panel, nr);
        for (int64_t m = 0; m < filter_.out_channels; m += mr_) {
          args.a = packed + m * kn;
          args.c = to + m * to_channel + (step - begin) * nr;
          args.m = std::min(mr_, filter_.out_channels - m);
          tiles_.packed(args);
        }
      }
    }
  }

  // Sums all terms as a tree of chains: chain(first, last, to) computes some terms of all channels,
  // of `columns` positions each.
  template <class Chain>
  void sum_chains(int64_t columns, std::vector<T>& sums, const Chain& chain) const {
    sum_parts(int64_t{0}, (k_ + kLongestChain - 1) / kLongestChain, filter_.out_channels * columns,
              sums.data(), [&](int64_t i, T* to) {
                const int64_t first = i * kLongestChain;
                chain(first, std::min(first + kLongestChain, k_), to);
              });
  }
  // Adds sums to the bias, if there is one, for `n` positions of each channel.
  void copy_sums(const T* sums, int64_t columns, T* y, int64_t n) const {
    for (int64_t m = 0; m < filter_.out_channels; ++m) {
      const T* const from = sums + m * columns;
      T* const to = y + m * volume(out_);
      for (int64_t j = 0; j < n; ++j) to[j] = bias_ != nullptr ? to[j] + from[j] : from[j];
    }
  }

  // Computes output rows [begin, end) of one channel of one image.
  void multiply_depthwise(int64_t image, const T* planes, int64_t begin, int64_t end) const {
    const int64_t group = image % groups_, width = out_[2];
    std::vector<T> filter;
    for_each_position(filter_.taps, [&](const Spatial& tap) {
      filter.push_back(filter_.data[group * filter_.group_stride + tap[0] * filter_.strides[0] +
                                    tap[1] * filter_.strides[1] + tap[2] * filter_.strides[2]]);
    });
    const bool add = bias_ != nullptr;
    for (int64_t row = begin; row < end;) {
      // Rows of one slice, which are equally far apart.
      const int64_t last = std::min(end, (row / out_[1] + 1) * out_[1]);
      add_shifted_rows(ShiftedRows<T>{.from = row_start(planes, row),
                                      .offsets = offsets_.data(),
                                      .filter = filter.data(),
                                      .k = k_,
                                      .from_row = window_.steps[1] * layout_.row,
                                      .rows = last - row,
                                      .n = width,
                                      .bias = bias_of(group, 0),
                                      .add_bias = add,
                                      .y = y_ + image * volume(out_) + row * width});
      row = last;
    }
  }

  // Computes output rows [begin, end) of one group of one image.
  void multiply_rows(int64_t image, const T* planes, int64_t begin, int64_t end) const {
    const int64_t area = volume(out_), width = out_[2];
    const int64_t group = image % groups_;
    T* const y = y_ + image * filter_.out_channels * area;
    const bool has_bias = bias_ != nullptr;
    start(group, y, begin * width, end * width);
    if (k_ <= kLongestChain) {
      return multiply_chain(group, planes, begin, end, 0, k_, y + begin * width, area, has_bias);
    }
    // One row at a time, to limit the memory for the tree's partial sums.
    std::vector<T> sums(static_cast<size_t>(filter_.out_channels * width));
    for (int64_t row = begin; row < end; ++row) {
      sum_chains(width, sums, [&](int64_t first, int64_t last, T* to) {
        multiply_chain(group, planes, row, row + 1, first, last, to, width, false);
      });
      copy_sums(sums.data(), width, y + row * width, width);
    }
  }

  // Adds terms [k0, k1) of output rows [begin, end). `to` points to row `begin` of the first
  // channel; channels are `to_channel` apart.
  void multiply_chain(int64_t group, const T* planes, int64_t begin, int64_t end, int64_t k0,
                      int64_t k1, T* to, int64_t to_channel, bool add) const {
    const int64_t width = out_[2];
    const T* const packed = packed_ + group * m_padded_ * k_;
    for (int64_t kb = k0; kb < k1; kb += kBlockK) {
      const int64_t kn = std::min(kBlockK, k1 - kb);
      TileArgs<T> args{.k = kn,
                       .a_row = 1,
                       .a_k = mr_,
                       .b_offsets = offsets_.data() + kb,
                       .c_row = to_channel,
                       .add = add || kb > k0};
      // A row that fits one vector shares a tile with the next row.
      const bool pairs = 2 * width <= tiles_.columns;
      args.b_pair = window_.steps[1] * layout_.row;
      args.c_pair = width;
      for (int64_t row = begin; row < end;) {
        const bool paired = pairs && row + 1 < end && row % out_[1] + 1 < out_[1];
        const T* const from = row_start(planes, row);
        for (int64_t w = 0; w < width; w += tiles_.columns) {
          args.b = from + w;
          args.n = std::min(tiles_.columns, width - w);
          for (int64_t m = 0; m < filter_.out_channels; m += mr_) {
            args.a = packed + kb * m_padded_ + m * kn;
            args.c = to + m * to_channel + (row - begin) * width + w;
            args.m = std::min(mr_, filter_.out_channels - m);
            paired ? tiles_.paired(args) : tiles_.gathered(args);
          }
        }
        row += paired ? 2 : 1;
      }
    }
  }

  const Pool& pool_;
  const MultiplyTiles<T>& tiles_ = multiply_tiles<T>();
  const Window window_;
  const T* x_;
  const Planes x_planes_;
  const Filter<T> filter_;
  const T* bias_;
  int64_t bias_stride_;
  T* y_;
  const Spatial out_;
  int64_t groups_;
  const PlaneLayout layout_;
  int64_t k_;
  int64_t mr_ = 0;  // Rows of a filter panel.
  int64_t m_padded_ = 0;
  int64_t planes_size_ = 0;
  bool is_depthwise_ = false, uses_panels_ = false;
  bool packs_blocks_ = false;  // Whether filters are packed for each block of terms.
  T* packed_ = nullptr;        // The filter in panels, in memory of the calling thread.
  std::vector<int64_t> offsets_;
};

}  // namespace tenon_simd
