// Loops along one axis: cumsum, cumprod, cummax, cummin, argmax and argmin.
//
// A line is the sequence of elements along the axis. Adjacent lines are processed together, so that
// memory accesses are sequential for any axis.

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/reduce.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 32 * 1024;
constexpr int64_t kTogether = 128;  // Maximum number of lines processed at once.

// Calls strip(first, from, step, n_lines) for groups of adjacent lines of the view. `first` is the
// index of the group's first line among all lines. Line i of the group begins at element offset
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

// Whether `candidate` replaces `best`, the largest or smallest element so far. Selects the first of
// equal elements, and the first NaN if there is one.
template <class T>
bool beats(T candidate, T best, bool is_max) {
  if (best != best) return false;
  return candidate != candidate || (is_max ? best < candidate : candidate < best);
}

template <class T, class Wide>
class ArgReduce final : public RowKernel {
 public:
  ArgReduce(const Pool& pool, size_t axis, bool is_max)
      : pool_(pool), axis_(axis), is_max_(is_max) {}

  tenon_error* launch(tenon_stream_p*, const tenon_launch& launch) const override {
    const tenon_view& in = launch.inputs[0];
    if (count(in) == 0) return nullptr;
    const T* const x = data<const T>(in);
    int64_t* const y = data<int64_t>(launch.outputs[0]);
    for_each_strip(
        pool_, in, axis_, [&](int64_t first, int64_t from, int64_t step, int64_t n_lines) {
          strip(x + from, step, n_lines, in.sizes[axis_], stride_of(in, axis_), y + first);
        });
    return nullptr;
  }

  void reduce(const void* x, int64_t n_rows, int64_t n, void* out, float*) const override {
    for (int64_t first = 0; n > 0 && first < n_rows; first += kTogether) {
      strip(static_cast<const T*>(x) + first * n, n, std::min(kTogether, n_rows - first), n, 1,
            static_cast<int64_t*>(out) + first);
    }
  }
  bool widens() const override { return false; }

 private:
  // Finds the extreme element of each of `n_lines` lines, and stores its index in `y`. Lines begin
  // `step` elements apart. Each line has `n` elements, which are `stride` elements apart.
  void strip(const T* x, int64_t step, int64_t n_lines, int64_t n, int64_t stride,
             int64_t* y) const {
    Wide best[kTogether];
    int64_t at[kTogether];
    for (int64_t j = 0; j < n_lines; ++j) {
      best[j] = static_cast<Wide>(x[j * step]);
      at[j] = 0;
    }
    for (int64_t i = 1; i < n; ++i) {
      for (int64_t j = 0; j < n_lines; ++j) {
        const Wide candidate = static_cast<Wide>(x[i * stride + j * step]);
        if (!beats(candidate, best[j], is_max_)) continue;
        best[j] = candidate;
        at[j] = i;
      }
    }
    std::copy_n(at, n_lines, y);
  }

  const Pool& pool_;
  size_t axis_;
  bool is_max_;
};

// Returns the axes of an output without `axis`. Their offsets are the beginnings of the lines.
LoopAxes lines_of(const tenon_view& out, size_t axis) {
  LoopAxes lines;
  for (size_t i = 0; i < out.rank; ++i) {
    if (i != axis) lines.push(out.sizes[i], out.strides[i]);
  }
  return lines;
}

// Computes the sum of all earlier blocks of each line. Level 0 adds at most kScanBlock blocks,
// level 1 adds at most kScanBlock sums of level 0, and so on, like the digits of a number. So no
// sum has more than a few hundred terms.
constexpr int64_t kScanBlock = 64;
template <class Wide>
class PrefixSums {
 public:
  Wide operator[](int64_t line) const { return total_[line]; }

  // Adds the sums of block number `block`, and resets `sums` to 0.
  void add(int64_t block, Wide* sums, int64_t lines) {
    size_t last = 0;
    for (int64_t n = block + 1; n % kScanBlock == 0 && last + 1 < kLevels; n /= kScanBlock) ++last;
    depth_ = std::max(depth_, last + 1);
    for (int64_t j = 0; j < lines; ++j) {
      levels_[0][j] += sums[j];
      sums[j] = 0;
      for (size_t level = 0; level < last; ++level) {
        levels_[level + 1][j] += levels_[level][j];
        levels_[level][j] = 0;
      }
      Wide total = levels_[depth_ - 1][j];
      for (size_t level = depth_ - 1; level-- > 0;) total += levels_[level][j];
      total_[j] = total;
    }
  }

 private:
  static constexpr size_t kLevels = 8;
  Wide levels_[kLevels][kTogether] = {};
  Wide total_[kTogether] = {};
  size_t depth_ = 1;
};

// cumsum of floats: the sum of all earlier blocks plus the sum within the element's block.
template <class T, class Wide>
void sum_scan(const Pool& pool, const tenon_launch& launch, size_t axis, bool is_exclusive,
              bool is_reverse) {
  const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
  const int64_t n = in.sizes[axis], stride = stride_of(in, axis), out_stride = out.strides[axis];
  if (count(out) == 0) return;
  const LoopAxes out_lines = lines_of(out, axis);
  const T* const x = data<const T>(in);
  T* const y = data<T>(out);
  for_each_strip(pool, in, axis, [&](int64_t first, int64_t from, int64_t step, int64_t lines) {
    PrefixSums<Wide> before;
    Wide total[kTogether] = {};
    int64_t to[kTogether];
    for (int64_t j = 0; j < lines; ++j) to[j] = out_lines.offset(first + j);
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = is_reverse ? n - 1 - k : k;
      for (int64_t j = 0; j < lines; ++j) {
        const Wide so_far = total[j];
        total[j] = so_far + static_cast<Wide>(x[from + i * stride + j * step]);
        y[to[j] + i * out_stride] = static_cast<T>(before[j] + (is_exclusive ? so_far : total[j]));
      }
      if ((k + 1) % kScanBlock == 0) before.add(k / kScanBlock, total, lines);
    }
  });
}

