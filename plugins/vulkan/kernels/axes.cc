#include "plugins/vulkan/kernels/axes.h"

namespace tenon_vulkan {

using spirv::U32;
using spirv::Var;

std::vector<U32> AxesCode::places(U32 number) const {
  const U32 zero = code_.u32(0);
  std::vector<Var<U32>> sums;
  for (uint32_t k = 0; k < n_operands_; ++k) sums.push_back(code_.var(zero));
  const Var<U32> rest = code_.var(number);
  code_.for_(zero, rank_, code_.u32(1), [&](U32 axis) {
    const U32 size = code_.parameter(sizes_ + axis);
    const U32 before = rest.get();
    const U32 quotient = before / size;
    const U32 coordinate = before - quotient * size;
    rest.set(quotient);
    for (uint32_t k = 0; k < n_operands_; ++k) {
      const U32 stride = code_.parameter(sizes_ + axis + rank_ * (k + 1));
      sums[k].set(sums[k].get() + coordinate * stride);
    }
  });
  std::vector<U32> places;
  for (const Var<U32>& sum : sums) places.push_back(sum.get());
  return places;
}

}  // namespace tenon_vulkan
