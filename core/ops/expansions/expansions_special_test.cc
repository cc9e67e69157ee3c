// Tests inputs for which the result must be one exact value: zeros, infinities, NaN, and inputs
// with exact results.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/ops/expansions/expansion_sampling.h"

namespace tenon::expansions::testing {
namespace {

template <class T>
class SpecialValues : public ::testing::Test {};

using Formats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SpecialValues, Formats);

// The C library implements the special cases of C99, Annex F, also in the oracle's wider type.
TYPED_TEST(SpecialValues, MatchTheCLibrary) {
  using T = TypeParam;
  const std::vector<T> inputs = special_inputs<T>();
  for (const Expansion<T>& e : all_expansions<T>()) {
    for (const T x : inputs) {
      for (const T y : inputs) {
        const Wide<T> expected = e.oracle(x, y);
        const double got = e.plain(x, y).value();
        if (expected != expected) {
          EXPECT_TRUE(std::isnan(got)) << e.name << "(" << x << ", " << y << ") = " << got;
        } else if (expected == 0 || expected - expected != 0) {
          EXPECT_EQ(got, static_cast<double>(expected)) << e.name << "(" << x << ", " << y << ")";
          EXPECT_EQ(std::signbit(got), std::signbit(static_cast<double>(expected)))
              << e.name << "(" << x << ", " << y << ") = " << got;
        }
      }
    }
  }
}

TYPED_TEST(SpecialValues, Exp2AndLog2OfPowersOfTwoAreExact) {
  using V = ScalarValue<TypeParam>;
  using Limits = std::numeric_limits<TypeParam>;
  for (int k = Limits::min_exponent - Limits::digits; k < Limits::max_exponent; ++k) {
    const TypeParam power = std::ldexp(TypeParam(1), k);
    EXPECT_EQ(expansions::exp2(V(k)).value(), power);
    EXPECT_EQ(expansions::log2(V(power)).value(), k);
    EXPECT_EQ(expansions::pow(V(2), V(k)).value(), power);
    EXPECT_EQ(expansions::pow(V(power), V(1)).value(), power);
  }
}

TYPED_TEST(SpecialValues, AreExactIfTheMathematicalResultIsRepresentable) {
  using V = ScalarValue<TypeParam>;
  EXPECT_EQ(expansions::exp(V(0)).value(), 1);
  EXPECT_EQ(expansions::cos(V(0)).value(), 1);
  EXPECT_EQ(expansions::cosh(V(0)).value(), 1);
  EXPECT_EQ(expansions::sigmoid(V(0)).value(), TypeParam(0.5));
  EXPECT_EQ(expansions::rsqrt(V(4)).value(), TypeParam(0.5));
  EXPECT_EQ(expansions::pow(V(3), V(4)).value(), 81);
  EXPECT_EQ(expansions::pow(V(-3), V(3)).value(), -27);
  EXPECT_EQ(expansions::tanh(V(30)).value(), 1);
  EXPECT_EQ(expansions::erf(V(-30)).value(), -1);
}

TYPED_TEST(SpecialValues, OddFunctionsReturnTinyArgumentsUnchanged) {
  using V = ScalarValue<TypeParam>;
  const TypeParam tiny = -std::numeric_limits<TypeParam>::denorm_min();
  EXPECT_EQ(expansions::expm1(V(tiny)).value(), tiny);
  EXPECT_EQ(expansions::log1p(V(tiny)).value(), tiny);
  EXPECT_EQ(expansions::sin(V(tiny)).value(), tiny);
  EXPECT_EQ(expansions::tan(V(tiny)).value(), tiny);
  EXPECT_EQ(expansions::asin(V(tiny)).value(), tiny);
  EXPECT_EQ(expansions::atan(V(tiny)).value(), tiny);
  EXPECT_EQ(expansions::sinh(V(tiny)).value(), tiny);
  EXPECT_EQ(expansions::tanh(V(tiny)).value(), tiny);
  EXPECT_EQ(expansions::asinh(V(tiny)).value(), tiny);
  EXPECT_EQ(expansions::atanh(V(tiny)).value(), tiny);
}

TYPED_TEST(SpecialValues, Atan2IsExactOnAxesAndCorrectInAllQuadrants) {
  using V = ScalarValue<TypeParam>;
  const auto angle = [](double y, double x) { return expansions::atan2(V(y), V(x)).value(); };
  const TypeParam pi = TypeParam(3.141592653589793);
  EXPECT_EQ(angle(0.0, -1), pi);
  EXPECT_EQ(angle(-0.0, -1), -pi);
  EXPECT_EQ(angle(0.0, -0.0), pi);
  EXPECT_EQ(angle(-0.0, -kInfinity), -pi);
  EXPECT_EQ(angle(1, 0), pi / 2);
  EXPECT_EQ(angle(-kInfinity, 7), -pi / 2);
  EXPECT_FLOAT_EQ(angle(kInfinity, kInfinity), pi / 4);
  EXPECT_FLOAT_EQ(angle(-kInfinity, -kInfinity), -3 * pi / 4);
}

}  // namespace
}  // namespace tenon::expansions::testing
