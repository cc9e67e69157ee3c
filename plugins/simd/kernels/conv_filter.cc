// conv_backward_filter: dw[o, tap, c] is the sum over images and output positions p of dy[o, p]
// times the element of x under the tap at p.
//
// Images are copied to padded planes with the channels innermost. The elements under one row of the
// filter are then contiguous, so the product over positions needs no patch matrix. If these rows
// are much shorter than a tile, the rows of each position are joined in a patch matrix. Images are
// summed in chunks that depend on the shape only, so the order of summation does not depend on the
// number of threads. Within a chunk, runs of at most kLongestChain positions are summed as a tree.

#include <cstring>

#include "plugins/simd/kernels/multiply.h"
#include "plugins/simd/kernels/through_float.h"
#include "plugins/simd/kernels/window.h"

namespace tenon_simd {
namespace {

// Maximum total number of partial sums, and maximum number of chunks.
constexpr int64_t kMaxPartialElements = 1 << 22;
constexpr int64_t kMaxChunks = 16;
// Whether taps may be joined in a patch matrix. Other vectors than those of x86-64 are not much
// longer than the taps.
#ifdef __x86_64__
constexpr bool kJoinsTaps = true;
#else
constexpr bool kJoinsTaps = false;
#endif

template <class T>
class FilterGradient {
 public:
  FilterGradient(const Pool& pool, const Window& window, int64_t groups, const tenon_launch& launch)
      : pool_(pool),
        window_(window),
        groups_(groups),
        x_(launch.inputs[0]),
        dy_(launch.inputs[1]),
        dw_(launch.outputs[0]),
        px_(data<const T>(launch.inputs[0])),
        pdy_(data<const T>(launch.inputs[1])),
        pdw_(data<T>(launch.outputs[0])),
        channels_(dw_.channels),
        out_channels_(dw_.n / groups),
        reach_(window.reach(dy_.sizes, dw_.sizes)),
        area_(volume(dy_.sizes)) {
    // Taps along the width are contiguous unless they are dilated.
    joined_ = window.dilations[2] == 1 ? dw_.sizes[2] : 1;
    row_ = volume(dw_.sizes) * channels_;
    const auto vectors = [half = tiles_.columns / 2](int64_t n) { return (n + half - 1) / half; };
    const int64_t width = joined_ * channels_;
    has_patches_ = kJoinsTaps && width != 0 && 2 * vectors(row_) <= row_ / width * vectors(width);
  }

  void run() {
    const int64_t size = dw_.n * row_;
    if (size == 0) return;
    const int64_t images = x_.n;
    if (images * area_ == 0) {
      std::fill_n(pdw_, size, T{0});
      return;
    }
    const int64_t room = std::clamp<int64_t>(kMaxPartialElements / size, 1, kMaxChunks);
    const int64_t per_chunk = (images + room - 1) / room;
    const int64_t chunks = (images + per_chunk - 1) / per_chunk;
    for_each_position(dy_.sizes, [&](const Spatial& p) {
      offsets_.push_back(
          place(p[0] * window_.steps[0], p[1] * window_.steps[1], p[2] * window_.steps[2]));
    });
    std::vector<T> partial(static_cast<size_t>(chunks * size));
    pool_.parallel_for(chunks * groups_, [&](int64_t task) {
      const int64_t chunk = task / groups_, group = task % groups_;
      T* to = partial.data() + chunk * size + group * out_channels_ * row_;
      const int64_t begin = chunk * per_chunk, end = std::min(images, begin + per_chunk);
      // The padding is the same for all images.
      std::fill_n(scratch_of<T>(kScratchConv, planes_size()), planes_size(), T{0});
      const int64_t in_run = std::max<int64_t>(1, kLongestChain / area_);
      sum_parts(int64_t{0}, (end - begin + in_run - 1) / in_run, out_channels_ * row_, to,
                [&](int64_t run, T* sums) {
                  const int64_t first = begin + run * in_run;
                  for (int64_t n = first; n < std::min(first + in_run, end); ++n) {
                    add_image(n, group, sums, n > first);
                  }
                });
    });
    for (int64_t chunk = 1; chunk < chunks; ++chunk) {
      const T* from = partial.data() + chunk * size;
      for (int64_t i = 0; i < size; ++i) partial[static_cast<size_t>(i)] += from[i];
    }
    write(partial.data());
  }

 private:
  static constexpr int64_t kChunk = 16 / sizeof(T);

  // Returns the offset of a position of the padded input.
  int64_t place(int64_t d, int64_t h, int64_t w) const {
    return ((d * reach_[1] + h) * reach_[2] + w) * channels_;
  }

