// layer_norm, rms_norm and group_norm: compute the statistics of a row, or of the channels of a
// group, then normalise it in one pass.

#include <cmath>

#include "plugins/simd/kernels/elements.h"
#include "plugins/simd/kernels/through_float.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 32 * 1024;  // Minimum number of elements per task.

// Calls write(distance), where distance(element) returns the element minus the mean, multiplied by
// `factor`.
template <class T, class Write>
void with_scaled_difference(T mean, T factor, const Write& write) {
  if (factor == 1) {
    write([=](T e) { return e - mean; });
  } else {
    write([=](T e) { return (e - mean) * factor; });
  }
}

// Access to a parameter that is broadcast to a row as dense elements. A row has the axes of `x`
// from `axis` on.
template <class T>
class RowParameter {
 public:
  RowParameter(const tenon_view& view, const tenon_view& x, size_t axis, int64_t n)
      : at_(tenon_sdk::data<const T>(view)) {
    if (view.strides_class == TENON_STRIDES_DENSE && count(view) == n) return;
    const size_t missing = x.rank - view.rank;
    LoopAxes axes;
    for (size_t i = axis; i < x.rank; ++i) {
      const bool repeats = i < missing || view.sizes[i - missing] == 1;
      axes.push(x.sizes[i], repeats ? 0 : stride_of(view, i - missing));
    }
    copy_.resize(static_cast<size_t>(n));
    if (n > 0) pack(at_, axes, 0, n, copy_.data());
    at_ = copy_.data();
  }

  const T* data() const { return at_; }

 private:
  const T* at_;
  std::vector<T> copy_;
};

// Calls row(i, elements) for each row i of `x`. A row has the axes from `axis` on.
template <class T, class Row>
void for_each_row(const Pool& pool, const tenon_view& x, size_t axis, const Row& row) {
  LoopAxes inside, outside;
  for (size_t i = 0; i < x.rank; ++i) {
    (i < axis ? outside : inside).push(x.sizes[i], stride_of(x, i));
  }
  const int64_t n = inside.count();
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n));
  pool.parallel_tasks(outside.count(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      row(i, Elements<T>{data<const T>(x) + outside.offset(i), inside, n});
    }
  });
}

template <class T>
void layer_norm(const Pool& pool, const tenon_launch& launch, size_t axis, double epsilon) {
  const Reducer& sum = *find_reducer(TENON_OP_sum, tenon_sdk::kDTypeOf<T>);
  const tenon_view& x = launch.inputs[0];
  const int64_t n = count(x.rank - axis, x.sizes + axis);
  const RowParameter<T> scales(launch.inputs[1], x, axis, n);
  const tenon_view& bias_view = launch.inputs[has_input(launch, 2) ? 2 : 1];
  const RowParameter<T> biases(bias_view, x, axis, n);
  const T *const scale = scales.data(), *const bias = biases.data();
  const auto put = [&](size_t output, int64_t row, T value) {
    if (output < launch.n_outputs && is_present(launch.outputs[output])) {
      data<T>(launch.outputs[output])[row] = value;
    }
  };
  for_each_row<T>(pool, x, axis, [&](int64_t i, const Elements<T>& row) {
    const T mean = row.mean(sum);
    const auto variance = row.mean_square(sum, epsilon, [mean](T e) { return e - mean; });
    const T inv_std = variance.inverse_root(epsilon);
    put(1, i, mean);
    put(2, i, inv_std * variance.factor);
    T* const to = data<T>(launch.outputs[0]) + i * n;
    with_scaled_difference(mean, variance.factor, [&](const auto& distance) {
      if (has_input(launch, 2)) {
        row.map(0, n, to,
                [=](T e, int64_t j) { return distance(e) * inv_std * scale[j] + bias[j]; });
      } else {
        row.map(0, n, to, [=](T e, int64_t j) { return distance(e) * inv_std * scale[j]; });
      }
    });
  });
}

