// max_pool with indices, max_pool_backward and window_sum.

#include <atomic>
#include <limits>
#include <utility>

#include "plugins/simd/kernels/conv_planes.h"
#include "plugins/simd/kernels/dense_input.h"
#include "plugins/simd/kernels/pairwise.h"
#include "plugins/simd/kernels/through_float.h"
#include "plugins/simd/kernels/window.h"
#include "plugins/simd/vectors/halve.h"
#include "plugins/simd/vectors/shifted.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 16 * 1024;  // Minimum number of taps per task.

// The range of taps along an axis that are inside the input for one output position.
struct TapRange {
  int64_t begin, end;
  TapRange(const Window& window, size_t axis, int64_t at, int64_t taps, int64_t size) {
    const int64_t first = at * window.steps[axis] - window.pads[axis];
    const int64_t dilation = window.dilations[axis];
    begin = first >= 0 ? 0 : (-first + dilation - 1) / dilation;
    end = first >= size ? 0 : std::min(taps, (size - first + dilation - 1) / dilation);
  }
};

// Calls plane(i) for every plane i of the output. Tasks are whole planes.
template <class Plane>
void for_each_plane(const Pool& pool, const Planes& y, const Spatial& taps, const Plane& plane) {
  const int64_t work = std::max<int64_t>(1, volume(y.sizes) * volume(taps));
  pool.parallel_tasks(y.n * y.channels, std::max<int64_t>(1, kGrain / work),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) plane(i);
                      });
}

// Whether windows are 2 x 2 with stride 2 and without padding. This is by far the most common case.
bool is_2x2_with_stride_2(const Window& window, const Spatial& taps, const Planes& x,
                          const Planes& y) {
  return taps == Spatial{1, 2, 2} && window.steps[1] == 2 && window.steps[2] == 2 &&
         window.dilations == Spatial{1, 1, 1} && window.pads == Spatial{0, 0, 0} &&
         x.sizes[0] == 1 && x.strides[2] == 1 && 2 * y.sizes[1] <= x.sizes[1] &&
         2 * y.sizes[2] <= x.sizes[2];
}

// Whether every window has a tap inside the input.
bool always_has_taps(const Window& window, const Spatial& taps, const Planes& x, const Planes& y) {
  for (size_t axis = 0; axis < 3; ++axis) {
    for (int64_t at = 0; at < y.sizes[axis]; ++at) {
      const TapRange range(window, axis, at, taps[axis], x.sizes[axis]);
      if (range.begin >= range.end) return false;
    }
  }
  return true;
}

// Whether padded planes take little memory compared with the input. With large dilations, most of
// their elements would not be read.
bool has_compact_planes(const Window& window, const Spatial& taps, const Planes& x,
                        const Planes& y) {
  const PlaneLayout layout(window, y.sizes, taps);
  return layout.plane <= 8 * volume(x.sizes) + 4096;
}

// Copies each plane of x to a padded plane, and calls each(rows, plane, d) for each slice d of the
// plane's outputs. `rows` describes the taps of the slice and its part of y.
template <class T, class Each>
void for_each_padded_slice(const Pool& pool, const tenon_launch& launch, const Window& window,
                           const Spatial& taps, T padding, const Each& each) {
  const Planes x(launch.inputs[0]), y(launch.outputs[0]);
  const PlaneLayout layout(window, y.sizes, taps);
  const PlaneCopy<T> copy(window, x, layout, taps, padding);
  std::vector<int64_t> offsets;
  layout.add_offsets(window, taps, 0, offsets);
  const int64_t slice = y.sizes[1] * y.sizes[2];
  for_each_plane(pool, y, taps, [&](int64_t plane) {
    // Rows are read as whole vectors, which may extend past the end of the last row.
    T* const planes = scratch_of<T>(kScratchConv, layout.plane + multiply_tiles<T>().columns);
    copy(data<const T>(launch.inputs[0]) + plane / x.channels * x.n_stride +
             plane % x.channels * x.channel_stride,
         planes);
    for (int64_t d = 0; d < y.sizes[0]; ++d) {
      each(ShiftedRows<T>{.from = planes + d * window.steps[0] * layout.slice,
                          .offsets = offsets.data(),
                          .k = static_cast<int64_t>(offsets.size()),
                          .from_row = window.steps[1] * layout.row,
                          .rows = y.sizes[1],
                          .n = y.sizes[2],
                          .y = data<T>(launch.outputs[0]) + (plane * y.sizes[0] + d) * slice},
           plane, d);
    }
  });
}

