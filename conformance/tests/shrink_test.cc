#include "conformance/run/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon_kit {
namespace {

Operand numbers(Sizes shape, Layout layout = Layout::kDense) {
  Operand x;
  x.shape = std::move(shape);
  x.layout = layout;
  for (int64_t i = 0; i < count_of(x.shape); ++i) x.fill.values.push_back(Real(i) + Real(0.25));
  return x;
}

Problem problem_with(Operand x) {
  Problem problem;
  problem.op = &op_named("exp");
  problem.inputs = {std::move(x)};
  return problem;
}

bool holds(const Problem& problem, Real wanted) {
  const Reals values = problem.inputs[0].values();
  return std::find(values.begin(), values.end(), wanted) != values.end();
}

bool always(const Problem&) { return true; }

Claim claim_of(tenon_dtype dtype) {
  return {.op = &op_named("exp"), .inputs = {dtype}, .outputs = {dtype}, .dtypes = name_of(dtype)};
}

TEST(Shrink, FindsTheOnlyFailingElement) {
  for (const int64_t place : {0, 1, 2047, 2048, 5000, 6143}) {
    const Real culprit = Real(place) + Real(0.25);

    const Problem least = shrink(
        problem_with(numbers({6144})), {}, [&](const Problem& p) { return holds(p, culprit); },
        300);

    EXPECT_EQ(least.inputs[0].shape, Sizes()) << place;
    EXPECT_EQ(least.inputs[0].values(), (Reals{culprit}));
  }
}

TEST(Shrink, KeepsOnlyTheAxisWithTheRequiredSize) {
  const auto fails = [](const Problem& p) {
    const Sizes& shape = p.inputs[0].shape;
    return !shape.empty() && shape.back() >= 17;
  };

  const Problem least = shrink(problem_with(numbers({5, 64})), {}, fails, 300);

  EXPECT_EQ(least.inputs[0].shape, (Sizes{17}));
}

TEST(Shrink, KeepsTheRequiredRank) {
  const auto fails = [](const Problem& p) { return p.inputs[0].shape.size() >= 3; };

  const Problem least = shrink(problem_with(numbers({2, 3, 2, 2})), {}, fails, 300);

  EXPECT_EQ(least.inputs[0].shape, (Sizes{1, 1, 1}));
}

// After shrinking, the summed axis is the only one left, so its index changes.
TEST(Shrink, AdjustsAttributesToRemovedAxes) {
  Problem problem = problem_with(numbers({3, 5, 4}));
  problem.op = &op_named("sum");
  problem.attrs["axes"] = Sizes{1};
  const auto fails = [](const Problem& p) {
    const Sizes& shape = p.inputs[0].shape;
    const Sizes& axes = p.attr("axes").list();
    return axes.size() == 1 && axes[0] < static_cast<int64_t>(shape.size()) &&
           shape[static_cast<size_t>(axes[0])] == 5;
  };

  const Problem least = shrink(problem, {}, fails, 300);

  EXPECT_EQ(least.inputs[0].shape, (Sizes{5}));
  EXPECT_EQ(least.attr("axes").list(), (Sizes{0}));
}

TEST(Shrink, SupportsNegativeAxes) {
  Problem problem = problem_with(numbers({1, 3, 1}));
  problem.op = &op_named("cumsum");
  problem.attrs["axis"] = int64_t{-2};
  const auto fails = [](const Problem& p) {
    const Sizes& shape = p.inputs[0].shape;
    const int64_t axis = p.attr("axis").whole();
    return axis < 0 && -axis <= static_cast<int64_t>(shape.size()) && shape.end()[axis] == 3;
  };

  const Problem least = shrink(problem, {}, fails, 300);

  EXPECT_EQ(least.inputs[0].shape, (Sizes{3}));
  EXPECT_EQ(least.attr("axis").whole(), -1);
}

TEST(Shrink, SimplifiesValuesAndLayouts) {
  const Problem least = shrink(problem_with(numbers({4, 4}, Layout::kTransposed)), {}, always, 300);

  EXPECT_EQ(least.inputs[0].layout, Layout::kDense);
  EXPECT_EQ(least.inputs[0].values(), (Reals{0}));
}

TEST(Shrink, KeepsTheRequiredLayout) {
  const auto fails = [](const Problem& p) { return p.inputs[0].layout == Layout::kStepped; };

  const Problem least = shrink(problem_with(numbers({4, 4}, Layout::kStepped)), {}, fails, 300);

  EXPECT_EQ(least.inputs[0].layout, Layout::kStepped);
}

TEST(Shrink, ChoosesTheSimplestDTypeThatFails) {
  Problem problem = problem_with(numbers({4}));
  problem.inputs[0].dtype = TENON_BFLOAT16;
  const std::vector<Claim> simpler = {claim_of(TENON_FLOAT32), claim_of(TENON_FLOAT64),
                                      claim_of(TENON_FLOAT16)};
  const auto not_f32 = [](const Problem& p) { return p.inputs[0].dtype != TENON_FLOAT32; };

  EXPECT_EQ(shrink(problem, simpler, always, 300).inputs[0].dtype, TENON_FLOAT32);
  EXPECT_EQ(shrink(problem, simpler, not_f32, 300).inputs[0].dtype, TENON_FLOAT64);
  EXPECT_EQ(shrink(problem, {}, always, 300).inputs[0].dtype, TENON_BFLOAT16);
}

TEST(Shrink, RoundsValuesToTheNewDType) {
  Problem problem = problem_with(numbers({}));
  problem.inputs[0].fill.values = {Real(2.75)};
  const auto is_large = [](const Problem& p) { return p.inputs[0].values()[0] > Real(2.5); };

  const Problem least = shrink(problem, std::vector<Claim>{claim_of(TENON_INT8)}, is_large, 300);

  EXPECT_EQ(least.inputs[0].dtype, TENON_INT8);
  EXPECT_EQ(least.inputs[0].values(), (Reals{3}));
}

TEST(Shrink, OrdersDTypesBySimplicity) {
  const tenon_dtype order[] = {TENON_FLOAT32, TENON_INT8,    TENON_UINT8,   TENON_INT32,
                               TENON_INT64,   TENON_FLOAT64, TENON_BFLOAT16};
  for (size_t i = 1; i < std::size(order); ++i) {
    EXPECT_TRUE(is_simpler(claim_of(order[i - 1]), claim_of(order[i]))) << i;
    EXPECT_FALSE(is_simpler(claim_of(order[i]), claim_of(order[i - 1]))) << i;
  }
}

TEST(Shrink, RemovesInputsAndAttributes) {
  Problem norm = problem_with(numbers({2, 2}));
  norm.op = &op_named("layer_norm");
  norm.inputs.push_back(numbers({2}));
  norm.inputs.push_back(numbers({2}));
  norm.attrs = {{"axis", int64_t{0}}, {"epsilon", 3.0}};

  const Problem least = shrink(norm, {}, always, 300);

  EXPECT_EQ(least.inputs.size(), 2u);
  EXPECT_TRUE(least.attrs.empty());

  const auto by_epsilon = [](const Problem& p) { return p.attr("epsilon").number() == 3; };
  const Problem kept = shrink(norm, {}, by_epsilon, 300);
  EXPECT_EQ(kept.attr("epsilon").number(), 3);
  EXPECT_EQ(kept.attrs.find("axis"), nullptr);

  Problem concat = problem_with(numbers({2}));
  concat.op = &op_named("concat");
  for (int i = 0; i < 3; ++i) concat.inputs.push_back(numbers({2}));
  EXPECT_EQ(shrink(concat, {}, always, 300).inputs.size(), 1u);
}

TEST(Shrink, TriesAtMostAsManyCandidatesAsTheBudget) {
  int asked = 0;

  shrink(
      problem_with(numbers({4096})), {}, [&](const Problem&) { return ++asked, false; }, 20);

  EXPECT_LE(asked, 20);
}

TEST(Shrink, ResultRoundTripsThroughALine) {
  const Problem least = shrink(
      problem_with(numbers({64})), {}, [](const Problem& p) { return holds(p, Real(40.25)); }, 300);

  const Problem again = from_line(to_line(least));

  EXPECT_EQ(to_line(again), to_line(least));
  EXPECT_EQ(again.inputs[0].values(), least.inputs[0].values());
}

}  // namespace
}  // namespace tenon_kit
