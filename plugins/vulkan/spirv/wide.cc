#include "plugins/vulkan/spirv/wide.h"

namespace tenon_vulkan::spirv {

// Divides unsigned integers bit by bit; the divisor must not be zero.
Divided<Wide> divide(Wide a, Wide b) {
  Code& code = *a.low.code;
  const U32 zero = code.u32(0);
  // Each step shifts a bit of `a` from `digits` into `rest`, and a bit of the quotient into
  // `digits`.
  const IntVar<Wide> digits_left(a), rest_left(wide(code, 0));
  code.for_(zero, code.u32(64), code.u32(1), [&](U32) {
    const Wide digits = digits_left.get(), before = rest_left.get();
    // If the shifted remainder has 65 bits, it exceeds every divisor.
    const Bool overflows = is_negative(before);
    const Wide rest = {before.low << 1 | digits.high >> 31, before.high << 1 | before.low >> 31};
    const Bool fits = overflows | !(rest < b);
    rest_left.set(select(fits, rest - b, rest));
    digits_left.set({digits.low << 1 | to_u32(fits), digits.high << 1 | digits.low >> 31});
  });
  return {digits_left.get(), rest_left.get()};
}

}  // namespace tenon_vulkan::spirv
