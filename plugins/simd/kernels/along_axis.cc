// Loops along one axis: cumsum, cumprod, cummax, cummin, argmax and argmin.
//
// A line is the sequence of elements along the axis. Adjacent lines are processed together, so that
// memory accesses are sequential for any axis.

#include <array>
#include <limits>

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/reduce.h"
#include "plugins/simd/kernels/transposed.h"
#include "plugins/simd/kernels/wide_launch.h"

namespace tenon_simd {
namespace {

constexpr int64_t kGrain = 32 * 1024;
constexpr int64_t kTogether = 128;  // Maximum number of lines processed at once.
// The same for lines whose elements are adjacent. They are transposed in tiles that fit into the L1
// cache.
constexpr int64_t kTileLines = kIsCompact ? kTogether : 32;

// Calls strip(first, from, step, n_lines) for groups of adjacent lines of the view. `first` is the
// index of the group's first line among all lines. Line i of the group begins at element offset
// from + i * step.
template <class Strip>
void for_each_strip(const Pool& pool, const tenon_view& view, size_t axis, const Strip& strip) {
  const LoopAxes lines = axes_without(view, axis);
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, view.sizes[axis]));
  pool.parallel_tasks(lines.count(), grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t inner = lines.inner_size();
      const int64_t most = stride_of(view, axis) == 1 ? kTileLines : kTogether;
      const int64_t n = std::min({inner - begin % inner, end - begin, most});
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

// Returns the first of the largest or smallest elements of x, which has at least one element. If an
// element is NaN, returns the first NaN. Compares whole vectors in a first pass, which finds the
// chunk that contains the result.
template <bool kMax, class T>
int64_t first_extreme(const T* x, int64_t n) {
  typedef T V __attribute__((vector_size(32)));
  constexpr auto kLanes = static_cast<int64_t>(sizeof(V) / sizeof(T));
  constexpr int64_t kChunk = 1024;
  constexpr int64_t kVectors = 4;  // Vectors compared at once, because each comparison takes time.
  const auto precedes = [](T a, T b) { return kMax ? a > b : a < b; };
  T best = x[0];
  int64_t at = 0;
  for (int64_t chunk = 0; chunk < n; chunk += kChunk) {
    const int64_t end = std::min(n, chunk + kChunk);
    T extreme = x[chunk];
    bool has_nan = false;
    int64_t i = chunk;
    if (end - chunk >= kVectors * kLanes) {
      V found[kVectors], v;
      std::memcpy(&v, x + i, sizeof v);
      std::fill_n(found, kVectors, v);
      auto nan = v != v;
      for (; i + kVectors * kLanes <= end; i += kVectors * kLanes) {
#pragma GCC unroll 8
        for (int64_t j = 0; j < kVectors; ++j) {
          std::memcpy(&v, x + i + j * kLanes, sizeof v);
          found[j] = kMax ? (found[j] < v ? v : found[j]) : (v < found[j] ? v : found[j]);
          if constexpr (!std::is_integral_v<T>) nan |= v != v;
        }
      }
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        for (const V& best_of : found) {
          extreme = precedes(best_of[lane], extreme) ? best_of[lane] : extreme;
        }
        has_nan |= nan[lane] != 0;
      }
    }
    for (; i < end; ++i) {
      extreme = precedes(x[i], extreme) ? x[i] : extreme;
      has_nan |= x[i] != x[i];
    }
    if (has_nan) {
      return std::find_if(x + chunk, x + end, [](T value) { return value != value; }) - x;
    }
    if (chunk != 0 && !precedes(extreme, best)) continue;
    best = extreme;
    at = chunk;
  }
  // Counting has no branches, so that the compiler vectorises it.
  constexpr int64_t kBlock = 32;
  for (; at + kBlock <= n; at += kBlock) {
    int n_equal = 0;
    for (int64_t i = at; i < at + kBlock; ++i) n_equal += x[i] == best ? 1 : 0;
    if (n_equal != 0) break;
  }
  return std::find(x + at, x + n, best) - x;
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
    if constexpr (std::is_same_v<T, Wide>) {
      if (stride == 1 && n > 1) {
        for (int64_t j = 0; j < n_lines; ++j) {
          y[j] = is_max_ ? first_extreme<true>(x + j * step, n)
                         : first_extreme<false>(x + j * step, n);
        }
        return;
      }
    }
    // Indices of the size of the elements are selected in the same vectors.
    using Narrow = std::conditional_t<sizeof(Wide) == 8 || kIsCompact, int64_t, int32_t>;
    if (n <= std::numeric_limits<int32_t>::max()) {
      adjacent<Narrow>(x, step, n_lines, n, stride, y);
    } else {
      adjacent<int64_t>(x, step, n_lines, n, stride, y);
    }
  }