  void add_image(int64_t n, int64_t group, T* to, bool add) const {
    const int64_t mr = tiles_.panel_rows(out_channels_);
    const int64_t m_padded = (out_channels_ + mr - 1) / mr * mr;
    T* const planes = scratch_of<T>(kScratchConv, planes_size());
    pad_image(n, group, planes);
    T* const packed = scratch_of<T>(kScratchA, m_padded * area_);
    pack_dy(n, group, packed, m_padded);
    if (area_ <= kLongestChain) return add_places(planes, packed, m_padded, 0, area_, to, add);
    sum_parts(int64_t{0}, (area_ + kLongestChain - 1) / kLongestChain, out_channels_ * row_, to,
              [&](int64_t chain, T* sums) {
                const int64_t begin = chain * kLongestChain;
                add_places(planes, packed, m_padded, begin, std::min(begin + kLongestChain, area_),
                           sums, false);
              });
  }

  // Adds the terms of positions [begin, end) of an image.
  void add_places(const T* planes, const T* packed, int64_t m_padded, int64_t begin, int64_t end,
                  T* to, bool add) const {
    const int64_t mr = tiles_.panel_rows(out_channels_);
    const int64_t width = joined_ * channels_;
    for (int64_t kb = begin; kb < end; kb += kBlockK) {
      TileArgs<T> args{.k = std::min(kBlockK, end - kb),
                       .a_row = 1,
                       .a_k = mr,
                       .b_offsets = offsets_.data() + kb,
                       .c_row = row_,
                       .add = add || kb > begin};
      const T* const panels = packed + kb * m_padded;
      if (kJoinsTaps && has_patches_) {
        args.b_k = (row_ + 2 * kChunk - 2) / kChunk * kChunk;
        const T* const patches = join_taps(planes, args.b_offsets, args.k, args.b_k);
        add_columns(args, panels, patches, row_, to, tiles_.packed);
        continue;
      }
      T* c = to;
      for_each_row_of_taps([&](int64_t offset) {
        add_columns(args, panels, planes + offset, width, c, tiles_.gathered);
        c += width;
      });
    }
  }

  // Adds the products of all panels of dy and `n` columns that begin at `from`.
  void add_columns(TileArgs<T>& args, const T* panels, const T* from, int64_t n, T* to,
                   void (*tile)(const TileArgs<T>&)) const {
    for (int64_t j = 0; j < n; j += tiles_.columns) {
      args.b = from + j;
      args.n = std::min(tiles_.columns, n - j);
      for (int64_t m = 0; m < out_channels_; m += args.a_k) {
        args.a = panels + m * args.k;
        args.c = to + m * row_ + j;
        args.m = std::min(args.a_k, out_channels_ - m);
        tile(args);
      }
    }
  }

  // Calls each(offset) for the offset in the planes of each run of joined taps.
  template <class Each>
  void for_each_row_of_taps(const Each& each) const {
    for_each_position({dw_.sizes[0], dw_.sizes[1], dw_.sizes[2] / joined_},
                      [&](const Spatial& tap) {
                        each(place(tap[0] * window_.dilations[0], tap[1] * window_.dilations[1],
                                   tap[2] * window_.dilations[2]));
                      });
  }

  // Returns a matrix with the elements under all taps at `k` positions. `stride`: distance between
  // its rows, at least row_ + kChunk - 1.
  const T* join_taps(const T* planes, const int64_t* positions, int64_t k, int64_t stride) const {
    T* const patches = scratch_of<T>(kScratchB, k * stride + tiles_.columns + kChunk);
    const int64_t width = joined_ * channels_;
    int64_t column = 0;
    for_each_row_of_taps([&](int64_t offset) {
      // Chunks may write past the end of the run. These elements are overwritten by the next run
      // or, after the last run, are not used.
      for (int64_t j = 0; j < width; j += kChunk) {
        const T* const from = planes + offset + j;
        T* const to = patches + column + j;
        for (int64_t i = 0; i < k; ++i) {
          std::memcpy(to + i * stride, from + positions[i], kChunk * sizeof(T));
        }
      }
      column += width;
    });
    return patches;
  }