// Whether `candidate` replaces the maximum so far. The maximum is the first NaN or, without NaN,
// the first of the largest elements.
template <class T>
bool wins(T candidate, T best) {
  return best == best && (best < candidate || candidate != candidate);
}

// Returns the index in x of the first element of a window.
int64_t first_index(const Window& window, const Spatial& taps, const Planes& x, int64_t plane,
                    const Spatial& p) {
  int64_t index = plane;
  for (size_t i = 0; i < 3; ++i) {
    const TapRange range(window, i, p[i], taps[i], x.sizes[i]);
    index = index * x.sizes[i] + p[i] * window.steps[i] - window.pads[i] +
            range.begin * window.dilations[i];
  }
  return index;
}

// Maximum number of taps. Up to this number, tap numbers are exact in float32.
constexpr int64_t kMaxTaps = 1 << 20;

// max_pool on padded planes. Requires that every window has at least one tap inside the input.
template <class T>
void padded_max_pool(const Pool& pool, const tenon_launch& launch, const Window& window,
                     const Spatial& taps) {
  const Planes x(launch.inputs[0]), y(launch.outputs[0]);
  constexpr T kPadding = -std::numeric_limits<T>::infinity();
  if (launch.n_outputs < 2 || !is_present(launch.outputs[1])) {
    const auto largest = [](const ShiftedRows<T>& rows, int64_t, int64_t) {
      largest_of_shifted_rows(rows);
    };
    return for_each_padded_slice<T>(pool, launch, window, taps, kPadding, largest);
  }
  int64_t* const indices = data<int64_t>(launch.outputs[1]);
  // The index in x of each tap of the output at position (0, 0, 0), relative to the plane.
  std::vector<int64_t> tap_index;
  for_each_position(taps, [&](const Spatial& tap) {
    int64_t index = 0;
    for (size_t i = 0; i < 3; ++i) {
      index = index * x.sizes[i] + tap[i] * window.dilations[i] - window.pads[i];
    }
    tap_index.push_back(index);
  });
  const auto largest = [&](ShiftedRows<T> rows, int64_t plane, int64_t d) {
    rows.winners = scratch_of<T>(kScratchImage, rows.rows * rows.n);
    largest_of_shifted_rows(rows);
    int64_t* const to = indices + (rows.y - data<T>(launch.outputs[0]));
    for (int64_t h = 0; h < rows.rows; ++h) {
      const int64_t first = (plane * x.sizes[0] + d * window.steps[0]) * x.sizes[1] * x.sizes[2] +
                            h * window.steps[1] * x.sizes[2];
      for (int64_t w = 0; w < rows.n; ++w) {
        const int64_t at = h * rows.n + w;
        to[at] = first + w * window.steps[2] + tap_index[static_cast<size_t>(rows.winners[at])];
        // All elements of this window are minus infinity, as is the padding.
        if (rows.y[at] == kPadding) to[at] = first_index(window, taps, x, plane, {d, h, w});
      }
    }
  };
  for_each_padded_slice<T>(pool, launch, window, taps, kPadding, largest);
}

