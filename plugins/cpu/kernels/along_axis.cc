// Loops along one axis: cumsum, argmax and argmin.
//
// A line is the elements along the axis. Lines that lie side by side are walked together, so that
// memory is read in order whatever the axis.

#include "plugins/cpu/kernels/axes.h"

namespace tenon_cpu {
namespace {

constexpr int64_t kGrain = 32 * 1024;
constexpr int64_t kTogether = 128;  // Lines that are walked at once, at most.

// Calls strip(first, from, step, n_lines): `n_lines` lines, from number `first` on, begin at
// from + i * step.
template <class Strip>
void for_each_strip(const Pool& pool, const tenon_view& view, size_t axis, const Strip& strip) {
  LoopAxes lines;
  for (size_t i = 0; i < view.rank; ++i) {
    if (i != axis) lines.push(view.sizes[i], stride_of(view, i));
  }
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, view.sizes[axis]));
  pool.parallel_tasks(lines.count(), grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t inner = lines.inner_size();
      const int64_t n = std::min({inner - begin % inner, end - begin, kTogether});
      strip(begin, lines.offset(begin), lines.inner_stride(), n);
      begin += n;
    }
  });
}

// Whether a new element beats the best so far. Ties go to the first, and so does NaN.
template <class T>
bool beats(T candidate, T best, bool is_max) {
  if (best != best) return false;
  return candidate != candidate || (is_max ? best < candidate : candidate < best);
}

template <class T, class Wide>
void arg_reduce(const Pool& pool, const tenon_launch& launch, size_t axis, bool is_max) {
  const tenon_view& in = launch.inputs[0];
  const int64_t n = in.sizes[axis], stride = stride_of(in, axis);
  const T* const x = data<const T>(in);
  int64_t* const y = data<int64_t>(launch.outputs[0]);
  if (count(in) == 0) return;
  for_each_strip(pool, in, axis, [&](int64_t first, int64_t from, int64_t step, int64_t lines) {
    Wide best[kTogether];
    int64_t at[kTogether];
    for (int64_t j = 0; j < lines; ++j) {
      best[j] = static_cast<Wide>(x[from + j * step]);
      at[j] = 0;
    }
    for (int64_t i = 1; i < n; ++i) {
      const T* const row = x + from + i * stride;
      for (int64_t j = 0; j < lines; ++j) {
        const Wide candidate = static_cast<Wide>(row[j * step]);
        if (!beats(candidate, best[j], is_max)) continue;
        best[j] = candidate;
        at[j] = i;
      }
    }
    std::copy_n(at, lines, y + first);
  });
}

template <class T, class Wide>
void cumsum(const Pool& pool, const tenon_launch& launch, size_t axis, bool is_exclusive,
            bool is_reverse) {
  const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
  const int64_t n = in.sizes[axis], stride = stride_of(in, axis), out_stride = out.strides[axis];
  if (count(out) == 0) return;
  LoopAxes out_lines;
  for (size_t i = 0; i < out.rank; ++i) {
    if (i != axis) out_lines.push(out.sizes[i], out.strides[i]);
  }
  const T* const x = data<const T>(in);
  T* const y = data<T>(out);
  for_each_strip(pool, in, axis, [&](int64_t first, int64_t from, int64_t step, int64_t lines) {
    Wide sum[kTogether] = {};
    int64_t to[kTogether];
    for (int64_t j = 0; j < lines; ++j) to[j] = out_lines.offset(first + j);
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = is_reverse ? n - 1 - k : k;
      for (int64_t j = 0; j < lines; ++j) {
        const Wide before = sum[j];
        sum[j] = static_cast<Wide>(sum[j] + static_cast<Wide>(x[from + i * stride + j * step]));
        y[to[j] + i * out_stride] = static_cast<T>(is_exclusive ? before : sum[j]);
      }
    }
  });
}

template <class T>
using WideOf = std::conditional_t<tenon_sdk::kIsFloat<T> && sizeof(T) == 2, float, T>;

}  // namespace

Prepared prepare_arg_reduce(const Request& request) {
  const bool is_max = request.op() == TENON_OP_argmax;
  const size_t axis =
      tenon_sdk::from_front(request.attrs<tenon_argmax_attrs>().axis, request.input(0).rank);
  return dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [=, pool = &pool_of(request)](const tenon_launch& launch) {
      arg_reduce<T, WideOf<T>>(*pool, launch, axis, is_max);
    });
  });
}

Prepared prepare_cumsum(const Request& request) {
  const auto attrs = request.attrs<tenon_cumsum_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) {
    using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t, WideOf<T>>;
    return kernel(kTraits, [=, pool = &pool_of(request)](const tenon_launch& launch) {
      cumsum<T, Wide>(*pool, launch, axis, attrs.exclusive, attrs.reverse);
    });
  });
}

}  // namespace tenon_cpu
