// sum, prod, max and min of floats, in the order that kernels/reduce.h defines.

#include "plugins/simd/kernels/reduce.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/reduce.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/kernels/elementwise.h"
#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

struct Sum {
  static constexpr double kIdentity = 0;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
  template <class T>
  static T scalar(T a, T b) {
    return a + b;
  }
};
struct Prod {
  static constexpr double kIdentity = 1;
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Mul(a, b);
  }
  template <class T>
  static T scalar(T a, T b) {
    return a * b;
  }
};
// Maximum. NaN in either operand gives NaN.
struct Max {
  static constexpr double kIdentity = -std::numeric_limits<double>::infinity();
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
#if HWY_ARCH_X86
    // Max() returns b if an operand is NaN or the operands are equal.
    return hn::IfThenElse(hn::IsNaN(a), a, hn::Max(a, b));
#else
    return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::Lt(b, a)), a, b);
#endif
  }
  template <class T>
  static T scalar(T a, T b) {
    return std::isnan(a) || b < a ? a : b;
  }
};
struct Min {
  static constexpr double kIdentity = std::numeric_limits<double>::infinity();
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
#if HWY_ARCH_X86
    // Min() returns b if an operand is NaN or the operands are equal.
    return hn::IfThenElse(hn::IsNaN(a), a, hn::Min(a, b));
#else
    return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::Lt(a, b)), a, b);
#endif
  }
  template <class T>
  static T scalar(T a, T b) {
    return std::isnan(a) || a < b ? a : b;
  }
};

// Reduces the lanes of a vector, by combining its halves until one lane is left.
template <class Op, class D>
HWY_INLINE hn::TFromD<D> combine_halves(D, hn::Vec<D> x) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    return hn::GetLane(x);
  } else {
    const hn::Half<D> half;
    return combine_halves<Op>(half, Op()(hn::LowerHalf(half, x), hn::UpperHalf(half, x)));
  }
}

// Reduces a block of contiguous elements. The last incomplete row of lanes is padded with the
// identity, which does not change the result.
template <class T, class Op>
void reduce_block(const void* from, size_t n, void* out) {
  const hn::ScalableTag<T> d;
  const Op op;
  constexpr size_t kLanes = kReduceLanes<T>;
  constexpr size_t kStep = hn::MaxLanes(d);
  constexpr size_t kVectors = kLanes / kStep;
  const T* x = static_cast<const T*>(from);
  const T identity = static_cast<T>(Op::kIdentity);

  hn::Vec<decltype(d)> accumulators[kVectors];
  for (size_t v = 0; v < kVectors; ++v) accumulators[v] = hn::Set(d, identity);
  for (; n >= kLanes; n -= kLanes, x += kLanes) {
    for (size_t v = 0; v < kVectors; ++v) {
      accumulators[v] = op(accumulators[v], hn::LoadU(d, x + v * kStep));
    }
  }
  if (n != 0) {
    HWY_ALIGN T rest[kLanes];
    std::fill_n(rest, kLanes, identity);
    std::memcpy(rest, x, n * sizeof(T));
    for (size_t v = 0; v < kVectors; ++v) {
      accumulators[v] = op(accumulators[v], hn::Load(d, rest + v * kStep));
    }
  }
  for (size_t half = kVectors / 2; half > 0; half /= 2) {
    for (size_t v = 0; v < half; ++v) {
      accumulators[v] = op(accumulators[v], accumulators[v + half]);
    }
  }
  *static_cast<T*>(out) = combine_halves<Op>(d, accumulators[0]);
}

