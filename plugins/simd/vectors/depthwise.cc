#include "plugins/simd/vectors/depthwise.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/depthwise.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/kernels/elementwise.h"
#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// Number of rows that are computed together. Their sums are independent, which hides the latency of
// the operations, and they share loads.
constexpr int64_t kRows = 4;

// Computes one vector of columns of a depthwise convolution. With kMasked, the taps may extend
// beyond the edges of the image.
template <class D, int kTaps, int kStep, bool kMasked>
class Columns {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  static constexpr int64_t kLanes = hn::MaxLanes(D());

  // `column`: the first column of the output.
  HWY_INLINE Columns(const DepthwiseImage<T>& image, int64_t column)
      : image_(image), first_(column * kStep - image.pad_columns) {
    n_ = static_cast<size_t>(std::min(kLanes, image.y_width - column));
    y_ = image.y + column;
    HWY_UNROLL(32)
    for (int k = 0; k < kTaps * kTaps; ++k) filter_[k] = hn::Set(D(), image.filter[k]);
    HWY_UNROLL(8)
    for (int j = 0; j < kTaps; ++j) {
      low_[j] = inside(first_ + j);
      high_[j] = inside(first_ + j + kLanes);
    }
  }

  // Whether all loads for output columns [column, column + kLanes) are within the image.
  static bool is_inside(const DepthwiseImage<T>& image, int64_t column) {
    const int64_t first = column * kStep - image.pad_columns;
    return first >= 0 && first + kTaps - 1 + kStep * kLanes <= image.width;
  }

  // Computes output rows [row, row + kCount).
  template <int kCount>
  HWY_INLINE void rows(int64_t row) const {
    const D d;
    V sum[kCount];
    HWY_UNROLL(4)
    for (int r = 0; r < kCount; ++r) sum[r] = hn::Zero(d);
    const int64_t top = row * kStep - image_.pad_rows;
    HWY_UNROLL(16)
    for (int i = 0; i < (kCount - 1) * kStep + kTaps; ++i) {
      const int64_t h = top + i;
      const bool exists = h >= 0 && h < image_.height;
      V x[kTaps];
      load((exists ? image_.x + h * image_.x_row : image_.zeros) + first_, x);
      HWY_UNROLL(4)
      for (int r = 0; r < kCount; ++r) {
        const int tap = i - r * kStep;
        if (tap < 0 || tap >= kTaps) continue;
        HWY_UNROLL(8)
        for (int j = 0; j < kTaps; ++j) {
          sum[r] = hn::MulAdd(filter_[tap * kTaps + j], x[j], sum[r]);
        }
      }
    }
    HWY_UNROLL(4)
    for (int r = 0; r < kCount; ++r) {
      if (image_.add_bias) sum[r] = hn::Add(hn::Set(d, image_.bias), sum[r]);
      T* const to = y_ + (row + r) * image_.y_width;
      if (!kMasked || n_ >= hn::MaxLanes(d)) {
        hn::StoreU(sum[r], d, to);
      } else {
        store_some(sum[r], d, to, n_);
      }
    }
  }

 private:
  using Mask = hn::Mask<D>;

  // Returns the lanes of a vector, loaded from column `at`, that are within the image.
  HWY_INLINE Mask inside(int64_t at) const {
    return hn::AndNot(first_lanes(-at), first_lanes(image_.width - at));
  }
  static HWY_INLINE Mask first_lanes(int64_t n) {
    return hn::FirstN(D(), static_cast<size_t>(std::clamp<int64_t>(n, 0, kLanes)));
  }
  HWY_INLINE V load_lanes(const T* from, Mask mask) const {
    if constexpr (kMasked) return hn::MaskedLoad(mask, D(), from);
    return hn::LoadU(D(), from);
  }
  // Loads the elements under each tap of a row.
  HWY_INLINE void load(const T* from, V* x) const {
    const D d;
    HWY_UNROLL(8)
    for (int j = 0; j < kTaps; j += kStep) {
      x[j] = load_lanes(from + j, low_[j]);
      if constexpr (kStep == 2) {
        const V low = x[j], high = load_lanes(from + j + kLanes, high_[j]);
        x[j] = hn::ConcatEven(d, high, low);
        if (j + 1 < kTaps) x[j + 1] = hn::ConcatOdd(d, high, low);
      }
    }
  }

  const DepthwiseImage<T>& image_;
  const int64_t first_;
  size_t n_;
  T* y_;
  V filter_[kTaps * kTaps];
  Mask low_[kTaps], high_[kTaps];
};

// Computes all rows of some columns. If the number of rows is not a multiple of kRows, the last
// rows are computed together with some rows before, which are stored twice.
template <class Some>
void all_rows(const Some& columns, int64_t n) {
  if (n < kRows) {
    for (int64_t row = 0; row < n; ++row) columns.template rows<1>(row);
    return;
  }
  for (int64_t row = 0; row < n; row += kRows) {
    columns.template rows<kRows>(std::min(row, n - kRows));
  }
}

template <class D, int kTaps, int kStep>
void convolve(const DepthwiseImage<hn::TFromD<D>>& image) {
  using Inside = Columns<D, kTaps, kStep, false>;
  using AtEdge = Columns<D, kTaps, kStep, true>;
  constexpr int64_t kLanes = Inside::kLanes;
  // An image of one short vector has few columns that are not at an edge.
  constexpr bool kIsLong = std::is_same_v<D, hn::ScalableTag<hn::TFromD<D>>>;
  for (int64_t next = 0; next < image.y_width; next += kLanes) {
    // The last columns are computed together with some columns before.
    const int64_t column = std::max<int64_t>(0, std::min(next, image.y_width - kLanes));
    if constexpr (kIsLong) {
      if (Inside::is_inside(image, column)) {
        all_rows(Inside(image, column), image.y_height);
        continue;
      }
    }
    all_rows(AtEdge(image, column), image.y_height);
  }
}

template <class T, int kTaps, int kStep>
void convolve_taps(const DepthwiseImage<T>& image) {
  // On some processors, vectors of 32 bytes take half the time of vectors of 64 bytes.
  using Short = hn::CappedTag<T, 8>;
  if (image.y_width <= static_cast<int64_t>(hn::MaxLanes(Short()))) {
    return convolve<Short, kTaps, kStep>(image);
  }
  convolve<hn::ScalableTag<T>, kTaps, kStep>(image);
}

template <class T>
void convolve_image(const DepthwiseImage<T>& image) {
  if (image.taps == 3) {
    image.step == 1 ? convolve_taps<T, 3, 1>(image) : convolve_taps<T, 3, 2>(image);
  } else {
    image.step == 1 ? convolve_taps<T, 5, 1>(image) : convolve_taps<T, 5, 2>(image);
  }
}
#else
template <class T>
void convolve_image(const DepthwiseImage<T>&) {}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

void convolve_depthwise(const DepthwiseImage<float>& image) {
  TENON_SIMD_CHOOSE(convolve_image<float>)(image);
}
void convolve_depthwise(const DepthwiseImage<double>& image) {
  TENON_SIMD_CHOOSE(convolve_image<double>)(image);
}

}  // namespace tenon_simd
#endif
