// Access to the elements of an operand in dense memory: the operand itself if it is dense,
// otherwise a copy.

#pragma once

#include "plugins/simd/kernels/axes.h"

namespace tenon_simd {

template <class T>
class DenseInput {
 public:
  explicit DenseInput(const tenon_view& view) : at_(tenon_sdk::data<const T>(view)) {
    if (view.strides_class == TENON_STRIDES_DENSE || !is_present(view)) return;
    const int64_t n = count(view);
    if (n <= 1) return;
    copy_.resize(static_cast<size_t>(n));
    pack(at_, axes_of(view), 0, n, copy_.data());
    at_ = copy_.data();
  }
  DenseInput(const DenseInput&) = delete;
  DenseInput& operator=(const DenseInput&) = delete;

  const T* data() const { return at_; }
  const T& operator[](int64_t i) const { return at_[i]; }

 private:
  const T* at_;
  std::vector<T> copy_;
};

// Returns the value of an operand without axes, of any numeric dtype.
inline double read_scalar(const tenon_view& view) {
  return dispatch<tenon_sdk::Numbers>(
      view.dtype, [&]<class T>(Type<T>) { return static_cast<double>(*data<const T>(view)); });
}

}  // namespace tenon_simd