template <class T>
void rms_norm(const Pool& pool, const tenon_launch& launch, size_t axis, double epsilon) {
  const Reducer& sum = *find_reducer(TENON_OP_sum, tenon_sdk::kDTypeOf<T>);
  const tenon_view& x = launch.inputs[0];
  const int64_t n = count(x.rank - axis, x.sizes + axis);
  const RowParameter<T> scales(launch.inputs[1], x, axis, n);
  const T* const scale = scales.data();
  for_each_row<T>(pool, x, axis, [&](int64_t i, const Elements<T>& row) {
    const auto squares = row.mean_square(sum, epsilon, [](T e) { return e; });
    const T r = squares.inverse_root(epsilon);
    with_scaled_difference(T{0}, squares.factor, [&](const auto& scaled) {
      row.map(0, n, data<T>(launch.outputs[0]) + i * n,
              [=](T e, int64_t j) { return scaled(e) * r * scale[j]; });
    });
  });
}

template <class T>
void group_norm(const Pool& pool, const tenon_launch& launch, int64_t groups, double epsilon) {
  const Reducer& sum = *find_reducer(TENON_OP_sum, tenon_sdk::kDTypeOf<T>);
  const tenon_view &x = launch.inputs[0], &scale = launch.inputs[1], &bias = launch.inputs[2];
  if (count(x) == 0) return;
  const int64_t channels = x.sizes[1] / groups;  // Channels per group.
  const int64_t area = count(x.rank - 2, x.sizes + 2), n = channels * area;
  LoopAxes inside;
  inside.push(channels, stride_of(x, 1));
  for (size_t i = 2; i < x.rank; ++i) inside.push(x.sizes[i], stride_of(x, i));

  const int64_t grain = std::max<int64_t>(1, kGrain / n);
  pool.parallel_tasks(x.sizes[0] * groups, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / groups, first = i % groups * channels;
      const T* const from = data<const T>(x) + image * stride_of(x, 0) + first * stride_of(x, 1);
      const Elements<T> group{from, inside, n};
      const T mean = group.mean(sum);
      const auto variance = group.mean_square(sum, epsilon, [mean](T e) { return e - mean; });
      const T inv_std = variance.inverse_root(epsilon);
      for (int64_t c = 0; c < channels; ++c) {
        const T s = data<const T>(scale)[(first + c) * stride_of(scale, 0)];
        const T b = data<const T>(bias)[(first + c) * stride_of(bias, 0)];
        with_scaled_difference(mean, variance.factor, [&](const auto& distance) {
          group.map(c * area, (c + 1) * area, data<T>(launch.outputs[0]) + i * n + c * area,
                    [=](T e, int64_t) { return distance(e) * inv_std * s + b; });
        });
      }
    }
  });
}

}  // namespace

Prepared prepare_layer_norm(const Request& request) {
  const auto attrs = request.attrs<tenon_layer_norm_attrs>({.axis = -1, .epsilon = 1e-5});
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return through_float(request, RowOperands{.n_axes = axis, .inputs = 1, .outputs = 7},
                       [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
                         layer_norm<T>(*pool, launch, axis, attrs.epsilon);
                       });
}

Prepared prepare_rms_norm(const Request& request) {
  const auto attrs = request.attrs<tenon_rms_norm_attrs>({.axis = -1, .epsilon = 1e-5});
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return through_float(request, RowOperands{.n_axes = axis, .inputs = 1, .outputs = 1},
                       [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
                         rms_norm<T>(*pool, launch, axis, attrs.epsilon);
                       });
}

Prepared prepare_group_norm(const Request& request) {
  const auto attrs = request.attrs<tenon_group_norm_attrs>({.epsilon = 1e-5, .num_groups = 1});
  return through_float(request, RowOperands{.n_axes = 1, .inputs = 1, .outputs = 1},
                       [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
                         group_norm<T>(*pool, launch, attrs.num_groups, attrs.epsilon);
                       });
}

}  // namespace tenon_simd
