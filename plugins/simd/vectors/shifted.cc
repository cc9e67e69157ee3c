#include "plugins/simd/vectors/shifted.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/shifted.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/kernels/elementwise.h"
#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

// Whether `element` replaces the maximum so far. The maximum is the first NaN or, without NaN, the
// first of the largest elements.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Mask<D> wins(D, V element, V before) {
  return hn::And(hn::Eq(before, before), hn::Not(hn::Le(element, before)));
}

// Combines the elements under the taps of a window: multiplies the element under tap k by filter[k]
// and adds the product.
struct AddProducts {
  template <class D, class T, class V = hn::Vec<D>>
  static HWY_INLINE V first(D d, const ShiftedRows<T>&, const T*) {
    return hn::Zero(d);
  }
  template <class D, class T, class V = hn::Vec<D>>
  static HWY_INLINE V next(D d, const ShiftedRows<T>& args, int64_t k, V element, V before) {
    return hn::MulAdd(hn::Set(d, args.filter[k]), element, before);
  }
};

struct Largest {
  template <class D, class T, class V = hn::Vec<D>>
  static HWY_INLINE V first(D d, const ShiftedRows<T>& args, const T* from) {
    return hn::LoadU(d, from + args.offsets[0]);
  }
  template <class D, class T, class V = hn::Vec<D>>
  static HWY_INLINE V next(D d, const ShiftedRows<T>&, int64_t, V element, V before) {
    return hn::IfThenElse(wins(d, element, before), element, before);
  }
};

// Computes kVectors vectors of results. The vectors are independent, which hides the latency of the
// operations. They belong either to one row, or to several rows (one vector of each).
template <class T, class Operation, size_t kVectors>
HWY_INLINE void compute_vectors(const ShiftedRows<T>& args, const T* from, int64_t from_step, T* y,
                                int64_t y_step, size_t n) {
  const hn::ScalableTag<T> d;
  hn::Vec<decltype(d)> result[kVectors];
  HWY_UNROLL(16)
  for (size_t v = 0; v < kVectors; ++v) {
    result[v] = Operation::first(d, args, from + static_cast<int64_t>(v) * from_step);
  }
  for (int64_t k = 0; k < args.k; ++k) {
    const T* const at = from + args.offsets[k];
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v) {
      const auto element = hn::LoadU(d, at + static_cast<int64_t>(v) * from_step);
      result[v] = Operation::next(d, args, k, element, result[v]);
    }
  }
  HWY_UNROLL(16)
  for (size_t v = 0; v < kVectors; ++v) {
    if (args.add_bias) result[v] = hn::Add(hn::Set(d, args.bias), result[v]);
    T* const to = y + static_cast<int64_t>(v) * y_step;
    if (n >= hn::MaxLanes(d)) {
      hn::StoreU(result[v], d, to);
    } else {
      store_some(result[v], d, to, n);
    }
  }
}

// Computes `n` maxima, at most one vector of them, and the index of the tap of each maximum.
template <class T>
HWY_INLINE void compute_winners(const ShiftedRows<T>& args, const T* from, T* y, T* winners,
                                size_t n) {
  const hn::ScalableTag<T> d;
  auto best = hn::LoadU(d, from + args.offsets[0]);
  auto winner = hn::Zero(d);
  for (int64_t k = 1; k < args.k; ++k) {
    const auto element = hn::LoadU(d, from + args.offsets[k]);
    const auto is_better = wins(d, element, best);
    best = hn::IfThenElse(is_better, element, best);
    winner = hn::IfThenElse(is_better, hn::Set(d, static_cast<T>(k)), winner);
  }
  if (n >= hn::MaxLanes(d)) {
    hn::StoreU(best, d, y);
    hn::StoreU(winner, d, winners);
  } else {
    store_some(best, d, y, n);
    store_some(winner, d, winners, n);
  }
}

// Computes all rows of maxima, and the index of the tap of each maximum.
template <class T>
void winners_of_rows(const ShiftedRows<T>& args) {
  constexpr int64_t kStep = hn::MaxLanes(hn::ScalableTag<T>());
  for (int64_t i = 0; i < args.rows; ++i) {
    for (int64_t j = 0; j < args.n; j += kStep) {
      const int64_t at = i * args.n + j;
      compute_winners(args, args.from + i * args.from_row + j, args.y + at, args.winners + at,
                      static_cast<size_t>(args.n - j));
    }
  }
}

// Computes all rows of results by Operation. Long rows are processed four vectors at a time; short
// rows are processed four rows at a time.
template <class T, class Operation>
void rows(const ShiftedRows<T>& args) {
  constexpr int64_t kStep = hn::MaxLanes(hn::ScalableTag<T>());
  const bool is_long = args.n >= 4 * kStep;
  for (int64_t i = 0; i < args.rows;) {
    const T* const from = args.from + i * args.from_row;
    T* const y = args.y + i * args.n;
    const bool joins_rows = !is_long && i + 4 <= args.rows;
    int64_t j = 0;
    for (; is_long && j + 4 * kStep <= args.n; j += 4 * kStep) {
      compute_vectors<T, Operation, 4>(args, from + j, kStep, y + j, kStep, kStep);
    }
    for (; j < args.n; j += kStep) {
      const size_t n = static_cast<size_t>(args.n - j);
      if (joins_rows) {
        compute_vectors<T, Operation, 4>(args, from + j, args.from_row, y + j, args.n, n);
      } else {
        compute_vectors<T, Operation, 1>(args, from + j, 0, y + j, 0, n);
      }
    }
    i += joins_rows ? 4 : 1;
  }
}

template <class T>
void add_rows(const ShiftedRows<T>& args) {
  rows<T, AddProducts>(args);
}
template <class T>
void largest_of_rows(const ShiftedRows<T>& args) {
  if (args.winners != nullptr) return winners_of_rows(args);
  rows<T, Largest>(args);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

void add_shifted_rows(const ShiftedRows<float>& args) { TENON_SIMD_CHOOSE(add_rows<float>)(args); }
void add_shifted_rows(const ShiftedRows<double>& args) {
  TENON_SIMD_CHOOSE(add_rows<double>)(args);
}
void largest_of_shifted_rows(const ShiftedRows<float>& args) {
  TENON_SIMD_CHOOSE(largest_of_rows<float>)(args);
}
void largest_of_shifted_rows(const ShiftedRows<double>& args) {
  TENON_SIMD_CHOOSE(largest_of_rows<double>)(args);
}

}  // namespace tenon_simd
#endif
