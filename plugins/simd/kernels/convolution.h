// Computes a convolution over images in memory.
//
// A convolution is the product of the filter, as a matrix [out channels, (channel, tap)], and the
// patches [(channel, tap), output position]. Patches are never materialised as a whole. A block of
// kBlockK terms is computed by one of the following algorithms. All of them sum in the order of
// multiply.h and therefore return the same bits.
//
//   plain      one tap, without padding and strides: the image itself is the matrix of patches
//   depthwise  one channel and one filter per group: taps times shifted rows
//   rows       tiles read the rows of padded planes (conv_planes.h), one or two rows at a time
//   panels     the patches of a tile's positions are copied to a panel, which all filters use
//   channels   the transposed product, for few positions: patches times the transposed filter

#pragma once

#include "plugins/simd/kernels/conv_planes.h"
#include "plugins/simd/kernels/filter_panels.h"
#include "plugins/simd/vectors/shifted.h"

namespace tenon_simd {

template <class T>
class Convolution {
 public:
  Convolution(const Pool& pool, const KeptFilters& kept, const Window& window, const T* x,
              const Planes& x_planes, const Filter<T>& filter, const T* bias, int64_t bias_stride,
              T* y, const Spatial& out, int64_t groups)
      : pool_(pool),
        kept_(kept),
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
    if (is_plain() && !has_few_positions()) return multiply_plain(images);
    offsets_.reserve(static_cast<size_t>(k_));
    for (int64_t c = 0; c < filter_.channels; ++c) {
      layout_.add_offsets(window_, filter_.taps, c, offsets_);
    }
    // Tiles read whole vectors, which may extend past the end of the last row.
    planes_size_ = filter_.channels * layout_.plane + tiles_.columns;
    way_ = choose_algorithm();
    if (way_ != Way::kDepthwise) {
      packed_ = kept_filters();
      packs_blocks_ = packed_ == nullptr && way_ != Way::kRows && images == 1 &&
                      steps() <= max_steps_in_cache() && filter_.is_dense();
      if (packed_ == nullptr && !packs_blocks_) {
        T* const to = scratch_of<T>(kScratchFilter, groups_ * m_padded_ * k_);
        pack_filters(to);
        packed_ = to;
      }
    }
    const PlaneCopy<T> copy(window_, x_planes_, layout_, filter_.taps);
    const int64_t area = volume(out_), work = filter_.out_channels * k_ * area;
    if (images > 1 || work < (1 << 20)) {
      const int64_t grain = std::max<int64_t>(1, (1 << 18) / std::max<int64_t>(1, work));
      pool_.parallel_tasks(images, grain, [&](int64_t begin, int64_t end) {
        T* planes = scratch_of<T>(kScratchConv, planes_size_);
        copy.fill_padding(filter_.channels, planes);
        for (int64_t image = begin; image < end; ++image) {
          for (int64_t c = 0; c < filter_.channels; ++c) pad(copy, image, c, planes);
          multiply(image, planes, 0, steps());
        }
      });
      return;
    }
    T* const planes = scratch_of<T>(kScratchImage, planes_size_);
    pool_.parallel_for(filter_.channels, [&](int64_t c) {
      copy.fill_padding(1, planes + c * layout_.plane);
      pad(copy, 0, c, planes);
    });
    pool_.parallel_tasks(steps(), 1,
                         [&](int64_t begin, int64_t end) { multiply(0, planes, begin, end); });
  }

 private:
  enum class Way { kDepthwise, kRows, kPanels, kChannels };

  // Whether the image itself is the matrix of patches.
  bool is_plain() const {
    LoopAxes axes;
    for (size_t i = 0; i < 3; ++i) axes.push(out_[i], x_planes_.strides[i]);
    return volume(filter_.taps) == 1 && window_.steps == Spatial{1, 1, 1} &&
           window_.pads == Spatial{0, 0, 0} && window_.lhs_dilations == Spatial{1, 1, 1} &&
           out_ == x_planes_.sizes && axes.rank <= 1 && axes.inner_stride() == 1;
  }

