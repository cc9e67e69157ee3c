// Operands of products: small integers, so that the order of a sum does not affect its result.

#pragma once

#include <functional>

#include "plugins/cuda/testing/cuda_testing.h"

namespace tenon_cuda::testing {

using namespace tenon_sdk::testing;

// Returns element `i` of an operand, an integer from -2 to 2.
inline int64_t element(int64_t i) { return i * 7 % 5 - 2; }

// Stores `value`, converted to Value, as element `i`.
template <class Value>
void set(Tensor& tensor, int64_t i, double value) {
  const auto typed = static_cast<Value>(value);
  std::memcpy(tensor.bytes.data() + static_cast<size_t>(i) * sizeof typed, &typed, sizeof typed);
}
// Returns a tensor of zeros.
inline Tensor zero_tensor(tenon_dtype dtype, List sizes) {
  Tensor made = f32(sizes, {});
  made.dtype = dtype;
  made.bytes.resize(static_cast<size_t>(tenon_sdk::count(sizes.size(), sizes.data())) *
                    tenon_sdk::size_of(dtype));
  return made;
}
// Returns a tensor whose element i is value(i).
inline Tensor filled(tenon_dtype dtype, const List& sizes,
                     const std::function<double(int64_t)>& value) {
  Tensor made = zero_tensor(dtype, sizes);
  const int64_t n = tenon_sdk::count(sizes.size(), sizes.data());
  for (int64_t i = 0; i < n; ++i) {
    switch (dtype) {
      case TENON_FLOAT64:
        set<double>(made, i, value(i));
        break;
      case TENON_INT32:
        set<int32_t>(made, i, value(i));
        break;
      case TENON_FLOAT32:
        set<float>(made, i, value(i));
        break;
      // float16 or bfloat16. The conversion to float16 is exact for integers from -2 to 2.
      default: {
        const double x = value(i);
        const auto single = static_cast<float>(x);
        uint32_t bits;
        std::memcpy(&bits, &single, sizeof bits);
        const uint32_t half =
            x == 0 ? 0 : (bits >> 16 & 0x8000u) | ((bits & 0x7fffffffu) - 0x38000000u) >> 13;
        const auto shown = static_cast<uint16_t>(dtype == TENON_BFLOAT16 ? bits >> 16 : half);
        std::memcpy(made.bytes.data() + 2 * i, &shown, sizeof shown);
      }
    }
  }
  return made;
}
// Returns a tensor of the integers that element() defines.
inline Tensor operand(tenon_dtype dtype, const List& sizes) {
  return filled(dtype, sizes, [](int64_t i) { return static_cast<double>(element(i)); });
}

}  // namespace tenon_cuda::testing
