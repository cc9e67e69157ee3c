// conv, and conv_backward_input, which is a conv with the filter flipped.
//
// Each image is copied once to padded planes. In this layout, the input elements under one tap of
// the filter are contiguous for all outputs in a row: a row is stored as `step` phases, which hold
// the elements at w = phase, phase + step, and so on. A tap is then an offset into the planes, and
// the matrix product of filter and patches reads its second operand directly from them, so patches
// are never materialised. Only the copy depends on padding, strides, dilations and layouts.

#include "plugins/simd/kernels/multiply.h"
#include "plugins/simd/kernels/through_float.h"
#include "plugins/simd/kernels/window.h"

namespace tenon_simd {
namespace {

// The filter as a strided matrix [out channels, (channel, taps)].
template <class T>
struct Filter {
  const T* data;
  int64_t out_stride, channel_stride;
  Spatial strides;
  int64_t out_channels, channels;  // Per group.
  Spatial taps;
  int64_t group_stride;
};

// The layout of one image's padded planes.
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
  // The offset of an element of the padded input.
  int64_t offset(int64_t d, int64_t h, int64_t w) const {
    return d * slice + h * row + w % phases * sizes[2] + w / phases;
  }
};

// The range of input indices along one axis that lie inside the padded planes.
struct InsideRange {
  int64_t begin, end;
  InsideRange(const Window& window, size_t axis, int64_t size, int64_t padded_size) {
    begin = std::max<int64_t>(0, -window.pads[axis]);
    end = std::max(begin, std::min(size, padded_size - window.pads[axis]));
  }
};

// Copies one channel of one image to its padded plane.
template <class T>
void pad_plane(const MultiplyTiles<T>& tiles, const T* x, const Planes& planes,
               const Window& window, const PlaneLayout& layout, T* to) {
  std::fill_n(to, layout.plane, T{0});
  const auto padded = [&](size_t axis, int64_t at) {
    return at * window.lhs_dilations[axis] + window.pads[axis];
  };
  const int64_t width = layout.sizes[2] * layout.phases;
  const InsideRange rows(window, 1, planes.sizes[1], layout.sizes[1]);
  const InsideRange columns(window, 2, planes.sizes[2], width);
  const bool is_plain = window.lhs_dilations[1] == 1 && window.lhs_dilations[2] == 1 &&
                        layout.phases == 1 && planes.strides[2] == 1;
  for (int64_t d = 0; d < planes.sizes[0]; ++d) {
    const int64_t to_d = padded(0, d);
    if (to_d < 0 || to_d >= layout.sizes[0]) continue;
    const T* const slice = x + d * planes.strides[0];
    T* const to_slice = to + to_d * layout.slice;
    if (is_plain) {
      tiles.copy_rows(slice + rows.begin * planes.strides[1] + columns.begin, planes.strides[1],
                      to_slice + layout.offset(0, padded(1, rows.begin), padded(2, columns.begin)),
                      layout.row, rows.end - rows.begin, columns.end - columns.begin);
      continue;
    }
    for (int64_t h = 0; h < planes.sizes[1]; ++h) {
      const int64_t to_h = padded(1, h);
      if (to_h < 0 || to_h >= layout.sizes[1]) continue;
      for (int64_t w = 0; w < planes.sizes[2]; ++w) {
        const int64_t to_w = padded(2, w);
        if (to_w < 0 || to_w >= width) continue;
        to_slice[layout.offset(0, to_h, to_w)] =
            slice[h * planes.strides[1] + w * planes.strides[2]];
      }
    }
  }
}

// Packs the filter of one group into panels for the tile, in blocks of kBlockK columns.
template <class T>
void pack_filter(const Filter<T>& filter, int64_t group, const MultiplyTiles<T>& tiles, T* to) {
  const int64_t mr = tiles.panel_rows(filter.out_channels);
  const int64_t k = filter.channels * volume(filter.taps);
  const int64_t m_padded = (filter.out_channels + mr - 1) / mr * mr;
  std::fill_n(to, m_padded * k, T{0});
  int64_t column = 0;
  for (int64_t channel = 0; channel < filter.channels; ++channel) {
    for_each_position(filter.taps, [&](const Spatial& tap) {
      const T* from = filter.data + group * filter.group_stride + channel * filter.channel_stride +
                      tap[0] * filter.strides[0] + tap[1] * filter.strides[1] +
                      tap[2] * filter.strides[2];
      const int64_t block = column / kBlockK * kBlockK;
      const int64_t block_k = std::min(kBlockK, k - block);
      for (int64_t m = 0; m < filter.out_channels; ++m) {
        const int64_t panel = m / mr * mr;
        to[block * m_padded + panel * block_k + (column - block) * mr + m % mr] =
            from[m * filter.out_stride];
      }
      ++column;
    });
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
        k_(filter.channels * volume(filter.taps)) {}

  void run() {
    mr_ = tiles_.panel_rows(filter_.out_channels);
    m_padded_ = (filter_.out_channels + mr_ - 1) / mr_ * mr_;
    packed_.resize(static_cast<size_t>(groups_ * m_padded_ * k_));
    for (int64_t group = 0; group < groups_; ++group) {
      pack_filter(filter_, group, tiles_, packed_.data() + group * m_padded_ * k_);
    }
    offsets_.reserve(static_cast<size_t>(k_));
    for (int64_t channel = 0; channel < filter_.channels; ++channel) {
      for_each_position(filter_.taps, [&](const Spatial& tap) {
        offsets_.push_back(channel * layout_.plane + layout_.offset(tap[0] * window_.dilations[0],
                                                                    tap[1] * window_.dilations[1],
                                                                    tap[2] * window_.dilations[2]));
      });
    }
    // Tiles read whole vectors, also past the end of the last row.
    planes_size_ = filter_.channels * layout_.plane + tiles_.columns;
    const int64_t rows = out_[0] * out_[1];
    const int64_t images = x_planes_.n * groups_;
    const int64_t work = filter_.out_channels * k_ * volume(out_);
    if (images > 1 || work < (1 << 20)) {
      const int64_t grain = std::max<int64_t>(1, (1 << 18) / std::max<int64_t>(1, work));
      pool_.parallel_tasks(images, grain, [&](int64_t begin, int64_t end) {
        T* planes = scratch_of<T>(kScratchConv, planes_size_);
        for (int64_t image = begin; image < end; ++image) {
          for (int64_t c = 0; c < filter_.channels; ++c) pad(image, c, planes);
          multiply_rows(image, planes, 0, rows);
        }
      });
      return;
    }
    std::vector<T> planes(static_cast<size_t>(planes_size_));
    for (int64_t image = 0; image < images; ++image) {
      pool_.parallel_for(filter_.channels, [&](int64_t c) { pad(image, c, planes.data()); });
      pool_.parallel_tasks(rows, 1, [&](int64_t begin, int64_t end) {
        multiply_rows(image, planes.data(), begin, end);
      });
    }
  }

 private:
  void pad(int64_t image, int64_t c, T* planes) const {
    const int64_t n = image / groups_, channel = image % groups_ * filter_.channels + c;
    pad_plane(tiles_, x_ + n * x_planes_.n_stride + channel * x_planes_.channel_stride, x_planes_,
              window_, layout_, planes + c * layout_.plane);
  }

  // Computes output rows [begin, end) of one group of one image.
  void multiply_rows(int64_t image, const T* planes, int64_t begin, int64_t end) const {
    const int64_t area = volume(out_), width = out_[2];
    const int64_t group = image % groups_;
    T* const y = y_ + image * filter_.out_channels * area;
    const bool has_bias = bias_ != nullptr;
    if (has_bias || k_ == 0) {
      for (int64_t m = 0; m < filter_.out_channels; ++m) {
        const T from = has_bias ? bias_[(group * filter_.out_channels + m) * bias_stride_] : T{0};
        std::fill(y + m * area + begin * width, y + m * area + end * width, from);
      }
    }
    if (k_ <= kLongestChain) {
      return multiply_chain(group, planes, begin, end, 0, k_, y + begin * width, area, has_bias);
    }
    // One row at a time, to limit the memory for the tree's partial sums.
    std::vector<T> sums(static_cast<size_t>(filter_.out_channels * width));
    for (int64_t row = begin; row < end; ++row) {
      const auto chain = [&](int64_t i, T* to) {
        const int64_t first = i * kLongestChain, last = std::min(first + kLongestChain, k_);
        multiply_chain(group, planes, row, row + 1, first, last, to, width, false);
      };
      sum_parts(int64_t{0}, (k_ + kLongestChain - 1) / kLongestChain, filter_.out_channels * width,
                sums.data(), chain);
      for (int64_t m = 0; m < filter_.out_channels; ++m) {
        const T* const from = sums.data() + m * width;
        T* const to = y + m * area + row * width;
        for (int64_t j = 0; j < width; ++j) to[j] = has_bias ? to[j] + from[j] : from[j];
      }
    }
  }

  // Adds terms [k0, k1) of output rows [begin, end). `to` points to row `begin` of the first
  // channel; channels are `to_channel` apart.
  void multiply_chain(int64_t group, const T* planes, int64_t begin, int64_t end, int64_t k0,
                      int64_t k1, T* to, int64_t to_channel, bool add) const {
    const int64_t width = out_[2];
    const T* const packed = packed_.data() + group * m_padded_ * k_;
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
        const T* const from = planes + row / out_[1] * window_.steps[0] * layout_.slice +
                              row % out_[1] * window_.steps[1] * layout_.row;
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
  std::vector<T> packed_;
  std::vector<int64_t> offsets_;
};

template <class T>
void conv(const Pool& pool, const tenon_launch& launch, const Window& window, int64_t groups) {
  const Planes x(launch.inputs[0]), w(launch.inputs[1]), y(launch.outputs[0]);
  const bool has_bias = has_input(launch, 2);
  const int64_t out_channels = w.n / groups;
  const Filter<T> filter{.data = data<const T>(launch.inputs[1]),
                         .out_stride = w.n_stride,
                         .channel_stride = w.channel_stride,
                         .strides = w.strides,
                         .out_channels = out_channels,
                         .channels = w.channels,
                         .taps = w.sizes,
                         .group_stride = out_channels * w.n_stride};
  if (count(launch.outputs[0]) == 0) return;
  Convolution<T>(pool, window, data<const T>(launch.inputs[0]), x, filter,
                 has_bias ? data<const T>(launch.inputs[2]) : nullptr,
                 has_bias ? stride_of(launch.inputs[2], 0) : 0, data<T>(launch.outputs[0]), y.sizes,
                 groups)
      .run();
}

// dx is a conv of dy, dilated by the strides of the forward op, with the filter flipped and its
// channel axes swapped.
template <class T>
void conv_backward_input(const Pool& pool, const tenon_launch& launch, const Window& forward,
                         int64_t groups) {
  const Planes dy(launch.inputs[0]), w(launch.inputs[1]), dx(launch.outputs[0]);
  if (count(launch.outputs[0]) == 0) return;
  Window window = forward;
  Filter<T> filter{.data = data<const T>(launch.inputs[1]),
                   .out_stride = w.channel_stride,
                   .channel_stride = w.n_stride,
                   .out_channels = w.channels,
                   .channels = w.n / groups,
                   .taps = w.sizes,
                   .group_stride = w.n / groups * w.n_stride};
  for (size_t i = 0; i < 3; ++i) {
    window.steps[i] = forward.lhs_dilations[i];
    window.lhs_dilations[i] = forward.steps[i];
    window.pads[i] = forward.dilations[i] * (w.sizes[i] - 1) - forward.pads[i];
    filter.data += (w.sizes[i] - 1) * w.strides[i];
    filter.strides[i] = -w.strides[i];
  }
  Convolution<T>(pool, window, data<const T>(launch.inputs[0]), dy, filter, nullptr, 0,
                 data<T>(launch.outputs[0]), dx.sizes, groups)
      .run();
}

}  // namespace

Prepared prepare_conv(const Request& request) {
  const auto attrs = request.attrs<tenon_conv_attrs>({.group = 1});
  const Window window(attrs, request.input(0).rank);
  return through_float(request,
                       [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
                         conv<T>(*pool, launch, window, attrs.group);
                       });
}

Prepared prepare_conv_backward_input(const Request& request) {
  const auto attrs = request.attrs<tenon_conv_backward_input_attrs>({.group = 1});
  const Window window(attrs, request.input(0).rank);
  return through_float(request,
                       [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
                         conv_backward_input<T>(*pool, launch, window, attrs.group);
                       });
}

}  // namespace tenon_simd
