// max_pool with its indices, its derivative, window_sum and the means over windows.

#include <limits>

#include "plugins/cpu/kernels/through_float.h"
#include "plugins/cpu/kernels/window.h"
#include "plugins/cpu/simd/halve.h"

namespace tenon_cpu {
namespace {

constexpr int64_t kGrain = 16 * 1024;  // Taps that a task looks at, at least.

// The taps of one axis that lie on elements at one place of the output.
struct TapRange {
  int64_t begin, end;
  TapRange(const Window& window, size_t axis, int64_t at, int64_t taps, int64_t size) {
    const int64_t first = at * window.steps[axis] - window.pads[axis];
    const int64_t dilation = window.dilations[axis];
    begin = first >= 0 ? 0 : (-first + dilation - 1) / dilation;
    end = first >= size ? 0 : std::min(taps, (size - first + dilation - 1) / dilation);
  }
};

// Calls each(plane, p, to) for every output, where `to` counts them in row-major order; tasks are
// whole planes.
template <class Plane>
void for_each_plane(const Pool& pool, const Planes& y, const Spatial& taps, const Plane& plane) {
  const int64_t work = std::max<int64_t>(1, volume(y.sizes) * volume(taps));
  pool.parallel_tasks(y.n * y.channels, std::max<int64_t>(1, kGrain / work),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) plane(i);
                      });
}

// Whether a window of 2 by 2 moves by 2 over planes without padding, by far the most common one.
bool is_halving(const Window& window, const Spatial& taps, const Planes& x, const Planes& y) {
  return taps == Spatial{1, 2, 2} && window.steps[1] == 2 && window.steps[2] == 2 &&
         window.dilations == Spatial{1, 1, 1} && window.pads == Spatial{0, 0, 0} &&
         x.sizes[0] == 1 && x.strides[2] == 1 && 2 * y.sizes[1] <= x.sizes[1] &&
         2 * y.sizes[2] <= x.sizes[2];
}

// The first NaN wins, then the first of the largest.
template <class T>
bool wins(T candidate, T best) {
  return best == best && (best < candidate || candidate != candidate);
}

template <class T, class Wide>
void max_pool(const Pool& pool, const tenon_launch& launch, const Window& window,
              const Spatial& taps) {
  const Planes x(launch.inputs[0]), y(launch.outputs[0]);
  const bool has_indices = launch.n_outputs > 1 && is_present(launch.outputs[1]);
  const bool halving = is_halving(window, taps, x, y);
  const int64_t area = volume(y.sizes);
  for_each_plane(pool, y, taps, [&](int64_t plane) {
    const T* from = data<const T>(launch.inputs[0]) + plane / x.channels * x.n_stride +
                    plane % x.channels * x.channel_stride;
    T* to = data<T>(launch.outputs[0]) + plane * area;
    int64_t* index = has_indices ? data<int64_t>(launch.outputs[1]) + plane * area : nullptr;
    const int64_t base = plane * volume(x.sizes);
    if constexpr (std::is_same_v<T, float>) {
      for (int64_t h = 0; halving && h < y.sizes[1]; ++h) {
        const T* const top = from + 2 * h * x.strides[1];
        halve_rows(top, top + x.strides[1], y.sizes[2], base + 2 * h * x.sizes[2], x.sizes[2],
                   to + h * y.sizes[2], index == nullptr ? nullptr : index + h * y.sizes[2]);
      }
      if (halving) return;
    }
    for_each_place(y.sizes, [&](const Spatial& p) {
      const TapRange d(window, 0, p[0], taps[0], x.sizes[0]);
      const TapRange h(window, 1, p[1], taps[1], x.sizes[1]);
      const TapRange w(window, 2, p[2], taps[2], x.sizes[2]);
      Wide best{};
      T best_element{};
      int64_t best_index = -1;
      for (int64_t i = d.begin; i < d.end; ++i) {
        for (int64_t j = h.begin; j < h.end; ++j) {
          for (int64_t k = w.begin; k < w.end; ++k) {
            const int64_t at_d = p[0] * window.steps[0] - window.pads[0] + i * window.dilations[0];
            const int64_t at_h = p[1] * window.steps[1] - window.pads[1] + j * window.dilations[1];
            const int64_t at_w = p[2] * window.steps[2] - window.pads[2] + k * window.dilations[2];
            const T element = from[at_d * x.strides[0] + at_h * x.strides[1] + at_w * x.strides[2]];
            const Wide candidate = static_cast<Wide>(element);
            if (best_index >= 0 && !wins(candidate, best)) continue;
            best = candidate;
            best_element = element;
            best_index = base + (at_d * x.sizes[1] + at_h) * x.sizes[2] + at_w;
          }
        }
      }
      *to++ = best_element;
      if (index != nullptr) *index++ = best_index;
    });
  });
}

