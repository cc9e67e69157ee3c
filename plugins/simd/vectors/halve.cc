// max_pool with 2 x 2 windows and stride 2, with indices. This is by far the most common pooling.

#include "plugins/simd/vectors/halve.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/halve.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/kernels/elementwise.h"
#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

// Whether `candidate` replaces the maximum so far. The maximum is the first NaN or, without NaN,
// the first of the largest elements.
template <class V>
HWY_INLINE auto wins(V candidate, V best) {
  return hn::And(hn::Eq(best, best), hn::Not(hn::Le(candidate, best)));
}

struct Rows {
  const float* top;
  const float* bottom;
  int64_t n, first, width;
  float* y;
  int64_t* indices;
};

// Processes vectors of at most kLanes windows. The last vector ends with the row and may overlap
// the previous vector.
template <size_t kLanes>
void max_pool_2x2_vectors(const Rows& rows) {
  const hn::CappedTag<float, kLanes> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Half<decltype(di)> di_half;
  const hn::Repartition<int64_t, decltype(di)> d64;
  constexpr int64_t kStep = hn::MaxLanes(d);
  const auto twice_lane = hn::ShiftLeft<1>(hn::Iota(di, 0));
  const auto w = static_cast<int32_t>(rows.width);

  for (int64_t next = 0; next < rows.n; next += kStep) {
    const int64_t i = next + kStep <= rows.n ? next : rows.n - kStep;
    const float *top = rows.top + 2 * i, *bottom = rows.bottom + 2 * i;
    const auto top0 = hn::LoadU(d, top), top1 = hn::LoadU(d, top + kStep);
    const auto low0 = hn::LoadU(d, bottom), low1 = hn::LoadU(d, bottom + kStep);
    auto best = hn::ConcatEven(d, top1, top0);
    auto at = twice_lane;
    const auto take = [&](auto candidate, int32_t offset) HWY_ATTR {
      const auto mask = wins(candidate, best);
      best = hn::IfThenElse(mask, candidate, best);
      at = hn::IfThenElse(hn::RebindMask(di, mask), hn::Add(twice_lane, hn::Set(di, offset)), at);
    };
    take(hn::ConcatOdd(d, top1, top0), 1);
    take(hn::ConcatEven(d, low1, low0), w);
    take(hn::ConcatOdd(d, low1, low0), w + 1);
    hn::StoreU(best, d, rows.y + i);
    if (rows.indices == nullptr) continue;
    const auto base = hn::Set(d64, rows.first + 2 * i);
    int64_t* const to = rows.indices + i;
    hn::StoreU(hn::Add(base, hn::PromoteTo(d64, hn::LowerHalf(di_half, at))), d64, to);
    hn::StoreU(hn::Add(base, hn::PromoteTo(d64, hn::UpperHalf(di_half, at))), d64, to + kStep / 2);
  }
}

