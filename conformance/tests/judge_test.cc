#include "conformance/kit/judge.h"

#include <gtest/gtest.h>

#include <cmath>

#include "conformance/kit/json.h"
#include "conformance/run/all_inputs.h"

namespace tenon_kit {
namespace {

constexpr Bound kExact = {.bits = true};
constexpr Bound kThreeUlp = {.ulp = 3};
const Real kInf = INFINITY, kNan = NAN;

bool passes(Real got, Real want, const Bound& bound, tenon_dtype dtype = TENON_FLOAT32) {
  return compare({got}, dtype, {want}, bound).passed;
}

TEST(Judge, MeasuresErrorsInUlpOfTheOracle) {
  const Verdict verdict = compare({1 + 2 * real_scale(1, -23)}, TENON_FLOAT32, {1}, kThreeUlp);

  EXPECT_TRUE(verdict.passed);
  EXPECT_EQ(verdict.largest_ulp, 2);
  EXPECT_FALSE(passes(1 + 4 * real_scale(1, -23), 1, kThreeUlp));
  EXPECT_FALSE(passes(1 + 2 * real_scale(1, -10), 1, {.ulp = 1}, TENON_FLOAT16));
}

TEST(Judge, NamesTheFirstWrongElement) {
  const Verdict verdict = compare({1, 5, 7}, TENON_FLOAT32, {1, 2, 3}, kThreeUlp);

  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.message.rfind("element 1 is 5, not 2 (", 0), 0u) << verdict.message;
}

TEST(Judge, RejectsResultsWithoutTheExpectedNanOrInfinity) {
  EXPECT_TRUE(passes(kNan, -kNan, kExact));
  EXPECT_FALSE(passes(0, kNan, kThreeUlp));
  EXPECT_FALSE(passes(kNan, 0, kThreeUlp));
  EXPECT_FALSE(passes(kInf, 1, kThreeUlp));
  EXPECT_FALSE(passes(-kInf, kInf, kThreeUlp));
}

TEST(Judge, TreatsAnOverflowingOracleValueAsInfinity) {
  EXPECT_TRUE(passes(kInf, Real(1e39), kExact));
  EXPECT_FALSE(passes(greatest(TENON_FLOAT32), Real(1e39), kExact));
  EXPECT_TRUE(passes(greatest(TENON_FLOAT32), kInf, kThreeUlp));
  EXPECT_TRUE(passes(greatest(TENON_FLOAT32), kInf, {.rtol = 1e-6}));
  EXPECT_FALSE(passes(greatest(TENON_FLOAT32) / 2, kInf, {.rtol = 1e-6}));
}

TEST(Judge, DistinguishesSignedZerosIfDefined) {
  EXPECT_FALSE(passes(-Real(0), 0, kExact));
  EXPECT_TRUE(passes(-Real(0), 0, kThreeUlp));
}

TEST(Judge, DoesNotTrustOraclesThatAreMostlyZeroNanOrInfinite) {
  const auto tells = [](const Reals& oracle, tenon_dtype dtype = TENON_FLOAT32) {
    return can_reveal_fault(oracle, dtype);
  };
  EXPECT_TRUE(tells({1, 2, 3, 0}));
  EXPECT_FALSE(tells({1, 2, 0, kInf}));
  EXPECT_FALSE(tells({1, kNan, 0, 3}));
  EXPECT_FALSE(tells({}));
}

TEST(Judge, DoesNotTrustOraclesAtTheEndsOfTheRange) {
  const auto half_of = [](Real end, tenon_dtype dtype) {
    return can_reveal_fault(Reals{end, 1, end, 2}, dtype);
  };
  EXPECT_FALSE(half_of(greatest(TENON_FLOAT32), TENON_FLOAT32));
  EXPECT_FALSE(half_of(-greatest(TENON_FLOAT16), TENON_FLOAT16));
  EXPECT_FALSE(half_of(127, TENON_INT8));
  EXPECT_FALSE(half_of(-128, TENON_INT8));
  EXPECT_FALSE(half_of(255, TENON_UINT8));
  EXPECT_TRUE(half_of(127, TENON_INT16));
  EXPECT_TRUE(half_of(greatest(TENON_FLOAT16), TENON_FLOAT32));
}

TEST(Judge, RequiresTenPercentOfASparseResultToDifferFromZeroAndInputs) {
  const Reals input = {-1, -2, -3, -4, 5, -6, -7, -8, -9, 10};
  const Reals relu = {0, 0, 0, 0, 5, 0, 0, 0, 0, 10};
  const auto tells = [&](const Reals& oracle) {
    const Reals inputs[] = {{3}, input};
    return can_reveal_fault_sparse(oracle, inputs);
  };
  EXPECT_TRUE(tells(relu));
  EXPECT_FALSE(tells(Reals(10, 0)));
  EXPECT_FALSE(tells(input));
  EXPECT_FALSE(tells({}));
  Reals one_of_twenty(20, 0);
  one_of_twenty[0] = 1;
  EXPECT_FALSE(tells(one_of_twenty));
  one_of_twenty[1] = 1;
  EXPECT_TRUE(tells(one_of_twenty));
}

TEST(Judge, AcceptsAnyOfSeveralAnswers) {
  const Reals one = {1, 1}, two = {2, 2}, four = {4, NAN};
  const auto takes = [&](const Reals& got) {
    const Answer answers[] = {{.oracle = one}, {.oracle = two, .to = four}};
    return compare_answers(got, TENON_FLOAT32, answers, {.ulp = 0.5}).passed;
  };
  EXPECT_TRUE(takes({1, 2}));
  EXPECT_TRUE(takes({3, 1}));
  EXPECT_TRUE(takes({4, NAN}));
  EXPECT_FALSE(takes({5, 1}));
  EXPECT_FALSE(takes({1.5, 1}));
  EXPECT_FALSE(takes({1, 3}));
  EXPECT_FALSE(takes({NAN, 1}));
}

TEST(Judge, CountsAFlushedSubnormalAsNoError) {
  constexpr Bound kFlushes = {.ulp = 3, .flushes = true};
  const Verdict verdict = compare({0, -Real(0)}, TENON_FLOAT32, {0x1p-130, 0x1p-130}, kFlushes);

  EXPECT_TRUE(verdict.passed);
  EXPECT_EQ(verdict.largest_ulp, 0);
  // Three ulp below the first value is subnormal; three ulp below the second is normal.
  EXPECT_TRUE(passes(0, 0x1.000002p-126, kFlushes));
  EXPECT_FALSE(passes(0, 0x1.00001p-126, kFlushes));
  EXPECT_FALSE(passes(0, 0x1p-126, {.ulp = 0.5, .flushes = true}));
}

TEST(Bounds, MatchTheNumericContract) {
  const auto bound = [](const char* op, tenon_dtype dtype, Profile profile = Profile::kStrict,
                        tenon_features features = TENON_FEATURE_IEEE_DIV) {
    return bound_of(op_named(op), dtype, profile, features);
  };
  EXPECT_EQ(bound("copy", TENON_FLOAT32).ulp, 0);
  EXPECT_EQ(bound("add", TENON_FLOAT32).ulp, 0.5);
  EXPECT_EQ(bound("div", TENON_FLOAT32).ulp, 0.5);
  EXPECT_EQ(bound("div", TENON_FLOAT32, Profile::kStrict, 0).ulp, 2.5);
  EXPECT_EQ(bound("exp", TENON_FLOAT32).ulp, 3);
  EXPECT_EQ(bound("exp", TENON_FLOAT32, Profile::kRelaxed).ulp, 3);
  EXPECT_EQ(bound("exp2", TENON_FLOAT32, Profile::kRelaxed).ulp, 8);
  EXPECT_EQ(bound("sin", TENON_FLOAT32, Profile::kRelaxed).ulp, 0);
  EXPECT_EQ(bound("sin", TENON_FLOAT32, Profile::kRelaxed).atol, 0x1p-11);
  EXPECT_EQ(bound("exp", TENON_FLOAT64).ulp, 4);
  EXPECT_EQ(bound("exp", TENON_FLOAT16).ulp, 1);
  EXPECT_EQ(bound("gelu", TENON_FLOAT32).atol, 1e-6);
  EXPECT_LT(bound("gelu", TENON_FLOAT64).atol, 1e-14);
  EXPECT_TRUE(bound("sum", TENON_FLOAT32).accumulates);
}

TEST(Bounds, DependOnInputsForRelaxedFunctions) {
  const auto slack = [](const char* op, const Reals& inputs, Real oracle,
                        tenon_dtype dtype = TENON_FLOAT32, Profile profile = Profile::kRelaxed) {
    return slack_of(op_named(op), dtype, profile, inputs, oracle);
  };
  EXPECT_EQ(slack("exp", {-3}, 1), 6 * ulp(1, TENON_FLOAT32));
  EXPECT_EQ(slack("exp", {-3}, 1, TENON_FLOAT64), 0);
  EXPECT_EQ(slack("exp", {-3}, 1, TENON_FLOAT32, Profile::kStrict), 0);
  EXPECT_EQ(slack("exp2", {-3}, 1), 0);
  EXPECT_GT(slack("pow", {2, 100}, real_scale(1, 100)), slack("pow", {2, 10}, real_scale(1, 100)));
  EXPECT_EQ(slack("pow", {0, 2}, 0), 0);
}

// ---- all inputs, judged in double

PartResult judged(const std::vector<double>& got, const std::vector<double>& want,
                  const Bound& bound, tenon_dtype dtype = TENON_FLOAT32) {
  PartResult result;
  judge_part(got, want, dtype, bound, 0x3f800000, result);
  return result;
}

TEST(JudgePart, AgreesWithCompareAnswers) {
  const std::vector<double> values = {0.0,      -0.0,     1.0,  1.0 + 0x1p-23, 1.0 + 0x1p-21,
                                      -1.0,     1e38,     3e38, 1e39,          0x1p-149,
                                      0x1p-126, INFINITY, NAN,  -INFINITY};
  for (const Bound& bound : {kExact, kThreeUlp, Bound{.ulp = 0.5}, Bound{.ulp = 8, .atol = 1e-6},
                             Bound{.rtol = 1e-5, .atol = 1e-5}}) {
    for (const double got : values) {
      if (got == 1e39) continue;  // Not a float32 value.
      for (const double want : values) {
        EXPECT_EQ(judged({got}, {want}, bound).n_beyond == 0, passes(got, want, bound))
            << got << " for " << want;
      }
    }
  }
}

TEST(JudgePart, AcceptsAdditionalErrorAndAlternativeResults) {
  const std::vector<double> got = {1.5, 3}, want = {1, 3}, slack = {0.5, 0}, other = {1.5, 3};
  PartResult plain, slackened, either;
  judge_part(got, want, TENON_FLOAT32, kThreeUlp, 0, plain);
  judge_part(got, want, TENON_FLOAT32, kThreeUlp, 0, slackened, {.slack = slack});
  judge_part(got, want, TENON_FLOAT32, kThreeUlp, 0, either, {.other = other});

  EXPECT_EQ(plain.n_beyond, 1u);
  EXPECT_EQ(slackened.n_beyond, 0u);
  EXPECT_EQ(either.n_beyond, 0u);
  EXPECT_EQ(either.ulp, 0);
}

TEST(JudgePart, FindsTheLargestErrorAndItsInput) {
  const PartResult result =
      judged({1, 1 + 0x1p-23, 2 + 0x1p-20, 4}, {1, 1, 2, 4 + 0x1p-23}, kThreeUlp);

  EXPECT_EQ(result.n_inputs, 4u);
  EXPECT_EQ(result.ulp, 4);
  EXPECT_EQ(result.largest.bits, 0x3f800002u);
  EXPECT_EQ(result.allowed, 3);
  EXPECT_EQ(result.n_beyond, 1u);
  EXPECT_EQ(result.first.bits, 0x3f800002u);
}

TEST(JudgePart, RoundTripsThroughJson) {
  const PartResult result = judged({1, NAN}, {1, INFINITY}, kThreeUlp);

  const PartResult again = part_from_json(Json::parse(to_json(result).dump()));

  EXPECT_EQ(again.n_inputs, 2u);
  EXPECT_EQ(again.n_beyond, 1u);
  EXPECT_EQ(again.first.bits, 0x3f800001u);
  EXPECT_TRUE(std::isnan(again.first.got));
  EXPECT_TRUE(std::isinf(again.first.want));
  EXPECT_EQ(again.message, result.message);
}

TEST(InputParts, CoverEveryInputOnce) {
  for (const tenon_dtype dtype : {TENON_FLOAT32, TENON_FLOAT16, TENON_BFLOAT16}) {
    uint64_t next = 0;
    for (const InputPart& part : input_parts(dtype)) {
      EXPECT_EQ(part.first, next);
      next += part.count;
    }
    EXPECT_EQ(next, uint64_t{1} << (8 * facts(dtype).size));
  }
  EXPECT_THROW(input_parts(TENON_FLOAT64), std::runtime_error);
  EXPECT_EQ(input_value(0x3fc00000, TENON_FLOAT32), 1.5);
  EXPECT_EQ(input_value(0xc000, TENON_FLOAT16), -2);
}

}  // namespace
}  // namespace tenon_kit
