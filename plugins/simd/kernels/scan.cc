// cumsum, cumprod, cummax and cummin.

#include <array>
#include <type_traits>

#include "plugins/simd/kernels/along_axis.h"
#include "plugins/simd/kernels/transposed.h"
#include "plugins/simd/kernels/wide_launch.h"

namespace tenon_simd {
namespace {

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

// Lines whose elements are adjacent, in the input and in the output: line j begins at x + j * step
// and at y + j * n.
template <class T>
struct Lines {
  const T* x;
  int64_t step;
  T* y;
  int64_t n;
  bool is_reverse;

  // Computes a few lines at a time, because each element depends on the one before it.
  template <class MakeStep>
  void by_chains(int64_t lines, const MakeStep& make_step) const {
    constexpr int64_t kChains = 4;
    int64_t line = 0;
    for (; line + kChains <= lines; line += kChains) {
      run(line, make_step(std::integral_constant<int64_t, kChains>()));
    }
    for (; line < lines; ++line) run(line, make_step(std::integral_constant<int64_t, 1>()));
  }

  // Computes all lines in tiles in which the elements of a position are adjacent, so that the
  // compiler vectorises the loops over lines.
  template <class Step>
  void by_tiles(int64_t lines, Step at_position) const {
    constexpr int64_t kLength = 32;  // Positions in a tile.
    T in_tile[kLength * kTileLines], out_tile[kLength * kTileLines];
    for (int64_t begin = 0; begin < n; begin += kLength) {
      const int64_t length = std::min(kLength, n - begin);
      const int64_t i_begin = is_reverse ? n - begin - length : begin;
      copy_transposed_elements(x + i_begin, step, in_tile, kTileLines, length, lines);
      for (int64_t k = begin; k < begin + length; ++k) {
        const int64_t i = is_reverse ? n - 1 - k : k;
        const int64_t row = (i - i_begin) * kTileLines;
        at_position(
            k, i, [&](int64_t j) { return in_tile[row + j]; },
            [&](int64_t j) -> T& { return out_tile[row + j]; }, nullptr);
      }
      copy_transposed_elements(out_tile, kTileLines, y + i_begin, n, lines, length);
    }
  }

 private:
  // Computes the lines from `line` on for which `at_position` was made.
  template <class Step>
  void run(int64_t line, Step at_position) const {
    const int64_t begin = is_reverse ? n - 1 : 0, next = is_reverse ? -1 : 1;
    const T* from = x + line * step + begin;
    T* to = y + line * n + begin;
    for (int64_t k = 0; k < n; ++k, from += next, to += next) {
      at_position(
          k, begin + k * next, [&](int64_t j) { return from[j * step]; },
          [&](int64_t j) -> T& { return to[j * n]; }, nullptr);
    }
  }
};

// Calls step(k, i, in, out, index) for each position of all lines of a strip. k counts the elements
// that precede it, and i is its index along the axis. in(j) returns the element of line j, out(j)
// the element of the first output and index(j) that of the second, if kHasIndex. make_step(lines)
// returns `step` for this number of lines, which may be a constant of the type.
template <class T, bool kHasIndex, class MakeStep>
void for_each_position(const Pool& pool, const tenon_launch& launch, size_t axis, bool is_reverse,
                       const MakeStep& make_step) {
  const tenon_view &in = launch.inputs[0], &out = launch.outputs[0];  // The outputs are dense.
  const int64_t n = in.sizes[axis], stride = stride_of(in, axis), out_stride = out.strides[axis];
  if (count(out) == 0) return;
  const LoopAxes out_lines = axes_without(out, axis);
  const T* const x = data<const T>(in);
  T* const y = data<T>(out);
  int64_t* const indices = kHasIndex ? data<int64_t>(launch.outputs[1]) : nullptr;
  for_each_strip(pool, in, axis, [&](int64_t first, int64_t from, int64_t step, int64_t lines) {
    if constexpr (!kIsCompact && !kHasIndex) {
      if (stride == 1 && out_stride == 1 && step != 1) {
        const Lines<T> adjacent{x + from, step, y + first * n, n, is_reverse};
        if constexpr (sizeof(T) == 2) {
          if (lines >= 8) return adjacent.by_tiles(lines, make_step(lines));
        } else {
          return adjacent.by_chains(lines, make_step);
        }
      }
    }
    auto at_position = make_step(lines);
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
template <class Count, class Step>
void for_each_line(Count lines, bool is_exclusive, const Step& step) {
  const auto run = [&](bool exclusive) {
    if constexpr (std::is_same_v<Count, int64_t>) {
      for (int64_t j = 0; j < lines; ++j) step(j, exclusive);
    } else {
#pragma GCC unroll 4
      for (int64_t j = 0; j < Count::value; ++j) step(j, exclusive);
    }
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
  for_each_position<T, false>(pool, launch, axis, is_reverse, [&](auto lines) {
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
  for_each_position<T, false>(pool, launch, axis, is_reverse, [&](auto lines) {
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
  using Best = std::array<T, kTogether>;
  using Places = std::array<int64_t, kTogether>;
  for_each_position<T, true>(pool, launch, axis, is_reverse, [&](int64_t lines) {
    return [lines, is_max, best = Best(), places = Places()](
               int64_t k, int64_t i, const auto& in, const auto& out, const auto& index) mutable {
      for (int64_t j = 0; j < lines; ++j) {
        T& extreme = best[static_cast<size_t>(j)];
        int64_t& place = places[static_cast<size_t>(j)];
        const T candidate = in(j);
        const bool is_better =
            k == 0 || beats(static_cast<Wide>(candidate), static_cast<Wide>(extreme), is_max);
        extreme = is_better ? candidate : extreme;
        place = is_better ? i : place;
        out(j) = extreme;
        index(j) = place;
      }
    };
  });
}

}  // namespace

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
