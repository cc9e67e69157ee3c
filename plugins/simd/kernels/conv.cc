// conv, and conv_backward_input, which is computed as a convolution with the flipped filter.

#include <memory>

#include "plugins/simd/kernels/convolution.h"
#include "plugins/simd/kernels/depthwise_conv.h"
#include "plugins/simd/kernels/through_float.h"
#include "plugins/simd/kernels/winograd.h"

namespace tenon_simd {
namespace {

// The input and the output of a convolution.
template <class T>
struct Images {
  const T* x;
  Planes x_planes;
  T* y;
  Planes y_planes;
};

// A subset of the outputs of a convolution over a dilated input (lhs_dilations): those at positions
// that equal `phase` modulo the dilation. Along each dilated axis, only every lhs_dilation-th tap
// of these outputs covers an element of the input; the other taps cover zeros. These outputs are
// therefore the result of a convolution without input dilation.
template <class T>
struct Phase {
  Window window;
  Filter<T> filter;
  Spatial out;  // Numbers of outputs along each axis.

  Phase(const Window& whole, const Filter<T>& whole_filter, const Spatial& y, const Spatial& phase)
      : window(whole), filter(whole_filter), out(y) {
    for (size_t i = 0; i < 3; ++i) {
      const int64_t holes = whole.lhs_dilations[i];
      if (holes == 1) continue;
      // `begin` is the first tap that covers an element of the input, so that phase + begin - pads
      // is a multiple of the dilation `holes`.
      const int64_t begin = ((whole.pads[i] - phase[i]) % holes + holes) % holes;
      out[i] = (y[i] - phase[i] + holes - 1) / holes;
      window.lhs_dilations[i] = 1;
      window.pads[i] = -((phase[i] + begin - whole.pads[i]) / holes);
      filter.taps[i] = std::max<int64_t>(0, (whole_filter.taps[i] - begin + holes - 1) / holes);
      filter.data += begin * whole_filter.strides[i];
      filter.strides[i] = holes * whole_filter.strides[i];
    }
  }
};

// Whether a convolution is split into phases: there are few phases, and dilated axes have no
// strides and no filter dilation.
bool has_phases(const Window& window) {
  constexpr int64_t kMaxPhases = 64;
  for (const int64_t holes : window.lhs_dilations) {
    if (holes > kMaxPhases) return false;
  }
  bool has_holes = false;
  for (size_t i = 0; i < 3; ++i) {
    if (window.lhs_dilations[i] == 1) continue;
    if (window.steps[i] != 1 || window.dilations[i] != 1) return false;
    has_holes = true;
  }
  return has_holes && volume(window.lhs_dilations) <= kMaxPhases;
}

// Sets all outputs to the bias, or to 0 without a bias.
template <class T>
void fill_with_bias(const Pool& pool, const Images<T>& images, const T* bias, int64_t bias_stride) {
  const int64_t channels = images.y_planes.channels, size = volume(images.y_planes.sizes);
  pool.parallel_tasks(images.y_planes.n * channels, 1 + (1 << 14) / size,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          const T value = bias == nullptr ? T{0} : bias[i % channels * bias_stride];
                          std::fill_n(images.y + i * size, size, value);
                        }
                      });
}

