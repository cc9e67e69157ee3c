// batch_norm_train: mean and variance of each channel, then one pass that moves and scales it.

#include <cmath>

#include "plugins/cpu/kernels/axes.h"
#include "plugins/cpu/kernels/reduce.h"

namespace tenon_cpu {
namespace {

// One channel: the elements of all images.
template <class T>
struct Channel {
  const T* x;
  LoopAxes axes;
  int64_t n;

  // The sum of f(element), in the order of reduce.h.
  template <class Function>
  T sum(const Reducer& reducer, const Function& f) const {
    alignas(64) T tile[kReduceBlock];
    T total{0};
    for (int64_t begin = 0; begin < n; begin += kReduceBlock) {
      const int64_t end = std::min(begin + kReduceBlock, n);
      pack(x, axes, begin, end, tile);
      for (int64_t i = 0; i < end - begin; ++i) tile[i] = f(tile[i]);
      T block;
      reducer.block(tile, static_cast<size_t>(end - begin), &block);
      total = begin == 0 ? block : total + block;
    }
    return total;
  }
};

template <class T>
void batch_norm_train(const Pool& pool, const tenon_launch& launch,
                      const tenon_batch_norm_train_attrs& attrs) {
  const Reducer& reducer = *find_reducer(TENON_OP_sum, tenon_sdk::kDTypeOf<T>);
  const tenon_view& view = launch.inputs[0];
  const int64_t channels = view.sizes[1];
  if (count(view) == 0) return;
  LoopAxes axes, inner;
  for (size_t axis = 0; axis < view.rank; ++axis) {
    if (axis != 1) axes.push(view.sizes[axis], stride_of(view, axis));
    if (axis > 1) inner.push(view.sizes[axis], stride_of(view, axis));
  }
  const int64_t area = inner.count();
  const auto parameter = [&](size_t input, int64_t c) {
    return data<const T>(launch.inputs[input])[c * stride_of(launch.inputs[input], 0)];
  };
  const auto put = [&](size_t output, int64_t c, T value) {
    if (output < launch.n_outputs && is_present(launch.outputs[output])) {
      data<T>(launch.outputs[output])[c] = value;
    }
  };
  const T kept = static_cast<T>(attrs.momentum), rest = static_cast<T>(1 - attrs.momentum);
  const int64_t n = axes.count();
  pool.parallel_tasks(
      channels, std::max<int64_t>(1, 32 * 1024 / n), [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          const Channel<T> channel{data<const T>(view) + c * stride_of(view, 1), axes, n};
          const T mean = channel.sum(reducer, [](T x) { return x; }) / static_cast<T>(n);
          const T variance = channel.sum(reducer, [mean](T x) { return (x - mean) * (x - mean); }) /
                             static_cast<T>(n);
          const T inv_std = 1 / std::sqrt(variance + static_cast<T>(attrs.epsilon));
          put(1, c, kept * parameter(3, c) + rest * mean);
          put(2, c, kept * parameter(4, c) + rest * variance);
          put(3, c, mean);
          put(4, c, inv_std);

          const T scale = inv_std * parameter(1, c), bias = parameter(2, c);
          for (int64_t image = 0; image < view.sizes[0]; ++image) {
            const T* from = channel.x + image * stride_of(view, 0);
            T* to = data<T>(launch.outputs[0]) + (image * channels + c) * area;
            inner.runs(0, area, [&](int64_t offset, int64_t length) {
              const int64_t stride = inner.inner_stride();
              for (int64_t i = 0; i < length; ++i) {
                *to++ = (from[offset + i * stride] - mean) * scale + bias;
              }
            });
          }
        }
      });
}

}  // namespace

Prepared prepare_batch_norm_train(const Request& request) {
  const auto attrs =
      request.attrs<tenon_batch_norm_train_attrs>({.epsilon = 1e-5, .momentum = 0.9});
  const Pool* pool = &pool_of(request);
  return dispatch<tenon_sdk::Types<float, double>>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits,
                  [=](const tenon_launch& launch) { batch_norm_train<T>(*pool, launch, attrs); });
  });
}

}  // namespace tenon_cpu
