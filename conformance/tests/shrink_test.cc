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

TEST(Shrink, FindsTheOneElementThatFailsWhereverItIs) {
  for (const int64_t place : {0, 1, 2047, 2048, 5000, 6143}) {
    const Real culprit = Real(place) + Real(0.25);

    const Problem least = shrink(
        problem_with(numbers({6144})), [&](const Problem& p) { return holds(p, culprit); }, 300);

    EXPECT_EQ(least.inputs[0].shape, (Sizes{1})) << place;
    EXPECT_EQ(least.inputs[0].values()[0], culprit);
  }
}

TEST(Shrink, KeepsTheSizeThatItTakes) {
  const auto fails = [](const Problem& p) { return p.inputs[0].shape[1] >= 17; };

  const Problem least = shrink(problem_with(numbers({5, 64})), fails, 300);

  EXPECT_EQ(least.inputs[0].shape, (Sizes{1, 17}));
}

TEST(Shrink, MakesValuesAndLayoutsPlain) {
  const auto always = [](const Problem&) { return true; };

  const Problem least = shrink(problem_with(numbers({4, 4}, Layout::kTransposed)), always, 300);

  EXPECT_EQ(least.inputs[0].layout, Layout::kDense);
  EXPECT_EQ(least.inputs[0].values(), (Reals{0}));
}

TEST(Shrink, KeepsALayoutThatItTakes) {
  const auto fails = [](const Problem& p) { return p.inputs[0].layout == Layout::kStepped; };

  const Problem least = shrink(problem_with(numbers({4, 4}, Layout::kStepped)), fails, 300);

  EXPECT_EQ(least.inputs[0].layout, Layout::kStepped);
}

TEST(Shrink, AsksNoMoreOftenThanItMay) {
  int asked = 0;

  shrink(
      problem_with(numbers({4096})), [&](const Problem&) { return ++asked, false; }, 20);

  EXPECT_LE(asked, 20);
}

TEST(Shrink, LeavesALineThatMakesTheSameProblem) {
  const Problem least = shrink(
      problem_with(numbers({64})), [](const Problem& p) { return holds(p, Real(40.25)); }, 300);

  const Problem again = from_line(to_line(least));

  EXPECT_EQ(to_line(again), to_line(least));
  EXPECT_EQ(again.inputs[0].values(), least.inputs[0].values());
}

}  // namespace
}  // namespace tenon_kit
