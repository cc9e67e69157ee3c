// Tests which results other than the oracle's are valid, depending on the features that a device
// declares.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "conformance/checks/valid_results.h"
#include "conformance/tests/spoiled_ref.h"

namespace tenon_kit {
namespace {

const Session& oracle() {
  static const Session session = session_of_oracle();
  return session;
}

Environment environment(tenon_features features, Profile profile = Profile::kStrict) {
  return {.device = oracle(), .oracle = oracle(), .profile = profile, .features = features};
}

Problem problem_of(const char* op, const std::vector<Reals>& inputs,
                   tenon_dtype dtype = TENON_FLOAT32) {
  Problem problem;
  problem.op = &op_named(op);
  for (const Reals& values : inputs) {
    Operand x;
    x.dtype = dtype;
    x.shape = {static_cast<int64_t>(values.size())};
    x.fill.values = values;
    problem.inputs.push_back(std::move(x));
  }
  return problem;
}

// Whether the kit accepts these values as the problem's result.
bool passes(const Environment& env, const Problem& problem, const Reals& got) {
  const tenon_dtype dtype = oracle().infer(problem).at(0).first;
  const Result result = {dtype, {static_cast<int64_t>(got.size())}, encode(got, dtype)};
  return judge_values(env, problem, {result}).passed;
}

// ---- fma

constexpr double kTiny = 0x1p-24;  // Rounding error of the product in cancelling().

Problem cancelling() { return problem_of("fma", {{1 + 0x1p-12}, {1 + 0x1p-12}, {-1 - 0x1p-11}}); }

TEST(Fma, MustRoundOnceOnDevicesThatDeclareIt) {
  const Environment env = environment(TENON_FEATURE_IEEE_FMA);

  EXPECT_TRUE(passes(env, cancelling(), {kTiny}));
  EXPECT_FALSE(passes(env, cancelling(), {0}));
  EXPECT_FALSE(passes(env, cancelling(), {kTiny / 2}));
}

TEST(Fma, AcceptsResultsBetweenOneAndTwoRoundings) {
  const Environment env = environment(0);

  for (const double got : {kTiny, kTiny / 2, 0.0}) EXPECT_TRUE(passes(env, cancelling(), {got}));
  for (const double got : {2 * kTiny, -0x1p-60, double(NAN)}) {
    EXPECT_FALSE(passes(env, cancelling(), {got})) << got;
  }
}

TEST(Fma, AcceptsOverflowOfTheProductWithoutIeeeFma) {
  const Problem problem = problem_of("fma", {{0x1p127}, {2}, {-0x1p127}});

  EXPECT_TRUE(passes(environment(0), problem, {0x1p127}));
  EXPECT_TRUE(passes(environment(0), problem, {INFINITY}));
  EXPECT_FALSE(passes(environment(0), problem, {0x1p126}));
  EXPECT_FALSE(passes(environment(TENON_FEATURE_IEEE_FMA), problem, {INFINITY}));
}

TEST(Fma, RoundsHalfTypesToTheirOwnPrecision) {
  // The exact value is 2^-10 + 2^-20; the product alone is rounded to 1 + 2^-9.
  const Problem problem =
      problem_of("fma", {{1 + 0x1p-10}, {1 + 0x1p-10}, {-1 - 0x1p-10}}, TENON_FLOAT16);

  EXPECT_TRUE(passes(environment(0), problem, {0x1p-10}));
  EXPECT_TRUE(passes(environment(0), problem, {0x1p-10 + 0x1p-20}));
  EXPECT_FALSE(passes(environment(0), problem, {0x1p-10 + 0x1p-18}));
  EXPECT_FALSE(passes(environment(TENON_FEATURE_IEEE_FMA), problem, {0x1p-10}));
}

// ---- flushing devices

constexpr tenon_features kFlush = TENON_FEATURE_FLUSH_TO_ZERO;

TEST(Flushing, AllowsZerosForSubnormalResults) {
  const Problem problem = problem_of("mul", {{0x1p-100}, {-0x1p-40}});

  for (const double zero : {0.0, -0.0}) {
    EXPECT_TRUE(passes(environment(kFlush), problem, {zero}));
    EXPECT_FALSE(passes(environment(0), problem, {zero}));
  }
  EXPECT_FALSE(passes(environment(kFlush), problem, {-0x1p-139}));
  EXPECT_TRUE(passes(environment(kFlush), problem, {-0x1p-140}));
}

TEST(Flushing, DoesNotAllowZerosForNormalResults) {
  EXPECT_FALSE(passes(environment(kFlush), problem_of("mul", {{0x1p-63}, {0x1p-63}}), {0}));
  EXPECT_FALSE(passes(environment(kFlush), problem_of("add", {{1}, {-1}}), {0x1p-149}));
}

TEST(Flushing, AllowsZerosForSubnormalInputs) {
  const Problem product = problem_of("mul", {{0x1p-130}, {0x1p100}});
  EXPECT_TRUE(passes(environment(kFlush), product, {0}));
  EXPECT_FALSE(passes(environment(0), product, {0}));
  EXPECT_FALSE(passes(environment(kFlush), product, {0x1p-31}));

  const Problem inverse = problem_of("reciprocal", {{-0x1p-127}});
  EXPECT_TRUE(passes(environment(kFlush), inverse, {-INFINITY}));
  EXPECT_FALSE(passes(environment(kFlush), inverse, {INFINITY}));
  EXPECT_FALSE(passes(environment(0), inverse, {-INFINITY}));

  EXPECT_TRUE(passes(environment(kFlush), problem_of("equal", {{0x1p-130}, {0}}), {1}));
  EXPECT_FALSE(passes(environment(0), problem_of("equal", {{0x1p-130}, {0}}), {1}));
}

TEST(Flushing, DoesNotAllowZerosInDataMovement) {
  EXPECT_FALSE(passes(environment(kFlush), problem_of("copy", {{0x1p-130}}), {0}));
  EXPECT_FALSE(passes(environment(kFlush), problem_of("concat", {{0x1p-130}, {1}}), {0, 1}));
  EXPECT_FALSE(passes(environment(kFlush), problem_of("meshgrid", {{0x1p-130}}), {0}));
}

TEST(Flushing, AllowsAZeroProductInAnFma) {
  const Problem problem = problem_of("fma", {{0x1.8p-65}, {-0x1.8p-65}, {0x1.4p-126}});

  EXPECT_TRUE(passes(environment(kFlush), problem, {0x1.4p-126}));
  EXPECT_FALSE(passes(environment(0), problem, {0x1.4p-126}));
  EXPECT_FALSE(passes(environment(kFlush | TENON_FEATURE_IEEE_FMA), problem, {0x1.4p-126}));
}

// Flushes all floats below a limit to zero.
template <int exponent>
void flush_below(const tenon_launch& launch) {
  const tenon_view& y = launch.outputs[0];
  if (y.dtype != TENON_FLOAT32) return;
  int64_t n = 1;
  for (size_t i = 0; i < y.rank; ++i) n *= y.sizes[i];
  auto* const values = static_cast<float*>(y.data);
  for (int64_t i = 0; i < n; ++i) {
    if (std::fabs(values[i]) < std::ldexp(1.0f, exponent)) values[i] = 0;
  }
}

Finding judged_on(Spoil spoil, tenon_features features) {
  const Session device = session_of_spoiled_ref(spoil);
  Environment env = {.device = device, .oracle = oracle(), .features = features};
  Problem problem = problem_of("mul", {Reals(4000), Reals(4000)});
  for (size_t i = 0; i < 2; ++i) {
    problem.inputs[i].fill = {.kind = Fill::Kind::kMagnitudes, .seed = i + 1};
  }
  return judge_values(env, problem, device.run(problem));
}

TEST(Flushing, IsAFaultOnlyIfNotDeclared) {
  const Finding declared = judged_on(flush_below<-126>, kFlush);
  EXPECT_TRUE(declared.passed) << declared.message;
  EXPECT_FALSE(judged_on(flush_below<-126>, 0).passed);
  EXPECT_FALSE(judged_on(flush_below<-124>, kFlush).passed);
}

// ---- relaxed

TEST(Relaxed, ErrorOfExpMayGrowWithItsInput) {
  const auto off_by = [](double x, double ulps, Profile profile) {
    const double y = std::exp(x);
    const double unit = static_cast<double>(ulp(Real(y), TENON_FLOAT32));
    const double got = std::round(y / unit + ulps) * unit;
    return passes(environment(0, profile), problem_of("exp", {{x}}), {got});
  };
  EXPECT_TRUE(off_by(10, 22, Profile::kRelaxed));
  EXPECT_FALSE(off_by(10, 25, Profile::kRelaxed));
  EXPECT_FALSE(off_by(10, 22, Profile::kStrict));
  EXPECT_TRUE(off_by(0.25, 3, Profile::kRelaxed));
  EXPECT_FALSE(off_by(0.25, 5, Profile::kRelaxed));
}

// Tests results of pow that are computed as exp2(y log2 x). If the logarithm has an error of 8 ulp,
// the relative error of a result near 2^100 is about 2^-17.
TEST(Relaxed, BoundsPowByTheErrorsOfItsParts) {
  const auto off_by = [](double part, Profile profile) {
    const double got = static_cast<float>(std::ldexp(1 + part, 100));
    return passes(environment(0, profile), problem_of("pow", {{4}, {50}}), {got});
  };
  // The largest permitted relative error is ln 2 times the absolute error of y log2 x. Here y is 50
  // and log2 x is 2. The error of y log2 x is 50 times 8 ulp of 2, plus half an ulp of 100.
  const double most = 0.6931 * (50 * 8 * 0x1p-22 + 0x1p-18);
  EXPECT_TRUE(off_by(0.95 * most, Profile::kRelaxed));
  EXPECT_FALSE(off_by(1.05 * most, Profile::kRelaxed));
  EXPECT_FALSE(off_by(0.95 * most, Profile::kStrict));

  const auto near_one = [](double ulps) {
    return passes(environment(0, Profile::kRelaxed), problem_of("pow", {{1}, {3}}),
                  {1 + ulps * 0x1p-23});
  };
  EXPECT_TRUE(near_one(8));
  EXPECT_FALSE(near_one(12));
}

TEST(Relaxed, BoundsSineAndCosineAbsolutely) {
  const Environment env = environment(0, Profile::kRelaxed);
  for (const char* op : {"sin", "cos"}) {
    const auto want = static_cast<double>(oracle().run(problem_of(op, {{1e-3}}))[0].values()[0]);
    EXPECT_TRUE(passes(env, problem_of(op, {{1e-3}}), {want + 0x1.fp-12})) << op;
    EXPECT_FALSE(passes(env, problem_of(op, {{1e-3}}), {want + 0x1.1p-11})) << op;
  }
}

// ---- layouts

// Corrupts the result if the first factor is dense and the second is not.
void spoil_second_factor(const tenon_launch& launch) {
  if (launch.n_inputs != 2 || launch.outputs[0].dtype != TENON_FLOAT32) return;
  const tenon_view &a = launch.inputs[0], &b = launch.inputs[1];
  const bool dense = a.strides_class == TENON_STRIDES_DENSE;
  if (a.rank < 2 || b.rank < 2 || !dense || b.strides_class == TENON_STRIDES_DENSE) return;
  *static_cast<float*>(launch.outputs[0].data) += 1;
}

TEST(Layouts, CoverEachInputSeparately) {
  const Session device = session_of_spoiled_ref(spoil_second_factor);
  const Environment env = {.device = device, .oracle = oracle(), .thorough = true};
  const Check& check = *find_check("layouts");
  const std::vector<Claim> claims = read_claims(plain_ref()).rows;
  const auto claim = std::find_if(claims.begin(), claims.end(), [](const Claim& c) {
    return c.op->name == "matmul" && c.dtypes == "f32";
  });
  ASSERT_NE(claim, claims.end());

  const std::vector<Problem> problems = check.problems(env, *claim);
  const auto shows_it = [&](const Problem& problem) {
    return problem.inputs[0].layout == Layout::kDense &&
           problem.inputs[1].layout == Layout::kTransposed && !check.test(env, problem).passed;
  };
  EXPECT_TRUE(std::any_of(problems.begin(), problems.end(), shows_it));
}

}  // namespace
}  // namespace tenon_kit