template <class T, class Wide>
void max_pool(const Pool& pool, const tenon_launch& launch, const Window& window,
              const Spatial& taps) {
  const Planes x(launch.inputs[0]), y(launch.outputs[0]);
  const bool has_indices = launch.n_outputs > 1 && is_present(launch.outputs[1]);
  const bool halving = is_2x2_with_stride_2(window, taps, x, y);
  const int64_t area = volume(y.sizes);
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (!halving && volume(taps) < kMaxTaps && has_compact_planes(window, taps, x, y) &&
        always_has_taps(window, taps, x, y)) {
      return padded_max_pool<T>(pool, launch, window, taps);
    }
  }
  for_each_plane(pool, y, taps, [&](int64_t plane) {
    const T* from = data<const T>(launch.inputs[0]) + plane / x.channels * x.n_stride +
                    plane % x.channels * x.channel_stride;
    T* to = data<T>(launch.outputs[0]) + plane * area;
    int64_t* index = has_indices ? data<int64_t>(launch.outputs[1]) + plane * area : nullptr;
    const int64_t base = plane * volume(x.sizes);
    if constexpr (std::is_same_v<T, float>) {
      if (halving) {
        return max_pool_2x2(from, x.strides[1], y.sizes[1], y.sizes[2], base, x.sizes[2], to,
                            index);
      }
    }
    for_each_position(y.sizes, [&](const Spatial& p) {
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

// window_sum. Padding is zero.
template <class T>
void sum_windows(const Pool& pool, const tenon_launch& launch, const Window& window,
                 const Spatial& taps) {
  const Planes x(launch.inputs[0]), y(launch.outputs[0]);
  if (volume(taps) <= kLongestChain && has_compact_planes(window, taps, x, y)) {
    // Sums are never -0, so adding the zeros of the padding changes nothing.
    const std::vector<T> ones(static_cast<size_t>(volume(taps)), T{1});
    return for_each_padded_slice<T>(pool, launch, window, taps, T{0},
                                    [&](ShiftedRows<T> rows, int64_t, int64_t) {
                                      rows.filter = ones.data();
                                      add_shifted_rows(rows);
                                    });
  }
  for_each_plane(pool, y, taps, [&](int64_t plane) {
    const T* from = data<const T>(launch.inputs[0]) + plane / x.channels * x.n_stride +
                    plane % x.channels * x.channel_stride;
    T* to = data<T>(launch.outputs[0]) + plane * volume(y.sizes);
    for_each_position(y.sizes, [&](const Spatial& p) {
      const TapRange d(window, 0, p[0], taps[0], x.sizes[0]);
      const TapRange h(window, 1, p[1], taps[1], x.sizes[1]);
      const TapRange w(window, 2, p[2], taps[2], x.sizes[2]);
      // Sums a tree whose parts are whole rows, or kLongestChain elements of a row.
      PartSums<T> sums;
      T chain{0};
      int64_t n_in_chain = 0;
      for (int64_t i = d.begin; i < d.end; ++i) {
        for (int64_t j = h.begin; j < h.end; ++j) {
          const T* row =
              from +
              (p[0] * window.steps[0] - window.pads[0] + i * window.dilations[0]) * x.strides[0] +
              (p[1] * window.steps[1] - window.pads[1] + j * window.dilations[1]) * x.strides[1];
          for (int64_t first = w.begin; first < w.end; first += kLongestChain) {
            const int64_t end = std::min(first + kLongestChain, w.end);
            if (n_in_chain + end - first > kLongestChain) {
              sums.add(std::exchange(chain, T{0}));
              n_in_chain = 0;
            }
            n_in_chain += end - first;
            for (int64_t k = first; k < end; ++k) {
              chain = static_cast<T>(
                  chain + row[(p[2] * window.steps[2] - window.pads[2] + k * window.dilations[2]) *
                              x.strides[2]]);
            }
          }
        }
      }
      sums.add(chain);
      *to++ = sums.total();
    });
  });
}

// Returns the number of corresponding planes of two tensors if batch and channel sizes are equal;
// otherwise 1.
int64_t count_common_planes(const tenon_view& a, const tenon_view& b) {
  const bool shared = a.rank >= 2 && b.rank >= 2 && a.sizes[0] == b.sizes[0] &&
                      a.sizes[1] == b.sizes[1] && count(a) > 0;
  return shared ? a.sizes[0] * a.sizes[1] : 1;
}

}  // namespace

Prepared prepare_max_pool(const Request& request) {
  const auto attrs = request.attrs<tenon_max_pool_attrs>();
  const size_t rank = request.input(0).rank;
  const Window window(attrs, rank);
  const Spatial taps = spatial(attrs.kernel_shape, attrs.n_kernel_shape, rank, 1);
  const Pool* pool = &pool_of(request);
  const auto run = [=]<class T>(Type<T>, const tenon_launch& launch) {
    using Wide = std::conditional_t<tenon_sdk::kIsFloat<T> && sizeof(T) == 2, float, T>;
    max_pool<T, Wide>(*pool, launch, window, taps);
  };
  // The elements of half types are exact in float32.
  if (is_half(request.input(0).dtype)) return through_float(request, run);
  return for_numbers(request, run);
}

// max_pool_backward adds each element of dy to the element of dx at its index; several windows may
// have the same index. The indices of max_pool are within the plane of the window, so planes are
// processed in parallel, each in order. Gradients with indices in other planes are added
// afterwards, and invalid indices are reported.
Prepared prepare_max_pool_backward(const Request& request) {
  const Pool* pool = &pool_of(request);
  return through_float(request, [=]<class T>(Type<T>, const tenon_launch& launch) {
    const DenseInput<T> dy(launch.inputs[0]);
    const DenseInput<int64_t> indices(launch.inputs[1]);
    const tenon_view& dx_view = launch.outputs[0];
    T* const dx = data<T>(dx_view);
    const int64_t size = count(dx_view), planes = count_common_planes(launch.inputs[0], dx_view);
    if (size == 0) return;
    const int64_t area = size / planes, out_area = count(launch.inputs[0]) / planes;
    std::atomic<bool> has_strays{false};
    const auto sum_plane = [&](int64_t plane) {
      T* const to = dx + plane * area;
      std::fill_n(to, area, T{0});
      bool all_inside = true;
      for (int64_t i = plane * out_area; i < (plane + 1) * out_area; ++i) {
        const int64_t at = indices[i] - plane * area;
        const bool is_inside = at >= 0 && at < area;
        all_inside = all_inside && is_inside;
        if (is_inside) to[at] += dy[i];
      }
      if (!all_inside) has_strays.store(true, std::memory_order_relaxed);
    };
    pool->parallel_tasks(planes, std::max<int64_t>(1, kGrain / area),
                         [&](int64_t begin, int64_t end) {
                           for (int64_t plane = begin; plane < end; ++plane) sum_plane(plane);
                         });
    for (int64_t i = 0; has_strays && i < planes * out_area; ++i) {
      const int64_t at = indices[i] - i / out_area * area;
      if (at >= 0 && at < area) continue;
      const int64_t found = tenon_sdk::wrap(indices[i], size);
      if (found >= 0) {
        dx[found] += dy[i];
      } else {
        tenon_sdk::report_value_error(launch, indices[i], size);
      }
    }
  });
}

Prepared prepare_window_sum(const Request& request) {
  const auto attrs = request.attrs<tenon_window_sum_attrs>();
  const size_t rank = request.input(0).rank;
  const Window window(attrs, rank);
  const Spatial taps = spatial(attrs.kernel_shape, attrs.n_kernel_shape, rank, 1);
  const Pool* pool = &pool_of(request);
  const RowOperands planes{.n_axes = 2, .inputs = 1, .outputs = 1};
  return through_float(request, planes, [=]<class T>(Type<T>, const tenon_launch& launch) {
    sum_windows<T>(*pool, launch, window, taps);
  });
}

}  // namespace tenon_simd