// Reduces kVectors adjacent vectors of columns at once, so that whole cache lines of each row are
// read.
template <class T, class Op, size_t kVectors, class Load, class Store>
HWY_INLINE void reduce_strip(const T* x, const int64_t* offsets, size_t n_rows, const Load& load,
                             const Store& store) {
  const hn::ScalableTag<T> d;
  const Op op;
  constexpr size_t kStep = hn::MaxLanes(d);
  constexpr size_t kLanes = kReduceLanes<T>;
  HWY_ALIGN T partial[kLanes * kVectors * kStep];
  const auto identity = hn::Set(d, static_cast<T>(Op::kIdentity));

  const size_t used = n_rows < kLanes ? n_rows : kLanes;
  for (size_t row = 0; row < n_rows; ++row) {
    T* to = partial + row % kLanes * (kVectors * kStep);
    for (size_t v = 0; v < kVectors; ++v) {
      const auto before = row < kLanes ? identity : hn::Load(d, to + v * kStep);
      hn::Store(op(before, load(d, x + offsets[row] + v * kStep)), d, to + v * kStep);
    }
  }
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t j = 0; j < half && j + half < used; ++j) {
      T* to = partial + j * (kVectors * kStep);
      for (size_t v = 0; v < kVectors; ++v) {
        const auto right = hn::Load(d, to + half * (kVectors * kStep) + v * kStep);
        hn::Store(op(hn::Load(d, to + v * kStep), right), d, to + v * kStep);
      }
    }
  }
  for (size_t v = 0; v < kVectors; ++v) store(hn::Load(d, partial + v * kStep), d, v * kStep);
}

// Implements Reducer::columns.
template <class T, class Op>
void reduce_columns(const void* from, const int64_t* offsets, size_t n_rows, size_t width,
                    void* out) {
  constexpr size_t kStep = hn::MaxLanes(hn::ScalableTag<T>());
  const T* x = static_cast<const T*>(from);
  T* to = static_cast<T*>(out);
  const auto load = [](auto d, const T* p) HWY_ATTR { return hn::LoadU(d, p); };
  const auto store = [&](auto v, auto d, size_t at) HWY_ATTR { hn::StoreU(v, d, to + at); };
  for (; width >= 4 * kStep; width -= 4 * kStep, x += 4 * kStep, to += 4 * kStep) {
    reduce_strip<T, Op, 4>(x, offsets, n_rows, load, store);
  }
  for (; width >= kStep; width -= kStep, x += kStep, to += kStep) {
    reduce_strip<T, Op, 1>(x, offsets, n_rows, load, store);
  }
  if (width == 0) return;
  reduce_strip<T, Op, 1>(
      x, offsets, n_rows, [&](auto d, const T* p) HWY_ATTR { return load_some(d, p, width); },
      [&](auto v, auto d, size_t) HWY_ATTR { store_some(v, d, to, width); });
}

// Implements Reducer::combine.
template <class T, class Op>
void combine(void* to, const void* from, size_t n) {
  T* a = static_cast<T*>(to);
  const T* b = static_cast<const T*>(from);
  for (size_t i = 0; i < n; ++i) a[i] = Op::scalar(a[i], b[i]);
}

// Implements Reducer::fill_identity.
template <class T, class Op>
void fill_identity(void* out, size_t n) {
  std::fill_n(static_cast<T*>(out), n, static_cast<T>(Op::kIdentity));
}

#define TENON_CPU_REDUCER(op, dtype, T, Op)                                           \
  {                                                                                   \
    TENON_OP_##op, dtype, reduce_block<T, Op>, reduce_columns<T, Op>, combine<T, Op>, \
        fill_identity<T, Op>                                                          \
  }

constexpr Reducer kReducers[] = {
    TENON_CPU_REDUCER(sum, TENON_FLOAT32, float, Sum),
    TENON_CPU_REDUCER(sum, TENON_FLOAT64, double, Sum),
    TENON_CPU_REDUCER(prod, TENON_FLOAT32, float, Prod),
    TENON_CPU_REDUCER(prod, TENON_FLOAT64, double, Prod),
    TENON_CPU_REDUCER(max, TENON_FLOAT32, float, Max),
    TENON_CPU_REDUCER(max, TENON_FLOAT64, double, Max),
    TENON_CPU_REDUCER(min, TENON_FLOAT32, float, Min),
    TENON_CPU_REDUCER(min, TENON_FLOAT64, double, Min),
};

ReducerTable reducer_table() { return {kReducers, sizeof(kReducers) / sizeof(Reducer)}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

ReducerTable float_reducers() { return TENON_SIMD_CHOOSE(reducer_table()); }

}  // namespace tenon_simd
#endif