  // Computes all images by products of the filter and the image itself. Blocks of outputs are
  // initialised just before their terms are added, so that they are still in the cache.
  void multiply_plain(int64_t images) {
    const int64_t area = volume(out_), work = filter_.out_channels * k_ * area;
    set_panels(tiles_.panel_rows(filter_.out_channels));
    packed_ = kept_filters();
    const auto multiply_block = [&](int64_t image, int64_t begin, int64_t end) {
      const int64_t group = image % groups_;
      const Matrix<T> a{filter_.data + group * filter_.group_stride, filter_.out_stride,
                        filter_.channels == 1 ? 1 : filter_.channel_stride};
      const Matrix<T> b{x_ + image / groups_ * x_planes_.n_stride +
                            group * filter_.channels * x_planes_.channel_stride,
                        x_planes_.channel_stride, 1};
      T* const y = y_ + image * filter_.out_channels * area;
      initialise_outputs(group, y, begin, end);
      if (k_ == 0) return;
      const T* const packed = packed_ != nullptr ? packed_ + group * m_padded_ * k_ : nullptr;
      multiply_part(int64_t{0}, filter_.out_channels, begin, end, k_, a, b, y, area,
                    bias_ != nullptr, {.a = {packed, mr_, m_padded_}, .b = {}});
    };
    // With several threads, an image consists of at least four blocks.
    const int64_t quarter = round_up((area + 3) / 4, tiles_.columns);
    const int64_t step = pool_.threads() == 1 ? kBlockN : std::min(kBlockN, quarter);
    const int64_t blocks = (area + step - 1) / step;
    const int64_t grain = std::max<int64_t>(1, (1 << 18) * blocks / std::max<int64_t>(1, work));
    pool_.parallel_tasks(images * blocks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % blocks * step;
        multiply_block(i / blocks, first, std::min(first + step, area));
      }
    });
  }

  // Whether the transposed product is considered. It stores the sums of all positions, so there
  // must be few positions.
  bool has_few_positions() const {
    return volume(out_) <= 1024 && filter_.out_channels >= tiles_.columns;
  }

  // Rounds up to a multiple of `step`.
  static int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }
  // Sets the number of filters in a panel.
  void set_panels(int64_t mr) {
    mr_ = mr;
    m_padded_ = round_up(filter_.out_channels, mr);
  }

  // Selects the algorithm with the lowest estimated number of cycles per term. A tile with few
  // valid columns takes as long as a full tile, and copying a row of a panel takes a few cycles for
  // each run of positions.
  Way choose_algorithm() {
    if (filter_.out_channels == 1 && filter_.channels == 1 && k_ <= kBlockK) return Way::kDepthwise;
    set_panels(tiles_.panel_rows(filter_.out_channels));
    const int64_t width = out_[2], nr = tiles_.columns, area = volume(out_);
    const int64_t rows = out_[0] * out_[1], panels = round_up(area, nr) / nr;
    int64_t row_tiles = rows * (round_up(width, nr) / nr);
    if (2 * width <= nr && k_ <= kLongestChain) row_tiles = (rows + 1) / 2;
    const auto copying = [rows](int64_t tiles) { return 3 * tiles + 2 * (tiles + rows); };
    const int64_t by_rows = row_tiles * m_padded_, by_panels = panels * m_padded_ + copying(panels);
    // The last tile costs less, because there are tile variants with fewer rows.
    const int64_t tiles = round_up(area, tiles_.rows) / tiles_.rows, rest = area % tiles_.rows;
    const int64_t tile_rows = area - rest + (rest == 0 ? 0 : std::max<int64_t>(4, rest));
    const int64_t by_channels =
        round_up(filter_.out_channels, nr) / nr * tile_rows + copying(tiles);
    if (has_few_positions() && by_channels < std::min(by_rows, by_panels)) {
      set_panels(nr);
      return Way::kChannels;
    }
    return by_panels < by_rows ? Way::kPanels : Way::kRows;
  }

  // Returns the number of steps that are distributed over parallel tasks. A step is a row of the
  // output, a panel of positions, or a panel of channels.
  int64_t steps() const {
    const int64_t nr = tiles_.columns;
    if (way_ == Way::kPanels) return round_up(volume(out_), nr) / nr;
    return way_ == Way::kChannels ? m_padded_ / nr : out_[0] * out_[1];
  }
  // Returns the number of steps whose outputs stay in the L2 cache until all terms are added.
  int64_t max_steps_in_cache() const {
    int64_t outputs = filter_.out_channels * out_[2];
    if (way_ == Way::kPanels) outputs = filter_.out_channels * tiles_.columns;
    if (way_ == Way::kChannels) outputs = volume(out_) * tiles_.columns;
    return std::max<int64_t>(2, (1 << 16) / outputs / 2 * 2);
  }
  void pack_filters(T* to) const {
    pool_.parallel_for(groups_, [&](int64_t group) {
      pack_filter(filter_, group, tiles_, mr_, to + group * m_padded_ * k_);
    });
  }
  // Returns the packed filters that are kept between launches, or NULL.
  const T* kept_filters() {
    memory_ = kept_.find(filter_, groups_, mr_, groups_ * m_padded_ * k_, kPackedFilters,
                         [&](T* to) { pack_filters(to); });
    return reinterpret_cast<const T*>(memory_.get());
  }
  // Returns terms [kb, kb + kn) of filters [begin, end) of a group, packed into panels. `begin` is
  // the first filter of a panel.
  const T* packed_block(int64_t group, int64_t kb, int64_t kn, int64_t begin, int64_t end) const {
    if (!packs_blocks_) return packed_ + group * m_padded_ * k_ + kb * m_padded_ + begin * kn;
    T* const block = scratch_of<T>(kScratchA, round_up(end - begin, mr_) * kn);
    pack_dense(filter_, group, tiles_, kb, kn, mr_, block, begin, end);
    return block;
  }

  // Computes steps [begin, end) of one group of one image.
  void multiply(int64_t image, const T* planes, int64_t begin, int64_t end) const {
    if (way_ == Way::kDepthwise) return multiply_depthwise(image, planes, begin, end);
    for (int64_t step = begin; step < end; step += max_steps_in_cache()) {
      const int64_t last = std::min(step + max_steps_in_cache(), end);
      switch (way_) {
        case Way::kPanels:
          multiply_panels(image, planes, step, last);
          break;
        case Way::kChannels:
          multiply_channels(image, planes, step, last);
          break;
        default:
          multiply_rows(image, planes, step, last);
      }
    }
  }

  // Copies channel `c` of a group of an image to its plane, whose padding is already written.
  void pad(const PlaneCopy<T>& copy, int64_t image, int64_t c, T* planes) const {
    const int64_t n = image / groups_, channel = image % groups_ * filter_.channels + c;
    copy.copy_elements(x_ + n * x_planes_.n_stride + channel * x_planes_.channel_stride,
                       planes + c * layout_.plane);
  }

  // Returns the bias of filter `m` of a group; 0 if there is no bias.
  T bias_of(int64_t group, int64_t m) const {
    return bias_ == nullptr ? T{0} : bias_[(group * filter_.out_channels + m) * bias_stride_];
  }

  // Initialises the outputs at positions [begin, end) of all filters of a group to the bias.
  // Without a bias, sets them to zero if there are no terms, because then no product overwrites
  // them.
  void initialise_outputs(int64_t group, T* y, int64_t begin, int64_t end) const {
    if (bias_ == nullptr && k_ > 0) return;
    const int64_t area = volume(out_);
    for (int64_t m = 0; m < filter_.out_channels; ++m) {
      std::fill(y + m * area + begin, y + m * area + end, bias_of(group, m));
    }
  }

  // Returns the address that the first tap reads for the first output of a row.
  const T* row_start(const T* planes, int64_t row) const {
    return planes + row / out_[1] * window_.steps[0] * layout_.slice +
           row % out_[1] * window_.steps[1] * layout_.row;
  }

  // Computes panels [begin, end) of one group of one image.
  void multiply_panels(int64_t image, const T* planes, int64_t begin, int64_t end) const {
    const int64_t area = volume(out_), nr = tiles_.columns, group = image % groups_;
    T* const y = y_ + image * filter_.out_channels * area;
    const bool has_bias = bias_ != nullptr;
    initialise_outputs(group, y, begin * nr, std::min(end * nr, area));
    if (k_ <= kLongestChain) {
      return add_panel_terms(group, planes, begin, end, 0, k_, y + begin * nr, area, has_bias);
    }
    const int64_t columns = (end - begin) * nr;
    std::vector<T> sums(static_cast<size_t>(filter_.out_channels * columns));
    sum_chains(filter_.out_channels * columns, sums.data(),
               [&](int64_t first, int64_t last, T* to) {
                 add_panel_terms(group, planes, begin, end, first, last, to, columns, false);
               });
    store_sums(sums.data(), columns, y + begin * nr, std::min(columns, area - begin * nr));
  }

  // Adds terms [k0, k1) to the outputs of panels [begin, end). `to`: the first position of the
  // first channel. `to_channel`: distance between channels.
  void add_panel_terms(int64_t group, const T* planes, int64_t begin, int64_t end, int64_t k0,
                       int64_t k1, T* to, int64_t to_channel, bool add) const {
    const int64_t area = volume(out_), nr = tiles_.columns;
    T* const panel = scratch_of<T>(kScratchB, kBlockK * nr + nr);
    for (int64_t kb = k0; kb < k1; kb += kBlockK) {
      const int64_t kn = std::min(kBlockK, k1 - kb);
      TileArgs<T> args{.k = kn,
                       .a_row = 1,
                       .a_k = mr_,
                       .b = panel,
                       .b_k = nr,
                       .c_row = to_channel,
                       .add = add || kb > k0};
      const T* const packed = packed_block(group, kb, kn, 0, filter_.out_channels);
      for (int64_t step = begin; step < end; ++step) {
        const int64_t first = step * nr;
        args.n = std::min(nr, area - first);
        copy_patches(planes, kb, kn, first, args.n, panel, nr);
        for (int64_t m = 0; m < filter_.out_channels; m += mr_) {
          args.a = packed + m * kn;
          args.c = to + m * to_channel + (step - begin) * nr;
          args.m = std::min(mr_, filter_.out_channels - m);
          tiles_.packed(args);
        }
      }
    }
  }

  // Copies terms [kb, kb + kn) of the patches of `n` positions to rows of a panel.
  void copy_patches(const T* planes, int64_t kb, int64_t kn, int64_t first, int64_t n, T* to,
                    int64_t to_row) const {
    PatchRun runs[64];
    int64_t n_runs = 0;
    for (int64_t i = 0; i < n;) {
      const int64_t column = (first + i) % out_[2];
      const int64_t size = std::min(out_[2] - column, n - i);
      runs[n_runs++] = {row_start(planes, (first + i) / out_[2]) + column - planes, i, size};
      i += size;
    }
    tiles_.copy_patches(planes, offsets_.data() + kb, kn, runs, n_runs, to, to_row);
  }

  // Computes channels [begin * nr, end * nr) of one group of one image by the transposed product,
  // whose rows are positions.
  void multiply_channels(int64_t image, const T* planes, int64_t begin, int64_t end) const {
    const int64_t area = volume(out_), nr = tiles_.columns, group = image % groups_;
    const int64_t first = begin * nr, last = std::min(end * nr, filter_.out_channels);
    const int64_t columns = (end - begin) * nr;
    T* const sums = scratch_of<T>(kScratchC, area * columns);
    const bool has_bias = bias_ != nullptr, is_long = k_ > kLongestChain;
    if ((has_bias && !is_long) || k_ == 0) {
      for (int64_t j = 0; j < last - first; ++j) sums[j] = bias_of(group, first + j);
      for (int64_t i = 1; i < area; ++i) std::copy_n(sums, last - first, sums + i * columns);
    }
    if (is_long) {
      std::fill_n(sums, area * columns, T{0});
      sum_chains(area * columns, sums, [&](int64_t k0, int64_t k1, T* to) {
        add_channel_terms(group, planes, first, last, k0, k1, to, columns, false);
      });
    } else {
      add_channel_terms(group, planes, first, last, 0, k_, sums, columns, has_bias);
    }
    T* const y = y_ + (image * filter_.out_channels + first) * area;
    tiles_.transpose(sums, columns, y, area, area, last - first);
    for (int64_t j = 0; has_bias && is_long && j < last - first; ++j) {
      const T bias = bias_of(group, first + j);
      for (int64_t i = 0; i < area; ++i) y[j * area + i] = bias + y[j * area + i];
    }
  }

  // Adds terms [k0, k1) of channels [first, last) for all positions. Row i of `to` has the channels
  // of position i.
  void add_channel_terms(int64_t group, const T* planes, int64_t first, int64_t last, int64_t k0,
                         int64_t k1, T* to, int64_t to_row, bool add) const {
    const int64_t area = volume(out_), nr = tiles_.columns, rows = tiles_.rows;
    T* const patches = scratch_of<T>(kScratchB, round_up(area, rows) * kBlockK + nr);
    for (int64_t kb = k0; kb < k1; kb += kBlockK) {
      const int64_t kn = std::min(kBlockK, k1 - kb);
      const T* const packed = packed_block(group, kb, kn, first, last);
      TileArgs<T> args{.k = kn,
                       .a_row = 1,
                       .a_k = rows,
                       .b_k = nr,
                       .c_row = to_row,
                       .n = nr,
                       .add = add || kb > k0};
      for (int64_t i = 0; i < area; i += rows) {
        copy_patches(planes, kb, kn, i, std::min(rows, area - i), patches + i * kn, rows);
      }
      for (int64_t j = 0; j < last - first; j += nr) {
        args.b = packed + j * kn;
        for (int64_t i = 0; i < area; i += rows) {
          args.a = patches + i * kn;
          args.c = to + i * to_row + j;
          args.m = std::min(rows, area - i);
          tiles_.packed(args);
        }
      }
    }
  }

  // Sums all terms as a tree of chains. chain(first, last, to) computes `size` sums of terms
  // [first, last).
  template <class Chain>
  void sum_chains(int64_t size, T* sums, const Chain& chain) const {
    sum_parts(int64_t{0}, (k_ + kLongestChain - 1) / kLongestChain, size, sums,
              [&](int64_t i, T* to) {
                const int64_t first = i * kLongestChain;
                chain(first, std::min(first + kLongestChain, k_), to);
              });
  }
  // Stores the sums of `n` positions of each channel, or adds them to the bias if there is one.
  void store_sums(const T* sums, int64_t columns, T* y, int64_t n) const {
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
      // Processes the rows of one slice together, because their distance is constant.
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
    initialise_outputs(group, y, begin * width, end * width);
    if (k_ <= kLongestChain) {
      return add_row_terms(group, planes, begin, end, 0, k_, y + begin * width, area, has_bias);
    }
    // Processes one row at a time to limit the memory for the tree's partial sums.
    std::vector<T> sums(static_cast<size_t>(filter_.out_channels * width));
    for (int64_t row = begin; row < end; ++row) {
      sum_chains(filter_.out_channels * width, sums.data(),
                 [&](int64_t first, int64_t last, T* to) {
                   add_row_terms(group, planes, row, row + 1, first, last, to, width, false);
                 });
      store_sums(sums.data(), width, y + row * width, width);
    }
  }

  // Adds terms [k0, k1) to output rows [begin, end). `to`: row `begin` of the first channel.
  // `to_channel`: distance between channels.
  void add_row_terms(int64_t group, const T* planes, int64_t begin, int64_t end, int64_t k0,
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
      // If a row fits into half a tile, it shares a tile with the next row.
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
  const KeptFilters kept_;
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
  int64_t mr_ = 0;  // Number of filters in a panel.
  int64_t m_padded_ = 0;
  int64_t planes_size_ = 0;
  Way way_ = Way::kRows;
  bool packs_blocks_ = false;  // Whether filters are packed for each block of terms.
  // The filter in panels: kept between launches in memory_, or in scratch memory of the calling
  // thread. NULL if neither.
  const T* packed_ = nullptr;
  PackedOperands::Memory memory_;
  std::vector<int64_t> offsets_;
};

}  // namespace tenon_simd