// Computes a convolution over a dilated input as one convolution for each phase.
template <class T>
void run_phases(const Pool& pool, const Window& window, const Images<T>& images,
                const Filter<T>& filter, const T* bias, int64_t bias_stride, int64_t groups) {
  const int64_t planes = images.y_planes.n * images.y_planes.channels;
  const Spatial y_sizes = images.y_planes.sizes;
  bool is_filled = false;
  for_each_position(window.lhs_dilations, [&](const Spatial& at) {
    if (is_filled || volume(Phase<T>(window, filter, y_sizes, at).filter.taps) != 0) return;
    fill_with_bias(pool, images, bias, bias_stride);
    is_filled = true;
  });
  for_each_position(window.lhs_dilations, [&](const Spatial& at) {
    const Phase<T> phase(window, filter, y_sizes, at);
    const int64_t size = volume(phase.out);
    // Without taps, the outputs are the bias.
    if (size <= 0 || volume(phase.filter.taps) == 0) return;
    const std::unique_ptr<T[]> part(new T[static_cast<size_t>(planes * size)]);
    Convolution<T>(pool, {}, phase.window, images.x, images.x_planes, phase.filter, bias,
                   bias_stride, part.get(), phase.out, groups)
        .run();
    const Spatial step = window.lhs_dilations;
    pool.parallel_tasks(planes, 1 + (1 << 14) / size, [&](int64_t begin, int64_t end) {
      const T* from = part.get() + begin * size;
      for (int64_t plane = begin; plane < end; ++plane) {
        T* const y = images.y + plane * volume(y_sizes);
        for (int64_t d = 0; d < phase.out[0]; ++d) {
          for (int64_t h = 0; h < phase.out[1]; ++h, from += phase.out[2]) {
            T* const to =
                y + ((at[0] + d * step[0]) * y_sizes[1] + at[1] + h * step[1]) * y_sizes[2] + at[2];
            for (int64_t w = 0; w < phase.out[2]; ++w) to[w * step[2]] = from[w];
          }
        }
      }
    });
  });
}

// Computes a convolution, in phases if has_phases().
template <class T>
void run(const Pool& pool, const KeptFilters& kept, const Window& window, const Images<T>& images,
         const Filter<T>& filter, const T* bias, int64_t bias_stride, int64_t groups) {
  if (has_phases(window)) {
    return run_phases(pool, window, images, filter, bias, bias_stride, groups);
  }
  const DepthwiseConv<T> depthwise{.window = window,
                                   .x = images.x,
                                   .x_planes = images.x_planes,
                                   .filter = filter,
                                   .bias = bias,
                                   .bias_stride = bias_stride,
                                   .y = images.y,
                                   .out = images.y_planes.sizes,
                                   .groups = groups};
  if (depthwise.is_supported()) return depthwise.run(pool);
  Convolution<T>(pool, kept, window, images.x, images.x_planes, filter, bias, bias_stride, images.y,
                 images.y_planes.sizes, groups)
      .run();
}

template <class T>
void conv(const Instance& instance, const tenon_launch& launch, const Window& window,
          int64_t groups, bool is_fast) {
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
  const KeptFilters kept{&instance.packed(), launch.inputs[1].content};
  const T* const from = data<const T>(launch.inputs[0]);
  T* const to = data<T>(launch.outputs[0]);
  const T* const bias = has_bias ? data<const T>(launch.inputs[2]) : nullptr;
  const int64_t bias_stride = has_bias ? stride_of(launch.inputs[2], 0) : 0;
  if constexpr (std::is_same_v<T, float>) {
    if (is_fast && groups == 1 &&
        convolve_by_winograd(instance.pool, kept, window, from, x, filter, bias, bias_stride, to,
                             y.sizes)) {
      return;
    }
  }
  run<T>(instance.pool, kept, window, {from, x, to, y}, filter, bias, bias_stride, groups);
}

// dx is the convolution of dy, dilated by the strides of the forward op, with the filter that is
// flipped and has its channel axes swapped.
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
  run<T>(pool, {}, window, {data<const T>(launch.inputs[0]), dy, data<T>(launch.outputs[0]), dx},
         filter, nullptr, 0, groups);
}

}  // namespace

Prepared prepare_conv(const Request& request) {
  const auto attrs = request.attrs<tenon_conv_attrs>({.group = 1});
  const Window window(attrs, request.input(0).rank);
  const bool is_fast = !request.is_deterministic();
  return through_float(
      request, [=, instance = &instance_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
        conv<T>(*instance, launch, window, attrs.group, is_fast);
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
