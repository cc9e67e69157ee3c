// col2im: adds the columns of sliding windows into an image.
//
// A row of the matrix holds one tap of all windows. Rows are added one after the other, so the
// terms of an element are added in the order of the taps.

#include "plugins/simd/kernels/dense_input.h"
#include "plugins/simd/kernels/pairwise.h"
#include "plugins/simd/kernels/through_float.h"
#include "plugins/simd/kernels/window.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 16 * 1024;  // Minimum number of terms per task.

// The windows along one axis whose tap is inside the image. The tap of window i is at element
// first + i * step.
struct Inside {
  int64_t first, begin, end;

  Inside(int64_t first, int64_t step, int64_t windows, int64_t size)
      : first(first),
        begin(first >= 0 ? 0 : (step - 1 - first) / step),
        end(first >= size ? 0 : std::min(windows, (size - first + step - 1) / step)) {}
};

// Adds the columns of one plane to its image.
template <class T>
void add_columns(const T* from, const Window& window, const Spatial& taps, const Spatial& windows,
                 const Spatial& sizes, T* to) {
  for_each_position(taps, [&](const Spatial& tap) {
    const auto inside = [&](size_t axis) {
      return Inside(tap[axis] * window.dilations[axis] - window.pads[axis], window.steps[axis],
                    windows[axis], sizes[axis]);
    };
    const Inside d = inside(0), h = inside(1), w = inside(2);
    const int64_t step = window.steps[2];
    for (int64_t i = d.begin; i < d.end; ++i) {
      for (int64_t j = h.begin; j < h.end; ++j) {
        const T* const x = from + (i * windows[1] + j) * windows[2];
        T* const y = to +
                     ((d.first + i * window.steps[0]) * sizes[1] + h.first + j * window.steps[1]) *
                         sizes[2] +
                     w.first;
        if (step == 1) {
          for (int64_t k = w.begin; k < w.end; ++k) y[k] += x[k];
        } else {
          for (int64_t k = w.begin; k < w.end; ++k) y[k * step] += x[k];
        }
      }
    }
    from += volume(windows);
  });
}

}  // namespace

Prepared prepare_col2im(const Request& request) {
  const auto attrs = request.attrs<tenon_col2im_attrs>();
  const size_t rank = request.output(0).rank;
  if (rank > 5) return refuse("supports images of at most three axes");
  const Window window(attrs, rank);
  const Spatial taps = spatial(attrs.kernel_shape, attrs.n_kernel_shape, rank, 1);
  const size_t n_pads = attrs.n_pads / 2;
  const Spatial ends = spatial(attrs.pads + n_pads, n_pads, rank, 0);
  if (volume(taps) > kLongestChain) return refuse("supports windows of at most 4096 elements");
  const RowOperands rows{.n_axes = 1, .inputs = 1, .outputs = 1};
  const auto run = [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
    const DenseInput<T> x(launch.inputs[0]);
    const Planes y(launch.outputs[0]);
    Spatial windows;
    for (size_t i = 0; i < 3; ++i) {
      const int64_t padded = y.sizes[i] + window.pads[i] + ends[i];
      windows[i] = (padded - (taps[i] - 1) * window.dilations[i] - 1) / window.steps[i] + 1;
    }
    const int64_t columns = volume(taps) * volume(windows), area = volume(y.sizes);
    pool->parallel_tasks(
        y.n * y.channels, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, columns)),
        [&](int64_t begin, int64_t end) {
          for (int64_t plane = begin; plane < end; ++plane) {
            T* const to = data<T>(launch.outputs[0]) + plane * area;
            std::fill_n(to, area, T{0});
            add_columns(x.data() + plane * columns, window, taps, windows, y.sizes, to);
          }
        });
  };
  return through_float(request, rows, run);
}

}  // namespace tenon_simd
