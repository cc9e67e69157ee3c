#include "plugins/simd/kernels/winograd.h"

#include "plugins/simd/vectors/winograd.h"

namespace tenon_simd {
namespace {

// Rounds up to a multiple of `step`.
int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// The rows of the matrix G of the paper.
constexpr float kFilterTransform[kWinogradIn][3] = {
    {1.0f / 4, 0, 0},
    {-1.0f / 6, -1.0f / 6, -1.0f / 6},
    {-1.0f / 6, 1.0f / 6, -1.0f / 6},
    {1.0f / 24, 1.0f / 12, 1.0f / 6},
    {1.0f / 24, -1.0f / 12, 1.0f / 6},
    {0, 0, 1},
};

class Winograd {
 public:
  Winograd(const Pool& pool, const Window& window, const float* x, const Planes& x_planes,
           const Filter<float>& filter, const float* bias, int64_t bias_stride, float* y,
           const Spatial& out)
      : pool_(pool),
        window_(window),
        x_(x),
        x_planes_(x_planes),
        filter_(filter),
        bias_(bias),
        bias_stride_(bias_stride),
        y_(y),
        height_(out[1]),
        width_(out[2]),
        tile_columns_(round_up(out[2], kWinogradOut) / kWinogradOut),
        padded_filters_(round_up(filter.out_channels, tiles_.columns)) {}

  // Whether the algorithm applies and is faster than the sum of products.
  static bool pays(const Window& window, const Planes& x, const Filter<float>& filter,
                   const Spatial& out) {
    const Spatial ones{1, 1, 1};
    constexpr int64_t kMinChannels = 16, kMinFilters = 24, kMinTiles = 8;
    const int64_t tiles = round_up(out[1], kWinogradOut) * round_up(out[2], kWinogradOut) /
                          (kWinogradOut * kWinogradOut);
    return filter.taps == Spatial{1, 3, 3} && window.steps == ones && window.dilations == ones &&
           window.lhs_dilations == ones && window.pads[0] == 0 && x.sizes[0] == 1 &&
           x.channels == filter.channels && filter.channels >= kMinChannels &&
           filter.out_channels >= kMinFilters && tiles * x.n >= kMinTiles;
  }

  // Returns the number of elements of the transformed filters.
  int64_t packed_size() const { return kWinogradTerms * filter_.channels * padded_filters_; }

  // Transforms the filters. The terms with the same index are a matrix [channel, filter], which is
  // packed into panels of tiles_.columns filters in blocks of kBlockK channels.
  void pack(float* to) const {
    std::fill_n(to, packed_size(), 0.0f);
    pool_.parallel_tasks(filter_.out_channels, 8, [&](int64_t begin, int64_t end) {
      for (int64_t m = begin; m < end; ++m) {
        for (int64_t c = 0; c < filter_.channels; ++c) pack_filter(m, c, to);
      }
    });
  }

  void run(const float* packed) const {
    const int64_t tile_rows = round_up(height_, kWinogradOut) / kWinogradOut;
    // The transformed inputs of a block, and the products of one panel of filters, stay in the L2
    // cache.
    constexpr int64_t kMaxElements = 160 << 10;
    const int64_t of_row = kWinogradTerms * filter_.channels * tile_columns_;
    const int64_t most = std::clamp<int64_t>(kMaxElements / of_row, 1, tile_rows);
    const int64_t blocks = (tile_rows + most - 1) / most;
    const int64_t in_block = (tile_rows + blocks - 1) / blocks;
    pool_.parallel_tasks(x_planes_.n * blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task % blocks * in_block;
        run_block(task / blocks, first, std::min(first + in_block, tile_rows), packed);
      }
    });
  }

 private:
  void pack_filter(int64_t m, int64_t c, float* to) const {
    const float* const from = filter_.data + m * filter_.out_stride + c * filter_.channel_stride;
    float half[kWinogradIn][3];
    for (int64_t i = 0; i < kWinogradIn; ++i) {
      for (int64_t j = 0; j < 3; ++j) {
        half[i][j] = 0;
        for (int64_t k = 0; k < 3; ++k) {
          half[i][j] +=
              kFilterTransform[i][k] * from[k * filter_.strides[1] + j * filter_.strides[2]];
        }
      }
    }
    const int64_t nr = tiles_.columns, block = c / kBlockK * kBlockK;
    const int64_t in_block = std::min(kBlockK, filter_.channels - block);
    float* place =
        to + block * padded_filters_ + m / nr * nr * in_block + (c - block) * nr + m % nr;
    for (int64_t i = 0; i < kWinogradIn; ++i) {
      for (int64_t j = 0; j < kWinogradIn; ++j) {
        *place = 0;
        for (int64_t k = 0; k < 3; ++k) *place += half[i][k] * kFilterTransform[j][k];
        place += filter_.channels * padded_filters_;
      }
    }
  }

