// max_pool and window_sum, one channel at a time.

#include "plugins/ref/kernels.h"
#include "plugins/ref/scalar.h"
#include "plugins/ref/window.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {
namespace {

using tenon_sdk::data;
using tenon_sdk::dispatch;

// Returns the size of the window along three spatial axes.
Spatial taps_of(const int64_t* kernel_shape, size_t n, size_t rank) {
  Spatial taps = {{1, 1, 1}};
  Window::set(taps, kernel_shape, n, rank);
  return taps;
}

// Calls each(n, channel, p) for every element of y.
template <class Each>
void for_each_output(const Planes& y, Each&& each) {
  for (int64_t n = 0; n < y.batch; ++n) {
    for (int64_t channel = 0; channel < y.channels; ++channel) {
      for_each_position(y.sizes, [&](const Spatial& p) { each(n, channel, p); });
    }
  }
}

}  // namespace

// Returns the maxima and, if requested, their row-major indices in x. In each window, the first NaN
// wins, or else the first of the largest elements. Padding is ignored; every window contains at
// least one element of x.
Prepared prepare_max_pool(const Request& request) {
  const auto attrs = request.attrs<tenon_max_pool_attrs>();
  const auto rank = request.input(0).rank;
  const Window window(attrs, rank);
  const Spatial taps = taps_of(attrs.kernel_shape, attrs.n_kernel_shape, rank);
  return dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [window, taps](const tenon_launch& launch) {
      const Planes x(launch.inputs[0]), y(launch.outputs[0]);
      const T* px = data<const T>(launch.inputs[0]);
      T* py = data<T>(launch.outputs[0]);
      const bool wants_indices = launch.n_outputs > 1 && tenon_sdk::is_present(launch.outputs[1]);
      int64_t* indices = wants_indices ? data<int64_t>(launch.outputs[1]) : nullptr;
      const Spatial& sizes = x.sizes;

      for_each_output(y, [&](int64_t n, int64_t channel, const Spatial& p) {
        bool any = false;
        T best = T();
        int64_t best_index = 0;
        for_each_position(taps, [&](const Spatial& k) {
          Spatial found;
          if (!window.find(p, k, sizes, found)) return;
          const T candidate = px[x.offset(n, channel, found)];
          const auto a = widen<Exact<T>>(best), b = widen<Exact<T>>(candidate);
          if (any && (a != a || !(a < b || b != b))) return;
          any = true;
          best = candidate;
          const int64_t plane = n * x.channels + channel;
          best_index =
              ((plane * sizes.at[0] + found.at[0]) * sizes.at[1] + found.at[1]) * sizes.at[2] +
              found.at[2];
        });
        const int64_t to = y.offset(n, channel, p);
        py[to] = best;
        if (wants_indices) indices[to] = best_index;
      });
    });
  });
}

// Sums the windows. Padding counts as zero.
Prepared prepare_window_sum(const Request& request) {
  const auto attrs = request.attrs<tenon_window_sum_attrs>();
  const auto rank = request.input(0).rank;
  const Window window(attrs, rank);
  const Spatial taps = taps_of(attrs.kernel_shape, attrs.n_kernel_shape, rank);
  return dispatch<tenon_sdk::Floats>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [window, taps](const tenon_launch& launch) {
      const Planes x(launch.inputs[0]), y(launch.outputs[0]);
      const T* px = data<const T>(launch.inputs[0]);
      T* py = data<T>(launch.outputs[0]);
      for_each_output(y, [&](int64_t n, int64_t channel, const Spatial& p) {
        Wide<T> sum = 0;
        for_each_position(taps, [&](const Spatial& k) {
          Spatial found;
          if (!window.find(p, k, x.sizes, found)) return;
          sum += widen<Wide<T>>(px[x.offset(n, channel, found)]);
        });
        py[y.offset(n, channel, p)] = narrow<T>(sum);
      });
    });
  });
}

}  // namespace tenon_ref