  // Finds the extreme elements of all lines at once.
  template <class Index>
  void adjacent(const T* x, int64_t step, int64_t n_lines, int64_t n, int64_t stride,
                int64_t* y) const {
    Wide best[kTogether];
    Index at[kTogether];
    for (int64_t j = 0; j < n_lines; ++j) {
      best[j] = static_cast<Wide>(x[j * step]);
      at[j] = 0;
    }
    const auto compare = [&](int64_t lane_step, bool is_max) {
      for (int64_t i = 1; i < n; ++i) {
        for (int64_t j = 0; j < n_lines; ++j) {
          const Wide candidate = static_cast<Wide>(x[i * stride + j * lane_step]);
          const bool is_better = beats(candidate, best[j], is_max);
          best[j] = is_better ? candidate : best[j];
          at[j] = is_better ? static_cast<Index>(i) : at[j];
        }
      }
    };
    if (kIsCompact || step != 1) {
      compare(step, is_max_);
    } else if (is_max_) {
      compare(1, true);
    } else {
      compare(1, false);
    }
    std::copy_n(at, n_lines, y);
  }

  const Pool& pool_;
  size_t axis_;
  bool is_max_;
};

// Runs ArgReduce<Wide> on a narrower dtype.
template <class Wide>
class WideArgReduce final : public RowKernel {
 public:
  WideArgReduce(const Pool& pool, size_t axis, bool is_max, tenon_dtype dtype)
      : inner_(pool, axis, is_max), dtype_(dtype) {}

  tenon_error* launch(tenon_stream_p* stream, const tenon_launch& launch) const override {
    return inner_.launch(stream, WideLaunch(launch, dtype_, tenon_sdk::kDTypeOf<Wide>).launch());
  }

  void reduce(const void* x, int64_t n_rows, int64_t n, void* out, float*) const override {
    std::vector<Wide> row(static_cast<size_t>(n));
    const char* from = static_cast<const char*>(x);
    for (int64_t i = 0; i < n_rows; ++i, from += static_cast<size_t>(n) * size_of(dtype_)) {
      convert_elements(dtype_, from, tenon_sdk::kDTypeOf<Wide>, row.data(), n);
      inner_.reduce(row.data(), 1, n, static_cast<int64_t*>(out) + i, nullptr);
    }
  }
  bool widens() const override { return false; }

 private:
  ArgReduce<Wide, Wide> inner_;
  tenon_dtype dtype_;
};

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