  // Computes rows [begin, end) of tiles of an image.
  void run_block(int64_t image, int64_t begin, int64_t end, const float* packed) const {
    const int64_t n = (end - begin) * tile_columns_, channels = filter_.channels;
    // Rows of transformed inputs are an odd number of cache lines apart, so that they are spread
    // over all sets of the L1 cache.
    const int64_t line = std::max<int64_t>(16, transforms_.lanes);
    int64_t step = round_up(n + transforms_.lanes, line);
    if (step / line % 2 == 0) step += line;
    float* const terms = scratch_of<float>(kScratchA, kWinogradTerms * channels * step + line);
    for (int64_t c = 0; c < channels; ++c) {
      transform_input(x_ + image * x_planes_.n_stride + c * x_planes_.channel_stride, begin, end,
                      terms + c * step, channels * step);
    }
    const int64_t nr = tiles_.columns;
    float* const products = scratch_of<float>(kScratchC, kWinogradTerms * n * nr);
    for (int64_t m = 0; m < filter_.out_channels; m += nr) {
      for (int64_t block = 0; block < channels; block += kBlockK) {
        TileArgs<float> args{.k = std::min(kBlockK, channels - block),
                             .a_row = 1,
                             .a_k = step,
                             .b_k = nr,
                             .c_row = nr,
                             .n = nr,
                             .add = block > 0};
        for (int64_t term = 0; term < kWinogradTerms; ++term) {
          args.b =
              packed + term * channels * padded_filters_ + block * padded_filters_ + m * args.k;
          for (int64_t i = 0; i < n; i += tiles_.rows) {
            args.a = terms + (term * channels + block) * step + i;
            args.c = products + (term * n + i) * nr;
            args.m = std::min(tiles_.rows, n - i);
            tiles_.packed(args);
          }
        }
      }
      for (int64_t tile = 0; tile < n; ++tile) {
        store_tile(image, m, begin + tile / tile_columns_, tile % tile_columns_,
                   products + tile * nr, n * nr);
      }
    }
  }

  // Transforms the inputs of rows [begin, end) of tiles of one channel.
  void transform_input(const float* x, int64_t begin, int64_t end, float* to,
                       int64_t to_term) const {
    const int64_t phase = round_up(tile_columns_ + 1, transforms_.lanes) + transforms_.lanes;
    const int64_t row = 4 * phase, rows = kWinogradOut * (end - begin) + 2;
    float* const planes = scratch_of<float>(kScratchConv, (rows + 1) * row);
    float* const line = planes + rows * row;
    std::fill_n(line, row, 0.0f);
    const int64_t pad = window_.pads[2];
    const int64_t first = std::max<int64_t>(0, -pad);
    const int64_t last = std::min(x_planes_.sizes[2], 4 * (tile_columns_ + 1) - pad);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t h = kWinogradOut * begin + i - window_.pads[1];
      if (h < 0 || h >= x_planes_.sizes[1] || first >= last) {
        std::fill_n(planes + i * row, row, 0.0f);
        continue;
      }
      const float* const from = x + h * x_planes_.strides[1];
      if (x_planes_.strides[2] == 1) {
        std::copy_n(from + first, last - first, line + first + pad);
      } else {
        for (int64_t w = first; w < last; ++w) line[w + pad] = from[w * x_planes_.strides[2]];
      }
      transforms_.split(line, tile_columns_ + 1, planes + i * row, phase);
    }
    for (int64_t i = 0; i < end - begin; ++i) {
      transforms_.input(planes + kWinogradOut * i * row, row, phase, tile_columns_,
                        to + i * tile_columns_, to_term);
    }
  }

  // Stores an output tile of filters m to m + tiles_.columns.
  void store_tile(int64_t image, int64_t m, int64_t tile_row, int64_t tile_column,
                  const float* products, int64_t step) const {
    constexpr int64_t kSize = kWinogradOut * kWinogradOut, kMaxColumns = 32;
    const int64_t nr = tiles_.columns, filters = std::min(nr, filter_.out_channels - m);
    float by_element[kSize * kMaxColumns], by_filter[kSize * kMaxColumns], bias[kMaxColumns] = {};
    for (int64_t i = 0; bias_ != nullptr && i < filters; ++i)
      bias[i] = bias_[(m + i) * bias_stride_];
    transforms_.output(products, step, nr, bias_ != nullptr ? bias : nullptr, by_element);
    tiles_.transpose(by_element, nr, by_filter, kSize, kSize, nr);
    const int64_t top = kWinogradOut * tile_row, left = kWinogradOut * tile_column;
    const int64_t rows = std::min(kWinogradOut, height_ - top);
    const int64_t columns = std::min(kWinogradOut, width_ - left);
    float* to = y_ + ((image * filter_.out_channels + m) * height_ + top) * width_ + left;
    for (int64_t i = 0; i < filters; ++i, to += height_ * width_) {
      const float* const from = by_filter + i * kSize;
      for (int64_t r = 0; r < rows; ++r) {
        if (columns == kWinogradOut) {  // A constant size is copied by one vector.
          std::copy_n(from + r * kWinogradOut, kWinogradOut, to + r * width_);
        } else {
          std::copy_n(from + r * kWinogradOut, columns, to + r * width_);
        }
      }
    }
  }

  const Pool& pool_;
  const MultiplyTiles<float>& tiles_ = multiply_tiles<float>();
  const WinogradTransforms& transforms_ = winograd_transforms();
  const Window& window_;
  const float* x_;
  const Planes& x_planes_;
  const Filter<float>& filter_;
  const float* bias_;
  int64_t bias_stride_;
  float* y_;
  int64_t height_, width_;  // Of the output.
  int64_t tile_columns_;    // Number of tiles in a row of tiles.
  int64_t padded_filters_;
};

}  // namespace

bool convolve_by_winograd(const Pool& pool, const KeptFilters& kept, const Window& window,
                          const float* x, const Planes& x_planes, const Filter<float>& filter,
                          const float* bias, int64_t bias_stride, float* y, const Spatial& out) {
  if (!Winograd::pays(window, x_planes, filter, out)) return false;
  const Winograd winograd(pool, window, x, x_planes, filter, bias, bias_stride, y, out);
  const PackedOperands::Memory memory =
      kept.find(filter, 1, multiply_tiles<float>().columns, winograd.packed_size(), kPackedWinograd,
                [&](float* to) { winograd.pack(to); });
  if (!memory) return false;
  winograd.run(reinterpret_cast<const float*>(memory.get()));
  return true;
}

}  // namespace tenon_simd