#if HWY_TARGET == HWY_AVX3
// Processes rows of at most 16 windows, each as one masked vector. `rows`: the first row.
void max_pool_2x2_masked(const Rows& rows, int64_t x_row, int64_t n_rows) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Half<decltype(di)> di_half;
  const hn::Repartition<int64_t, decltype(di)> d64;
  const auto n = static_cast<size_t>(rows.n), rest = n < 8 ? 0 : n - 8;
  const auto mask0 = hn::FirstN(d, 2 * n), mask1 = hn::FirstN(d, 2 * rest);
  const auto y_mask = hn::FirstN(d, n);
  const auto index_mask0 = hn::FirstN(d64, n), index_mask1 = hn::FirstN(d64, rest);
  const auto lane = hn::ShiftLeft<1>(hn::Iota(di, 0)), right = hn::Add(lane, hn::Set(di, 1));
  const auto below = hn::Add(lane, hn::Set(di, static_cast<int32_t>(rows.width)));
  const auto last = hn::Add(right, hn::Set(di, static_cast<int32_t>(rows.width)));
  const float *top = rows.top, *bottom = rows.bottom;
  float* y = rows.y;
  int64_t* indices = rows.indices;
  int64_t first = rows.first;
  for (int64_t i = 0; i < n_rows; ++i) {
    const auto top0 = hn::MaskedLoad(mask0, d, top);
    const auto top1 = hn::MaskedLoad(mask1, d, top + 16);
    const auto low0 = hn::MaskedLoad(mask0, d, bottom);
    const auto low1 = hn::MaskedLoad(mask1, d, bottom + 16);
    auto best = hn::ConcatEven(d, top1, top0);
    auto at = lane;
    const auto take = [&](auto candidate, auto index) HWY_ATTR {
      const auto mask = wins(candidate, best);
      best = hn::IfThenElse(mask, candidate, best);
      at = hn::IfThenElse(hn::RebindMask(di, mask), index, at);
    };
    take(hn::ConcatOdd(d, top1, top0), right);
    take(hn::ConcatEven(d, low1, low0), below);
    take(hn::ConcatOdd(d, low1, low0), last);
    hn::BlendedStore(best, y_mask, d, y);
    top += 2 * x_row;
    bottom += 2 * x_row;
    y += n;
    if (indices == nullptr) continue;
    const auto base = hn::Set(d64, first);
    hn::BlendedStore(hn::Add(base, hn::PromoteTo(d64, hn::LowerHalf(di_half, at))), index_mask0,
                     d64, indices);
    hn::BlendedStore(hn::Add(base, hn::PromoteTo(d64, hn::UpperHalf(di_half, at))), index_mask1,
                     d64, indices + 8);
    first += 2 * rows.width;
    indices += n;
  }
}
#else
// Processes one window at a time.
void max_pool_2x2_windows(const Rows& rows) {
  for (int64_t i = 0; i < rows.n; ++i) {
    const float *top = rows.top + 2 * i, *bottom = rows.bottom + 2 * i;
    const float window[] = {top[0], top[1], bottom[0], bottom[1]};
    const int64_t offsets[] = {0, 1, rows.width, rows.width + 1};
    int best = 0;
    for (int j = 1; j < 4; ++j) {
      const float a = window[best], b = window[j];
      best = a == a && (a < b || b != b) ? j : best;
    }
    rows.y[i] = window[best];
    if (rows.indices != nullptr) rows.indices[i] = rows.first + 2 * i + offsets[best];
  }
}
#endif

// Implements max_pool_2x2() for one instruction set.
void max_pool_2x2_of(const float* x, int64_t x_row, int64_t n_rows, int64_t n, int64_t first,
                     int64_t width, float* y, int64_t* indices) {
#if HWY_TARGET == HWY_AVX3
  if (n < 16)
    return max_pool_2x2_masked({x, x + x_row, n, first, width, y, indices}, x_row, n_rows);
#endif
  for (int64_t i = 0; i < n_rows; ++i) {
    const float* const top = x + 2 * i * x_row;
    const Rows rows{.top = top,
                    .bottom = top + x_row,
                    .n = n,
                    .first = first + 2 * i * width,
                    .width = width,
                    .y = y + i * n,
                    .indices = indices == nullptr ? nullptr : indices + i * n};
#if HWY_TARGET == HWY_AVX3
    max_pool_2x2_vectors<16>(rows);
#else
    if (n >= 16) {
      max_pool_2x2_vectors<16>(rows);
    } else if (n >= 8) {
      max_pool_2x2_vectors<8>(rows);
    } else if (n >= 4) {
      max_pool_2x2_vectors<4>(rows);
    } else {
      max_pool_2x2_windows(rows);
    }
#endif
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

void max_pool_2x2(const float* x, int64_t x_row, int64_t n_rows, int64_t n, int64_t first,
                  int64_t width, float* y, int64_t* indices) {
  TENON_SIMD_CHOOSE(max_pool_2x2_of)(x, x_row, n_rows, n, first, width, y, indices);
}

}  // namespace tenon_simd
#endif
