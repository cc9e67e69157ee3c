#include "plugins/vulkan/spirv/wide.h"

namespace tenon_vulkan::spirv {

Quotient divide(Wide a, Wide b) {
  Code& code = *a.low.code;
  const U32 zero = code.u32(0);
  // What is left of `a` moves up into `rest`, and digits of the quotient move in behind it.
  const Var<U32> low = code.var(a.low), high = code.var(a.high);
  const Var<U32> rest_low = code.var(zero), rest_high = code.var(zero);
  code.for_(zero, code.u32(64), code.u32(1), [&](U32) {
    const Wide digits = {low.get(), high.get()};
    const Wide before = {rest_low.get(), rest_high.get()};
    // A rest that has 65 bits is above every divisor.
    const Bool overflows = is_negative(before);
    const Wide rest = {before.low << 1 | digits.high >> 31, before.high << 1 | before.low >> 31};
    const Bool fits = overflows | !(rest < b);
    const Wide less = rest - b;
    rest_low.set(select(fits, less.low, rest.low));
    rest_high.set(select(fits, less.high, rest.high));
    low.set(digits.low << 1 | to_u32(fits));
    high.set(digits.high << 1 | digits.low >> 31);
  });
  return {{low.get(), high.get()}, {rest_low.get(), rest_high.get()}};
}

}  // namespace tenon_vulkan::spirv