// Stores at each element join() of `identity` and all elements of its line up to that element.
template <class T, class Wide, class Join>
void scan(const Pool& pool, const tenon_launch& launch, size_t axis, bool is_exclusive,
          bool is_reverse, Wide identity, const Join& join) {
  const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];
  const int64_t n = in.sizes[axis], stride = stride_of(in, axis), out_stride = out.strides[axis];
  if (count(out) == 0) return;
  const LoopAxes out_lines = lines_of(out, axis);
  const T* const x = data<const T>(in);
  T* const y = data<T>(out);
  for_each_strip(pool, in, axis, [&](int64_t first, int64_t from, int64_t step, int64_t lines) {
    Wide total[kTogether];
    int64_t to[kTogether];
    for (int64_t j = 0; j < lines; ++j) {
      total[j] = identity;
      to[j] = out_lines.offset(first + j);
    }
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = is_reverse ? n - 1 - k : k;
      for (int64_t j = 0; j < lines; ++j) {
        const Wide before = total[j];
        total[j] = join(before, static_cast<Wide>(x[from + i * stride + j * step]));
        y[to[j] + i * out_stride] = static_cast<T>(is_exclusive ? before : total[j]);
      }
    }
  });
}

// cummax and cummin: the largest or smallest of all elements so far, and its index.
template <class T, class Wide>
void extreme_scan(const Pool& pool, const tenon_launch& launch, size_t axis, bool is_max,
                  bool is_reverse) {
  const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];  // Both outputs are dense.
  const int64_t n = in.sizes[axis], stride = stride_of(in, axis), out_stride = out.strides[axis];
  if (count(out) == 0) return;
  const LoopAxes out_lines = lines_of(out, axis);
  const T* const x = data<const T>(in);
  T* const values = data<T>(out);
  int64_t* const indices = data<int64_t>(launch.outputs[1]);
  for_each_strip(pool, in, axis, [&](int64_t first, int64_t from, int64_t step, int64_t lines) {
    T best[kTogether];
    int64_t at[kTogether], to[kTogether];
    for (int64_t j = 0; j < lines; ++j) to[j] = out_lines.offset(first + j);
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = is_reverse ? n - 1 - k : k;
      for (int64_t j = 0; j < lines; ++j) {
        const T candidate = x[from + i * stride + j * step];
        if (k == 0 || beats(static_cast<Wide>(candidate), static_cast<Wide>(best[j]), is_max)) {
          best[j] = candidate;
          at[j] = i;
        }
        values[to[j] + i * out_stride] = best[j];
        indices[to[j] + i * out_stride] = at[j];
      }
    }
  });
}

template <class T>
using WideOf = std::conditional_t<tenon_sdk::kIsFloat<T> && sizeof(T) == 2, float, T>;

}  // namespace

// Prepares argmax and argmin.
Prepared prepare_arg_reduce(const Request& request) {
  const bool is_max = request.op() == TENON_OP_argmax;
  const size_t axis =
      tenon_sdk::from_front(request.attrs<tenon_argmax_attrs>().axis, request.input(0).rank);
  return dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) -> Prepared {
    return {.kernel = std::make_unique<ArgReduce<T, WideOf<T>>>(pool_of(request), axis, is_max),
            .traits = kTraits};
  });
}

// Prepares cumsum and cumprod, which have the same attributes.
Prepared prepare_scan(const Request& request) {
  const bool is_sum = request.op() == TENON_OP_cumsum;
  const auto attrs = request.attrs<tenon_cumsum_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) {
    using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t, WideOf<T>>;
    return kernel(kTraits, [=, pool = &pool_of(request)](const tenon_launch& launch) {
      const auto run = [&](Wide identity, const auto& join) {
        scan<T>(*pool, launch, axis, attrs.exclusive, attrs.reverse, identity, join);
      };
      if constexpr (tenon_sdk::kIsFloat<T>) {
        if (is_sum) {
          return sum_scan<T, Wide>(*pool, launch, axis, attrs.exclusive, attrs.reverse);
        }
      }
      if (is_sum) {
        run(0, [](Wide a, Wide b) { return static_cast<Wide>(a + b); });
      } else {
        run(1, [](Wide a, Wide b) { return static_cast<Wide>(a * b); });
      }
    });
  });
}

// Prepares cummax and cummin, which have the same attributes.
Prepared prepare_extreme_scan(const Request& request) {
  const bool is_max = request.op() == TENON_OP_cummax;
  const auto attrs = request.attrs<tenon_cummax_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return dispatch<tenon_sdk::Numbers>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return kernel(kTraits, [=, pool = &pool_of(request)](const tenon_launch& launch) {
      extreme_scan<T, WideOf<T>>(*pool, launch, axis, is_max, attrs.reverse);
    });
  });
}

}  // namespace tenon_simd