// Calls step(k, i, in, out, index) for each position of all lines of a strip. k counts the elements
// that precede it, and i is its index along the axis. in(j) returns the element of line j, out(j)
// the element of the first output and index(j) that of the second, if kHasIndex. make_step(lines)
// returns `step`.
template <class T, bool kHasIndex, class MakeStep>
void for_each_position(const Pool& pool, const tenon_launch& launch, size_t axis, bool is_reverse,
                       const MakeStep& make_step) {
  constexpr int64_t kLength = 32;                                     // Positions in a tile.
  const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];  // The outputs are dense.
  const int64_t n = in.sizes[axis], stride = stride_of(in, axis), out_stride = out.strides[axis];
  if (count(out) == 0) return;
  const LoopAxes out_lines = axes_without(out, axis);
  const T* const x = data<const T>(in);
  T* const y = data<T>(out);
  int64_t* const indices = kHasIndex ? data<int64_t>(launch.outputs[1]) : nullptr;
  for_each_strip(pool, in, axis, [&](int64_t first, int64_t from, int64_t step, int64_t lines) {
    auto at_position = make_step(lines);
    if (!kIsCompact && stride == 1 && out_stride == 1 && step != 1 && lines >= 8) {
      // The elements of a line are adjacent. Tiles, in which the elements of a position are
      // adjacent, let the compiler vectorise the loops over lines.
      T in_tile[kLength * kTileLines], out_tile[kLength * kTileLines];
      int64_t index_tile[kHasIndex ? kLength * kTileLines : 1];
      const int64_t to = first * n;
      for (int64_t begin = 0; begin < n; begin += kLength) {
        const int64_t length = std::min(kLength, n - begin);
        const int64_t i_begin = is_reverse ? n - begin - length : begin;
        copy_transposed_elements(x + from + i_begin, step, in_tile, kTileLines, length, lines);
        for (int64_t k = begin; k < begin + length; ++k) {
          const int64_t i = is_reverse ? n - 1 - k : k;
          const int64_t row = (i - i_begin) * kTileLines;
          at_position(
              k, i, [&](int64_t j) { return in_tile[row + j]; },
              [&](int64_t j) -> T& { return out_tile[row + j]; },
              [&](int64_t j) -> int64_t& { return index_tile[row + j]; });
        }
        copy_transposed_elements(out_tile, kTileLines, y + to + i_begin, n, lines, length);
        if constexpr (kHasIndex) {
          copy_transposed_elements(index_tile, kTileLines, indices + to + i_begin, n, lines,
                                   length);
        }
      }
      return;
    }
    int64_t to[kTogether];
    for (int64_t j = 0; j < lines; ++j) to[j] = out_lines.offset(first + j);
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = is_reverse ? n - 1 - k : k;
      at_position(
          k, i, [&](int64_t j) { return x[from + i * stride + j * step]; },
          [&](int64_t j) -> T& { return y[to[j] + i * out_stride]; },
          [&](int64_t j) -> int64_t& { return indices[to[j] + i * out_stride]; });
    }
  });
}

// Calls step(j, is_exclusive) for each line. The flag is a constant in each loop, so that the
// compiler vectorises it.
template <class Step>
void for_each_line(int64_t lines, bool is_exclusive, const Step& step) {
  const auto run = [&](bool exclusive) {
    for (int64_t j = 0; j < lines; ++j) step(j, exclusive);
  };
  if (kIsCompact) return run(is_exclusive);
  is_exclusive ? run(true) : run(false);
}

// cumsum of floats: the sum of all earlier blocks plus the sum within the element's block.
template <class T, class Wide>
void sum_scan(const Pool& pool, const tenon_launch& launch, size_t axis, bool is_exclusive,
              bool is_reverse) {
  struct Sums {
    PrefixSums<Wide> before;
    Wide total[kTogether] = {};
  };
  for_each_position<T, false>(pool, launch, axis, is_reverse, [&](int64_t lines) {
    return [lines, is_exclusive, sums = Sums()](int64_t k, int64_t, const auto& in, const auto& out,
                                                const auto&) mutable {
      for_each_line(lines, is_exclusive, [&](int64_t j, bool exclusive) {
        const Wide so_far = sums.total[j];
        sums.total[j] = so_far + static_cast<Wide>(in(j));
        out(j) = static_cast<T>(sums.before[j] + (exclusive ? so_far : sums.total[j]));
      });
      if ((k + 1) % kScanBlock == 0) sums.before.add(k / kScanBlock, sums.total, lines);
    };
  });
}

// Stores at each element join() of `identity` and all elements of its line up to that element.
template <class T, class Wide, class Join>
void scan(const Pool& pool, const tenon_launch& launch, size_t axis, bool is_exclusive,
          bool is_reverse, Wide identity, const Join& join) {
  for_each_position<T, false>(pool, launch, axis, is_reverse, [&](int64_t lines) {
    std::array<Wide, kTogether> totals;
    totals.fill(identity);
    return [=](int64_t, int64_t, const auto& in, const auto& out, const auto&) mutable {
      for_each_line(lines, is_exclusive, [&](int64_t j, bool exclusive) {
        Wide& total = totals[static_cast<size_t>(j)];
        const Wide before = total;
        total = join(before, static_cast<Wide>(in(j)));
        out(j) = static_cast<T>(exclusive ? before : total);
      });
    };
  });
}

