// Tests that the kit's own binary128 functions agree with libquadmath and with their definitions.

#include <gtest/gtest.h>

#include <random>

#include "conformance/kit/dtypes.h"
#include "conformance/kit/fill.h"

namespace tenon_kit {
namespace {

// Special values, and random values with every exponent in or next to the range of the dtype.
Reals samples(tenon_dtype dtype) {
  Reals all = special_values(dtype);
  const Reals powers = powers_of_two_and_neighbours(dtype), edges = threshold_values(dtype);
  all.insert(all.end(), powers.begin(), powers.end());
  all.insert(all.end(), edges.begin(), edges.end());
  const DTypeFacts& f = facts(dtype);
  std::mt19937_64 engine(1);
  for (int e = f.least_exponent - f.precision - 2; e <= f.greatest_exponent + 2; ++e) {
    const Real drawn = 1 + real_scale(static_cast<Real>(engine()), -64);
    // The last sample is half way between two values of the dtype.
    for (const Real x : {drawn, Real(1), Real(1.5), 1 + real_scale(1, -f.precision)}) {
      all.push_back(real_scale(x, e));
      all.push_back(-all.back());
    }
  }
  return all;
}

// Rounds as IEEE 754 defines: to the nearest multiple of the unit in the last place, ties to even.
Real by_definition(Real x, tenon_dtype dtype) {
  if (!real_is_finite(x) || x == 0) return x;
  const DTypeFacts& f = facts(dtype);
  const int exponent = std::max(f.least_exponent, real_exponent(x));
  const Real unit = real_scale(1, exponent - f.precision + 1);
  const Real nearest = real_rint(x / unit) * unit;
  return real_abs(nearest) <= greatest(dtype) ? nearest : nearest * INFINITY;
}

bool is_same(Real x, Real y) {
  return real_is_nan(x) ? real_is_nan(y) : x == y && real_sign(x) == real_sign(y);
}

TEST(Real, RoundsAsIeee754Defines) {
  for (const tenon_dtype dtype : {TENON_FLOAT16, TENON_BFLOAT16, TENON_FLOAT32, TENON_FLOAT64}) {
    for (const Real x : samples(dtype)) {
      EXPECT_TRUE(is_same(rounded(x, dtype), by_definition(x, dtype)))
          << text(x) << " as " << name_of(dtype);
    }
  }
}

TEST(Real, PowerOfTwoEqualsOneScaledByItsExponent) {
  for (int e = -16000; e <= 16000; ++e) EXPECT_TRUE(real_power(e) == real_scale(1, e)) << e;
}

#if defined(TENON_KIT_QUADMATH)
TEST(Real, DecodesBitsAsLibquadmathDoes) {
  Reals all = samples(TENON_FLOAT64);
  for (const int e : {-16494, -16450, -16382, -16381, 16383}) {
    all.push_back(real_scale(1, e));
    all.push_back(-real_scale(1.75, e));
  }
  for (const Real x : all) {
    EXPECT_EQ(real_is_nan(x), isnanq(x) != 0) << text(x);
    EXPECT_EQ(real_is_inf(x), isinfq(x) != 0) << text(x);
    EXPECT_EQ(real_is_finite(x), finiteq(x) != 0) << text(x);
    EXPECT_EQ(real_sign(x), signbitq(x) != 0) << text(x);
    EXPECT_EQ(real_exponent(x), ilogbq(x)) << text(x);
    EXPECT_TRUE(is_same(real_abs(x), fabsq(x))) << text(x);
  }
}
#endif

}  // namespace
}  // namespace tenon_kit
