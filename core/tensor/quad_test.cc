// Tests float128 bit conversions against the compiler's float128.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "core/tensor/tensor.h"

#if defined(__SIZEOF_FLOAT128__)

namespace tenon {
namespace {

using Limits = std::numeric_limits<double>;

__float128 as_quad(ElementBits bits) {
  __float128 value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

ElementBits bits_of(__float128 value) {
  ElementBits bits;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

TEST(Quad, RepresentsEveryDoubleExactly) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t bits = random();
    double x;
    std::memcpy(&x, &bits, sizeof x);
    if (x != x) continue;
    ASSERT_TRUE(as_quad(double_to_quad(x)) == static_cast<__float128>(x)) << x;
    ASSERT_EQ(quad_to_double(double_to_quad(x)), x);
  }
  for (const double x : {0.0, -0.0, 1.0, Limits::denorm_min(), Limits::max(), Limits::infinity()}) {
    EXPECT_EQ(quad_to_double(double_to_quad(x)), x);
    EXPECT_EQ(std::signbit(quad_to_double(double_to_quad(x))), std::signbit(x));
  }
  EXPECT_TRUE(std::isnan(quad_to_double(double_to_quad(NAN))));
}

TEST(Quad, RoundsToDoubleOnce) {
  std::mt19937_64 random(2);
  const auto check = [](__float128 x) {
    ASSERT_EQ(quad_to_double(bits_of(x)), static_cast<double>(x));
  };
  for (int i = 0; i < 100000; ++i) {
    check((static_cast<__float128>(random()) + static_cast<__float128>(random()) * 0x1p64) *
          0x1p-70);
  }
  const __float128 one = 1, half_ulp = 0x1p-53, little = 0x1p-112;
  check(one + half_ulp);           // A tie rounds to even.
  check(one + half_ulp + little);  // The following bits break the tie.
  check(one + 3 * half_ulp);
  check(one + 3 * half_ulp - little);
}

}  // namespace
}  // namespace tenon

#endif
