// batch_norm_train: the mean and variance of each channel, then one pass that normalises it.

#include <cmath>

#include "plugins/simd/kernels/elements.h"

namespace tenon_simd {
namespace {

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
          const Elements<T> channel{data<const T>(view) + c * stride_of(view, 1), axes, n};
          const T mean = channel.mean(reducer);
          const auto squares =
              channel.mean_square(reducer, attrs.epsilon, [mean](T x) { return x - mean; });
          const T factor = squares.factor, variance = squares.mean / factor / factor;
          const T inv_std = squares.inverse_root(attrs.epsilon);
          put(1, c, kept * parameter(3, c) + rest * mean);
          put(2, c, kept * parameter(4, c) + rest * variance);
          put(3, c, mean);
          put(4, c, inv_std * factor);

          const T scale = inv_std * parameter(1, c), bias = parameter(2, c);
          for (int64_t image = 0; image < view.sizes[0]; ++image) {
            T* const to = data<T>(launch.outputs[0]) + (image * channels + c) * area;
            const int64_t first = image * area;
            if (factor == 1) {
              channel.map(first, first + area, to,
                          [=](T x, int64_t) { return (x - mean) * scale + bias; });
            } else {
              channel.map(first, first + area, to,
                          [=](T x, int64_t) { return (x - mean) * factor * scale + bias; });
            }
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

}  // namespace tenon_simd
