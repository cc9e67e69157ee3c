// Runs kernels that are written for a few wide dtypes on narrower ones. Inputs are converted to the
// wide dtype first, and outputs are converted back at the end. The results have the same bits if
// the kernel computes in the wide dtype and converts each element of its output once.

#pragma once

#include <cstddef>
#include <functional>

#include "plugins/simd/kernels/axes.h"
#include "plugins/simd/kernels/elementwise.h"

namespace tenon_simd {

// The operands of a kernel whose first axes number rows that are computed independently. Their
// sizes along these axes are equal.
struct RowOperands {
  size_t n_axes = 0;  // Number of axes, from the first, that number rows. 0: there are no rows.
  uint32_t inputs = 0, outputs = 0;  // Bit masks of the operands.
};

// A launch whose operands of dtype `narrow` are replaced by dense operands of dtype `wide`.
class WideLaunch {
 public:
  WideLaunch(const tenon_launch& launch, tenon_dtype narrow, tenon_dtype wide);
  // Replaces only strided inputs of this dtype with rows, by dense copies.
  WideLaunch(const tenon_launch& launch, tenon_dtype dtype, const RowOperands& rows);

  const tenon_launch& launch() const { return launch_; }

  // Converts the wide outputs and stores them in the outputs of the original launch. Floats are
  // rounded, and integers wrap.
  void narrow_outputs(const tenon_launch& original) const;

 private:
  // Changes the view to a dense view of the wide dtype with new memory for its elements.
  void allocate(tenon_view& view);
  // Replaces a view by a view of a wide copy.
  void widen(tenon_view& view);

  tenon_launch launch_;
  tenon_dtype narrow_, wide_;
  std::vector<tenon_view> inputs_, outputs_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::unique_ptr<tenon_sdk::DenseStrides>> strides_;
};

// Calls run(launch) for bands of rows, in parallel, or once for the whole launch if there are no
// rows. The copies that a WideLaunch makes of a band stay in the cache.
void for_each_band(const Pool& pool, const tenon_launch& launch, const RowOperands& rows,
                   const std::function<void(const tenon_launch&)>& run);

// Whether an operand of `rows` has rows that are columns in memory.
bool has_transposed_input(const tenon_launch& launch, const RowOperands& rows);

// Converts `n` elements between dtypes of which at most one is a half type, which then converts
// from or to float32.
void convert_elements(tenon_dtype from, const void* x, tenon_dtype to, void* y, int64_t n);

// Returns the dtype of the list T that represents every value of `dtype`: the dtype itself if the
// list contains it, float32 for half types, otherwise int64. TENON_DTYPE_NONE if the list does not
// contain that dtype.
template <class... T>
tenon_dtype wide_dtype(tenon_dtype dtype) {
  const auto is_listed = [](tenon_dtype x) { return ((x == tenon_sdk::kDTypeOf<T>) || ...); };
  if (is_listed(dtype)) return dtype;
  if (is_half(dtype)) return is_listed(TENON_FLOAT32) ? TENON_FLOAT32 : TENON_DTYPE_NONE;
  return is_listed(TENON_INT64) && !is_float(dtype) ? TENON_INT64 : TENON_DTYPE_NONE;
}

// Prepares a kernel that calls function(Type<U>, launch) with the type U of the list T that
// represents every value of `dtype`. Converts operands of this dtype from and to U, in bands of
// `rows`.
template <class... T, class Function>
Prepared through_wide(tenon_dtype dtype, Function function, const Pool* pool = nullptr,
                      const RowOperands& rows = {}) {
  const tenon_dtype wide = wide_dtype<T...>(dtype);
  if (wide == TENON_DTYPE_NONE) return Prepared();
  return kernel(kTraits, [=](const tenon_launch& launch) {
    const auto run = [&](const tenon_launch& wide_launch) {
      ((wide == tenon_sdk::kDTypeOf<T> ? function(Type<T>(), wide_launch) : void()), ...);
    };
    if (wide == dtype) {
      if (kIsCompact || !has_transposed_input(launch, rows)) return run(launch);
      // Rows are copied to dense memory.
      return for_each_band(*pool, launch, rows, [&](const tenon_launch& some) {
        run(WideLaunch(some, dtype, rows).launch());
      });
    }
    const auto run_widened = [&](const tenon_launch& some) {
      const WideLaunch widened(some, dtype, wide);
      run(widened.launch());
      widened.narrow_outputs(some);
    };
    if (rows.n_axes == 0) return run_widened(launch);
    for_each_band(*pool, launch, rows, run_widened);
  });
}

// The numbers that represent all others, except that halves and small integers are narrower.
using WideNumbers = tenon_sdk::Types<float, double, int64_t, uint64_t>;

// Prepares a kernel that calls function(Type<T>, launch), where T is the type of input 0, a number.
// In compact builds, T is one of WideNumbers.
template <class Function>
Prepared for_numbers(const Request& request, Function function) {
  const tenon_dtype dtype = request.input(0).dtype;
  if constexpr (kIsCompact) {
    return through_wide<float, double, int64_t, uint64_t>(dtype, std::move(function));
  } else {
    return dispatch<tenon_sdk::Numbers>(dtype, [&]<class T>(Type<T>) {
      return kernel(kTraits, [=](const tenon_launch& launch) { function(Type<T>(), launch); });
    });
  }
}

}  // namespace tenon_simd