// Padding counts as zeros; `divide` turns a sum into the result.
template <class T, class Divide>
void sum_windows(const Pool& pool, const tenon_launch& launch, const Window& window,
                 const Spatial& taps, const Divide& divide) {
  const Planes x(launch.inputs[0]), y(launch.outputs[0]);
  for_each_plane(pool, y, taps, [&](int64_t plane) {
    const T* from = data<const T>(launch.inputs[0]) + plane / x.channels * x.n_stride +
                    plane % x.channels * x.channel_stride;
    T* to = data<T>(launch.outputs[0]) + plane * volume(y.sizes);
    for_each_place(y.sizes, [&](const Spatial& p) {
      const TapRange d(window, 0, p[0], taps[0], x.sizes[0]);
      const TapRange h(window, 1, p[1], taps[1], x.sizes[1]);
      const TapRange w(window, 2, p[2], taps[2], x.sizes[2]);
      T sum{0};
      for (int64_t i = d.begin; i < d.end; ++i) {
        for (int64_t j = h.begin; j < h.end; ++j) {
          const T* row =
              from +
              (p[0] * window.steps[0] - window.pads[0] + i * window.dilations[0]) * x.strides[0] +
              (p[1] * window.steps[1] - window.pads[1] + j * window.dilations[1]) * x.strides[1];
          for (int64_t k = w.begin; k < w.end; ++k) {
            sum = static_cast<T>(
                sum + row[(p[2] * window.steps[2] - window.pads[2] + k * window.dilations[2]) *
                          x.strides[2]]);
          }
        }
      }
      *to++ = divide(sum, p);
    });
  });
}

}  // namespace

Prepared prepare_max_pool(const Request& request) {
  const auto attrs = request.attrs<tenon_max_pool_attrs>();
  const size_t rank = request.input(0).rank;
  const Window window(attrs, rank);
  const Spatial taps = spatial(attrs.kernel_shape, attrs.n_kernel_shape, rank, 1);
  const Pool* pool = &pool_of(request);
  return dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) {
    using Wide = std::conditional_t<tenon_sdk::kIsFloat<T> && sizeof(T) == 2, float, T>;
    return kernel(kTraits, [=](const tenon_launch& launch) {
      max_pool<T, Wide>(*pool, launch, window, taps);
    });
  });
}

// dx is zero but where an index points; several windows may have taken the same element. Planes are
// independent, so each is summed by one task, in order.
Prepared prepare_max_pool_backward(const Request& request) {
  const Pool* pool = &pool_of(request);
  return through_float(request, [=]<class T>(Type<T>, const tenon_launch& launch) {
    const tenon_view& dy_view = launch.inputs[0];
    const tenon_view& dx_view = launch.outputs[0];
    const tenon_view& index_view = launch.inputs[1];
    LoopAxes dy_axes, index_axes;
    for (size_t axis = 2; axis < dy_view.rank; ++axis) {
      dy_axes.push(dy_view.sizes[axis], stride_of(dy_view, axis));
      index_axes.push(index_view.sizes[axis], stride_of(index_view, axis));
    }
    const int64_t planes = dx_view.sizes[0] * dx_view.sizes[1];
    if (count(dx_view) == 0) return;
    const int64_t area = count(dx_view) / planes, out_area = dy_axes.count();
    pool->parallel_tasks(
        planes, std::max<int64_t>(1, kGrain / area), [&](int64_t begin, int64_t end) {
          std::vector<T> dy(static_cast<size_t>(out_area));
          std::vector<int64_t> index(static_cast<size_t>(out_area));
          for (int64_t plane = begin; plane < end; ++plane) {
            const int64_t n = plane / dx_view.sizes[1], c = plane % dx_view.sizes[1];
            const auto origin = [&](const tenon_view& view) {
              return n * stride_of(view, 0) + c * stride_of(view, 1);
            };
            pack(data<const T>(dy_view) + origin(dy_view), dy_axes, 0, out_area, dy.data());
            pack(data<const int64_t>(index_view) + origin(index_view), index_axes, 0, out_area,
                 index.data());
            T* to = data<T>(dx_view) + plane * area;
            std::fill_n(to, area, T{0});
            for (int64_t i = 0; i < out_area; ++i) {
              const int64_t at = index[static_cast<size_t>(i)] - plane * area;
              if (at >= 0 && at < area) to[at] += dy[static_cast<size_t>(i)];
            }
          }
        });
  });
}

Prepared prepare_window_sum(const Request& request) {
  const auto attrs = request.attrs<tenon_window_sum_attrs>();
  const size_t rank = request.input(0).rank;
  const Window window(attrs, rank);
  const Spatial taps = spatial(attrs.kernel_shape, attrs.n_kernel_shape, rank, 1);
  const Pool* pool = &pool_of(request);
  const auto keep = [](auto sum, const Spatial&) { return sum; };
  if (is_float(request.input(0).dtype)) {
    return through_float(request, [=]<class T>(Type<T>, const tenon_launch& launch) {
      sum_windows<T>(*pool, launch, window, taps, keep);
    });
  }
  // Integers wrap, so only their size matters.
  using Unsigned =
      tenon_sdk::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
  return dispatch<Unsigned>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [=](const tenon_launch& launch) {
      sum_windows<std::make_unsigned_t<T>>(*pool, launch, window, taps, keep);
    });
  });
}

}  // namespace tenon_cpu
