#include "plugins/simd/vectors/dense_steps.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/dense_steps.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/kernels/elementwise.h"
#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

constexpr int64_t kPartialBytes = 256;

template <class T>
class DotSum {
 public:
  static constexpr int64_t kStep = kPartialBytes / sizeof(T);

  HWY_INLINE DotSum() {
    for (size_t v = 0; v < kVectors; ++v) sums_[v] = hn::Zero(d_);
  }
  // Adds the products of elements [0, kStep) to the partial sums.
  HWY_INLINE void add(const T* a, const T* b) {
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v) {
      sums_[v] = hn::MulAdd(hn::LoadU(d_, a + v * kLanes), hn::LoadU(d_, b + v * kLanes), sums_[v]);
    }
  }
  HWY_INLINE void add_some(const T* a, const T* b, int64_t n) {
    HWY_ALIGN T left[kStep] = {}, right[kStep] = {};
    std::copy_n(a, n, left);
    std::copy_n(b, n, right);
    add(left, right);
  }
  HWY_INLINE T total() {
    for (size_t half = kVectors / 2; half > 0; half /= 2) {
      for (size_t v = 0; v < half; ++v) sums_[v] = hn::Add(sums_[v], sums_[v + half]);
    }
    HWY_ALIGN T partial[kLanes];
    hn::Store(sums_[0], d_, partial);
    for (size_t half = kLanes / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) partial[i] += partial[i + half];
    }
    return partial[0];
  }

 private:
  static constexpr hn::ScalableTag<T> d_{};
  static constexpr size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  static constexpr size_t kVectors = kStep / kLanes;
  hn::Vec<hn::ScalableTag<T>> sums_[kVectors];
};

// Returns the dot product.
template <class T>
T dot(const T* a, const T* b, int64_t n) {
  DotSum<T> sum;
  int64_t i = 0;
  for (; i + sum.kStep <= n; i += sum.kStep) sum.add(a + i, b + i);
  if (i < n) sum.add_some(a + i, b + i, n - i);
  return sum.total();
}

// Computes to[i] = element(i) for i in [0, n), one vector at a time.
template <class T, class Element>
HWY_INLINE void each(T* to, int64_t n, const Element& element) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(element([&](const T* from) HWY_ATTR { return hn::LoadU(d, from + i); }), d, to + i);
  }
  if (i == n) return;
  const size_t rest = static_cast<size_t>(n - i);
  store_some(element([&](const T* from) HWY_ATTR { return load_some(d, from + i, rest); }), d,
             to + i, rest);
}

// Computes y += a x.
template <class T>
void add_scaled(T a, const T* x, T* y, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto factor = hn::Set(d, a);
  each(y, n, [&](const auto& load) HWY_ATTR { return hn::MulAdd(factor, load(x), load(y)); });
}

// Computes row += a x, and returns the dot product of the new row and z.
template <class T>
T add_dot(T a, const T* x, T* row, const T* z, int64_t n) {
  DotSum<T> sum;
  int64_t i = 0;
  for (; i + sum.kStep <= n; i += sum.kStep) {
    add_scaled(a, x + i, row + i, sum.kStep);
    sum.add(row + i, z + i);
  }
  if (i < n) {
    add_scaled(a, x + i, row + i, n - i);
    sum.add_some(row + i, z + i, n - i);
  }
  return sum.total();
}

// Computes row += a x + b y.
template <class T>
HWY_INLINE void add_two(T a, const T* x, T b, const T* y, T* row, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto left = hn::Set(d, a), right = hn::Set(d, b);
  each(row, n, [&](const auto& load) HWY_ATTR {
    return hn::MulAdd(right, load(y), hn::MulAdd(left, load(x), load(row)));
  });
}

// Computes row += a x + b y, and returns the dot product of the new row and z.
template <class T>
T add_two_dot(T a, const T* x, T b, const T* y, T* row, const T* z, int64_t n) {
  DotSum<T> sum;
  int64_t i = 0;
  for (; i + sum.kStep <= n; i += sum.kStep) {
    add_two(a, x + i, b, y + i, row + i, sum.kStep);
    sum.add(row + i, z + i);
  }
  if (i < n) {
    add_two(a, x + i, b, y + i, row + i, n - i);
    sum.add_some(row + i, z + i, n - i);
  }
  return sum.total();
}