  // Packs dy of one image into panels for the tile, in blocks of kBlockK positions.
  void pack_dy(int64_t n, int64_t group, T* to, int64_t m_padded) const {
    const int64_t mr = tiles_.panel_rows(out_channels_);
    LoopAxes axes;
    for (size_t i = 0; i < 3; ++i) axes.push(dy_.sizes[i], dy_.strides[i]);
    if (m_padded != out_channels_) std::fill_n(to, m_padded * area_, T{0});
    for (int64_t kb = 0; kb < area_; kb += kBlockK) {
      const int64_t kn = std::min(kBlockK, area_ - kb);
      for (int64_t m = 0; m < out_channels_; m += mr) {
        T* const panel = to + kb * m_padded + m * kn;
        const int64_t rows = std::min(mr, out_channels_ - m);
        const T* from = pdy_ + n * dy_.n_stride + (group * out_channels_ + m) * dy_.channel_stride;
        if (axes.rank <= 1 && axes.inner_stride() == 1) {
          tiles_.transpose(from + kb, dy_.channel_stride, panel, mr, rows, kn);
          continue;
        }
        for (int64_t k = 0; k < kn; ++k) {
          const int64_t offset = axes.offset(kb + k);
          for (int64_t i = 0; i < rows; ++i) {
            panel[k * mr + i] = from[offset + i * dy_.channel_stride];
          }
        }
      }
    }
  }

  // Returns the size of an image's padded planes. Tiles read whole vectors, which may extend past
  // the end.
  int64_t planes_size() const { return volume(reach_) * channels_ + tiles_.columns; }

  // Copies an image to planes whose padding is already written.
  void pad_image(int64_t n, int64_t group, T* to) const {
    const T* const x = px_ + n * x_.n_stride + group * channels_ * x_.channel_stride;
    const bool is_plain = window_.lhs_dilations[2] == 1 && x_.strides[2] == 1;
    const auto padded = [&](size_t axis, int64_t at) {
      return at * window_.lhs_dilations[axis] + window_.pads[axis];
    };
    for (int64_t d = 0; d < x_.sizes[0]; ++d) {
      const int64_t to_d = padded(0, d);
      if (to_d < 0 || to_d >= reach_[0]) continue;
      for (int64_t h = 0; h < x_.sizes[1]; ++h) {
        const int64_t to_h = padded(1, h);
        if (to_h < 0 || to_h >= reach_[1]) continue;
        const T* from = x + d * x_.strides[0] + h * x_.strides[1];
        T* const row = to + place(to_d, to_h, 0);
        if (is_plain) {
          const int64_t begin = std::max<int64_t>(0, -window_.pads[2]);
          const int64_t end = std::min(x_.sizes[2], reach_[2] - window_.pads[2]);
          tiles_.transpose(from + begin, x_.channel_stride,
                           row + (begin + window_.pads[2]) * channels_, channels_, channels_,
                           std::max<int64_t>(0, end - begin));
          continue;
        }
        for (int64_t w = 0; w < x_.sizes[2]; ++w) {
          const int64_t to_w = padded(2, w);
          if (to_w < 0 || to_w >= reach_[2]) continue;
          for (int64_t c = 0; c < channels_; ++c) {
            row[to_w * channels_ + c] = from[w * x_.strides[2] + c * x_.channel_stride];
          }
        }
      }
    }
  }

  // Converts from [out, taps, channel] to [out, channel, taps].
  void write(const T* from) const {
    const int64_t taps = volume(dw_.sizes);
    for (int64_t o = 0; o < dw_.n; ++o) {
      for (int64_t c = 0; c < channels_; ++c) {
        for (int64_t tap = 0; tap < taps; ++tap) {
          pdw_[(o * channels_ + c) * taps + tap] = from[o * row_ + tap * channels_ + c];
        }
      }
    }
  }

  const Pool& pool_;
  const MultiplyTiles<T>& tiles_ = multiply_tiles<T>();
  const Window& window_;
  int64_t groups_;
  const Planes x_, dy_, dw_;
  const T* px_;
  const T* pdy_;
  T* pdw_;
  int64_t channels_, out_channels_;  // Per convolution group.
  const Spatial reach_;
  int64_t area_;
  int64_t joined_;            // Number of taps that are read as one contiguous run.
  int64_t row_;               // Elements of one output channel's filter.
  bool has_patches_ = false;  // Whether the rows of taps at each position are joined.
  std::vector<int64_t> offsets_;
};

}  // namespace

Prepared prepare_conv_backward_filter(const Request& request) {
  const auto attrs = request.attrs<tenon_conv_backward_filter_attrs>({.group = 1});
  const Window window(attrs, request.input(0).rank);
  return through_float(request,
                       [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
                         FilterGradient<T>(*pool, window, attrs.group, launch).run();
                       });
}

}  // namespace tenon_simd