// cummax and cummin along lines whose elements are adjacent. An element rarely replaces the largest
// one so far, so that the processor predicts the branch.
template <bool kMax, class T, class Wide>
void extreme_scan_of_lines(const Pool& pool, const tenon_launch& launch, size_t axis,
                           bool is_reverse) {
  const tenon_view& in = launch.inputs[0];
  const int64_t n = in.sizes[axis], step = is_reverse ? -1 : 1;
  if (count(in) == 0) return;
  for_each_strip(pool, in, axis, [&](int64_t first, int64_t from, int64_t next, int64_t lines) {
    for (int64_t line = 0; line < lines; ++line) {
      const int64_t begin = is_reverse ? n - 1 : 0, to = (first + line) * n + begin;
      const T* x = data<const T>(in) + from + line * next + begin;
      T* y = data<T>(launch.outputs[0]) + to;
      int64_t* index = data<int64_t>(launch.outputs[1]) + to;
      T best = *x;
      Wide wide_best = static_cast<Wide>(best);
      int64_t at = begin;
      for (int64_t k = 0; k < n; ++k, x += step, y += step, index += step) {
        const Wide candidate = static_cast<Wide>(*x);
        if (beats(candidate, wide_best, kMax)) [[unlikely]] {
          best = *x;
          wide_best = candidate;
          at = begin + k * step;
        }
        *y = best;
        *index = at;
      }
    }
  });
}

// cummax and cummin: the largest or smallest of all elements so far, and its index.
template <class T, class Wide>
void extreme_scan(const Pool& pool, const tenon_launch& launch, size_t axis, bool is_max,
                  bool is_reverse) {
  if (!kIsCompact && stride_of(launch.inputs[0], axis) == 1 &&
      launch.outputs[0].strides[axis] == 1) {
    return is_max ? extreme_scan_of_lines<true, T, Wide>(pool, launch, axis, is_reverse)
                  : extreme_scan_of_lines<false, T, Wide>(pool, launch, axis, is_reverse);
  }
  struct Extremes {
    T best[kTogether];
    int64_t at[kTogether];
  };
  for_each_position<T, true>(pool, launch, axis, is_reverse, [&](int64_t lines) {
    return [lines, is_max, found = Extremes()](int64_t k, int64_t i, const auto& in,
                                               const auto& out, const auto& index) mutable {
      for (int64_t j = 0; j < lines; ++j) {
        const T candidate = in(j);
        const bool is_better =
            k == 0 || beats(static_cast<Wide>(candidate), static_cast<Wide>(found.best[j]), is_max);
        found.best[j] = is_better ? candidate : found.best[j];
        found.at[j] = is_better ? i : found.at[j];
        out(j) = found.best[j];
        index(j) = found.at[j];
      }
    };
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
  const tenon_dtype dtype = request.input(0).dtype;
  const Pool& pool = pool_of(request);
  if constexpr (kIsCompact) {
    const tenon_dtype wide = wide_dtype<float, double, int64_t, uint64_t>(dtype);
    return dispatch<WideNumbers>(wide, [&]<class T>(Type<T>) -> Prepared {
      if (wide == dtype) {
        return {.kernel = std::make_unique<ArgReduce<T, T>>(pool, axis, is_max), .traits = kTraits};
      }
      return {.kernel = std::make_unique<WideArgReduce<T>>(pool, axis, is_max, dtype),
              .traits = kTraits};
    });
  } else {
    return dispatch<tenon_sdk::Numbers>(dtype, [&]<class T>(Type<T>) -> Prepared {
      return {.kernel = std::make_unique<ArgReduce<T, WideOf<T>>>(pool, axis, is_max),
              .traits = kTraits};
    });
  }
}

// Prepares cumsum and cumprod, which have the same attributes.
Prepared prepare_scan(const Request& request) {
  const bool is_sum = request.op() == TENON_OP_cumsum;
  const auto attrs = request.attrs<tenon_cumsum_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return for_numbers(
      request, [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
        using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t, WideOf<T>>;
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
}

// Prepares cummax and cummin, which have the same attributes.
Prepared prepare_extreme_scan(const Request& request) {
  const bool is_max = request.op() == TENON_OP_cummax;
  const auto attrs = request.attrs<tenon_cummax_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return for_numbers(request,
                     [=, pool = &pool_of(request)]<class T>(Type<T>, const tenon_launch& launch) {
                       extreme_scan<T, WideOf<T>>(*pool, launch, axis, is_max, attrs.reverse);
                     });
}

}  // namespace tenon_simd