// Computes row += a x, and then sums += b row.
template <class T>
void add_sum(T a, const T* x, T* row, T b, T* sums, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto factor = hn::Set(d, a), weight = hn::Set(d, b);
  each(sums, n, [&](const auto& load) HWY_ATTR {
    return hn::MulAdd(weight, hn::MulAdd(factor, load(x), load(row)), load(sums));
  });
  add_scaled(a, x, row, n);
}

// Applies a sweep to a strip of kVectors vectors per row. The row that two consecutive rotations
// share stays in registers.
template <class T, size_t kVectors, class Load, class Store>
HWY_INLINE void rotate_strip(const RotationSweep& sweep, const Rotation<T>* rotations, T* strip,
                             int64_t row_stride, const Load& load, const Store& store) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t step = sweep.descends ? -row_stride : row_stride;
  // `shared`: the row that is in registers. `other`: the other row of the rotation, which the next
  // rotation shares.
  T* shared = strip + (sweep.descends ? sweep.first + 1 : sweep.first) * row_stride;
  V kept[kVectors];
  HWY_UNROLL(4)
  for (size_t v = 0; v < kVectors; ++v) kept[v] = load(d, shared, v);
  for (size_t i = 0; i < sweep.count; ++i) {
    const Rotation<T>& rotation = rotations[sweep.begin + i];
    // In a descending sweep, the roles of the two rows are exchanged, so the sine has the opposite
    // sign.
    const T sine = sweep.descends ? -rotation.s : rotation.s;
    const V c = hn::Set(d, rotation.c), s = hn::Set(d, sine);
    T* const other = shared + step;
    HWY_UNROLL(4)
    for (size_t v = 0; v < kVectors; ++v) {
      const V next = load(d, other, v);
      store(hn::MulAdd(s, next, hn::Mul(c, kept[v])), d, shared, v);
      kept[v] = hn::NegMulAdd(s, kept[v], hn::Mul(c, next));
    }
    shared = other;
  }
  HWY_UNROLL(4)
  for (size_t v = 0; v < kVectors; ++v) store(kept[v], d, shared, v);
}

// Applies the sweeps in order to rows of n elements.
template <class T>
void rotate(const RotationSweep* sweeps, size_t n_sweeps, const Rotation<T>* rotations, T* rows,
            int64_t row_stride, int64_t n) {
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  const auto load = [](auto d, const T* from, size_t v)
                        HWY_ATTR { return hn::LoadU(d, from + static_cast<int64_t>(v) * kLanes); };
  const auto store = [](auto value, auto d, T* to, size_t v)
                         HWY_ATTR { hn::StoreU(value, d, to + static_cast<int64_t>(v) * kLanes); };
  int64_t at = 0;
  const auto strips = [&](auto vectors, int64_t width) HWY_ATTR {
    for (; at + width <= n; at += width) {
      for (size_t i = 0; i < n_sweeps; ++i) {
        rotate_strip<T, decltype(vectors)::value>(sweeps[i], rotations, rows + at, row_stride, load,
                                                  store);
      }
    }
  };
  strips(std::integral_constant<size_t, 4>(), 4 * kLanes);
  strips(std::integral_constant<size_t, 1>(), kLanes);
  if (at == n) return;
  const size_t rest = static_cast<size_t>(n - at);
  for (size_t i = 0; i < n_sweeps; ++i) {
    rotate_strip<T, 1>(
        sweeps[i], rotations, rows + at, row_stride,
        [&](auto d, const T* from, size_t) HWY_ATTR { return load_some(d, from, rest); },
        [&](auto value, auto d, T* to, size_t) HWY_ATTR { store_some(value, d, to, rest); });
  }
}

template <class T>
constexpr DenseSteps<T> kSteps = {.dot = dot<T>,
                                  .add_scaled = add_scaled<T>,
                                  .add_dot = add_dot<T>,
                                  .add_two_dot = add_two_dot<T>,
                                  .add_sum = add_sum<T>,
                                  .rotate = rotate<T>};

template <class T>
const DenseSteps<T>& steps() {
  return kSteps<T>;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

template <>
const DenseSteps<float>& dense_steps<float>() {
  return TENON_SIMD_CHOOSE(steps<float>());
}
template <>
const DenseSteps<double>& dense_steps<double>() {
  return TENON_SIMD_CHOOSE(steps<double>());
}

}  // namespace tenon_simd
#endif
