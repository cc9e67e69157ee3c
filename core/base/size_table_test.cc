#include "core/base/size_table.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/shape.h"

namespace tenon {
namespace {

class Sizes : public ::testing::Test {
 protected:
  std::string text(Size size) { return table.text(size); }
  std::vector<std::string> guards() {
    std::vector<std::string> all;
    for (const SizeTest& test : table.guards()) all.push_back(table.text(test));
    return all;
  }

  SizeTable table;
  SizeTable::Use use{table};
};

using Guards = std::vector<std::string>;

TEST_F(Sizes, BehaveLikeNumbersIfKnown) {
  const Size a = 6, b = 4;

  EXPECT_TRUE(a == 6 && a != b && a > b && 4 <= b);
  EXPECT_EQ(int64_t{a + b * 2 - 1}, 13);
  EXPECT_EQ(int64_t{a / b}, 1);
  EXPECT_EQ(int64_t{a % b}, 2);
  EXPECT_EQ(int64_t{least(a, b)}, 4);
  EXPECT_EQ(int64_t{greatest(a, b)}, 6);
}

// To prove a condition, the table resolves its guards. If m was replaced by n, resolving a guard
// that contains min(m, 1000) creates min(n, 1000), which requires a proof, too. That inner proof
// must not resolve the guards again.
TEST_F(Sizes, ResolvingGuardsDoesNotRecurseInfinitely) {
  const Size n = table.symbol("n", 6), m = table.symbol("m", 6);
  const auto last = [](Size size) { return least(size, Size(1000)) - greatest(size - 3, Size(0)); };

  EXPECT_TRUE((last(n) == last(m)).hold());
  EXPECT_TRUE((n == m).hold());
  EXPECT_TRUE(identical(table.resolved(last(m)), table.resolved(last(n))));
  EXPECT_TRUE((least(n, Size(4)) == least(m, Size(4))).hold());
}

TEST_F(Sizes, HaveACanonicalForm) {
  const Size n = table.symbol("n"), m = table.symbol("m");

  EXPECT_TRUE(identical(n + n, 2 * n));
  EXPECT_TRUE(identical((n + 1) * (m - 1), n * m - n + m - 1));
  EXPECT_TRUE(identical(n - n, 0));
  EXPECT_TRUE(identical(table.symbol("n"), n));
  EXPECT_FALSE(identical(n, m));
}

TEST_F(Sizes, ArePrintedInInfixNotation) {
  const Size n = table.symbol("n"), m = table.symbol("m");

  EXPECT_EQ(text(2 * n + 1), "2*n + 1");
  EXPECT_EQ(text(n * m - 3), "n*m - 3");
  EXPECT_EQ(text((n + 1) / 2), "div(n + 1, 2)");
  EXPECT_EQ(text(n % 4), "mod(n, 4)");
  EXPECT_EQ(text(-n), "-n");
  EXPECT_EQ(to_string(Dims{n, 3, 2 * n}), "[n,3,2*n]");
}

TEST_F(Sizes, DivideExactlyIfPossible) {
  const Size n = table.symbol("n"), m = table.symbol("m");

  EXPECT_TRUE(identical(6 * n * m / (2 * n), 3 * m));
  EXPECT_TRUE(identical(6 * n % 3, 0));
  EXPECT_TRUE(identical((n + m) / (n + m), 1));
  EXPECT_EQ(text((2 * n + 1) / 2), "div(2*n + 1, 2)");
}

TEST_F(Sizes, AreNotNegative) {
  const Size n = table.symbol("n");

  EXPECT_TRUE(n >= 0);
  EXPECT_TRUE(n + 1 > 0);
  EXPECT_FALSE(2 * n + 3 == 1);
  EXPECT_TRUE(n % 4 < 4);
  EXPECT_TRUE(identical(greatest(n, 0), n));
  EXPECT_EQ(guards(), Guards{});
}

TEST_F(Sizes, ComparisonsUseTheTracedCallsSizesAndRecordGuards) {
  const Size n = table.symbol("n", 5), m = table.symbol("m", 1);

  EXPECT_FALSE(n == 1);
  EXPECT_TRUE(m == 1);
  EXPECT_TRUE(n > 3);
  EXPECT_EQ(guards(), (Guards{"n != 1", "m == 1", "3 < n"}));
}

TEST_F(Sizes, RepeatedComparisonsAddNoSecondGuard) {
  const Size n = table.symbol("n", 5);

  EXPECT_FALSE(n == 8);
  EXPECT_TRUE(n != 8);
  EXPECT_FALSE(8 == n);
  EXPECT_FALSE(n + 1 == 9);
  EXPECT_EQ(guards(), Guards{"n != 8"});
}

TEST_F(Sizes, ComparisonsAddBounds) {
  const Size n = table.symbol("n", 5);

  EXPECT_TRUE(n != 0);
  EXPECT_TRUE(n >= 1);
  EXPECT_TRUE(n > 4);
  EXPECT_FALSE(n == 3);
  EXPECT_EQ(guards(), (Guards{"n != 0", "4 < n"}));
}

TEST_F(Sizes, WithoutAValueInTheTracedCallAreAssumedLargeAndUnequal) {
  const Size n = table.symbol("n"), m = table.symbol("m");

  EXPECT_FALSE(n == 1);
  EXPECT_FALSE(n == m);
  EXPECT_TRUE(n > 2);
}

TEST_F(Sizes, HoldMakesAComparisonTrueByAGuard) {
  const Size n = table.symbol("n"), m = table.symbol("m");

  EXPECT_TRUE((n == m).hold());
  EXPECT_TRUE(n + 1 == m + 1);
  EXPECT_TRUE((m == 4).hold());
  EXPECT_EQ(int64_t{n * 2}, 8);
  EXPECT_EQ(guards(), (Guards{"n == m", "m == 4"}));
}

TEST_F(Sizes, RequireFailsIfTheTracedCallOrAProofContradictsIt) {
  const Size n = table.symbol("n", 5), m = table.symbol("m");

  EXPECT_FALSE((n == 4).hold());
  EXPECT_FALSE((m < 0).hold());
  EXPECT_EQ(guards(), Guards{});
  EXPECT_ANY_THROW(require(n == 4, "C1: {} is not 4", n));
}

TEST_F(Sizes, ConvertToTheValueInTheCallBeingTraced) {
  const Size n = table.symbol("n", 5);
  const int64_t twice = 2 * n;

  EXPECT_EQ(twice, 10);
  EXPECT_EQ(guards(), Guards{"2*n == 10"});
}

TEST_F(Sizes, CannotBeConvertedToANumberWithoutATracedCall) {
  const Size n = table.symbol("rows");
  try {
    const int64_t number = n;
    FAIL() << number;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("size rows is unknown, but a number is required"),
              std::string::npos);
  }
}

TEST_F(Sizes, CanBeEvaluatedForOtherSymbolValues) {
  const Size n = table.symbol("n", 5), m = table.symbol("m", 2);
  const Size formula = (n + 1) / m * 3 + least(n, m) - n % m;
  EXPECT_TRUE(n > m);

  const Size values[] = {8, 3};
  EXPECT_EQ(table.evaluate(formula, values), 9 / 3 * 3 + 3 - 8 % 3);
  EXPECT_TRUE(table.evaluate(table.guards()[0], values));
  const Size swapped[] = {3, 8};
  EXPECT_FALSE(table.evaluate(table.guards()[0], swapped));
  const Size others[] = {m + 1, 2};
  EXPECT_EQ(text(table.evaluate(n * 3 + m, others)), "3*m + 5");
}

TEST_F(Sizes, OfShapesAreComparedAxisByAxis) {
  const Size n = table.symbol("n", 5), m = table.symbol("m", 5);

  require(Dims{n, 3} == Dims{m, 3}, "unequal");
  EXPECT_EQ(guards(), Guards{"n == m"});
  EXPECT_FALSE(Dims{n} == (Dims{n, 1}));
}

TEST(KnownSizes, OverflowOfInt64IsAnError) {
  const Size least = std::numeric_limits<int64_t>::min(),
             most = std::numeric_limits<int64_t>::max();
  const auto code_of = [](const auto& compute) {
    try {
      (void)compute();
    } catch (const Error& error) {
      return error.code();
    }
    return Code::kOk;
  };
  EXPECT_EQ(code_of([&] { return most + 1; }), Code::kOutOfRange);
  EXPECT_EQ(code_of([&] { return least - 1; }), Code::kOutOfRange);
  EXPECT_EQ(code_of([&] { return -least; }), Code::kOutOfRange);
  EXPECT_EQ(code_of([&] { return Size(int64_t{1} << 32) * (int64_t{1} << 31); }),
            Code::kOutOfRange);
  EXPECT_EQ(code_of([&] { return most / 0; }), Code::kOutOfRange);
  EXPECT_EQ(code_of([&] { return most % 0; }), Code::kOutOfRange);
  EXPECT_EQ(code_of([&] { return least / -1; }), Code::kOutOfRange);
  EXPECT_EQ(least % -1, 0);
  EXPECT_EQ(most - 1 + 1, most);
  EXPECT_EQ(Size(-7) / 2, -3);
}

TEST(KnownSizes, NumbersInTheReservedRangeAreRejected) {
  EXPECT_ANY_THROW(Size::number(Size::kFirstFormula + 7));
  EXPECT_ANY_THROW(Size::number(Size::kFirstFormula - 5));
  EXPECT_TRUE(Size::number(std::numeric_limits<int64_t>::min()).known());
}

}  // namespace
}  // namespace tenon
