// Tests derivatives at kinks, ties and zeros, where they are a convention that finite differences
// cannot check.

#include <limits>

#include "core/ops/definition/op_ids.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

using testing::CoreTest;
using testing::f32;
using testing::i64;

constexpr double kInf = std::numeric_limits<double>::infinity();

class Derivatives : public CoreTest {
 protected:
  // Returns the gradients of sum(f(inputs)) with respect to each input.
  template <class F>
  Tensors of(const F& f, const Tensors& inputs) {
    const Ref<Tape> t = tape({.persistent = true});
    for (const Tensor& x : inputs) t->watch(x);
    const Tensor y = f(inputs);
    Tensors gradients;
    for (const Tensor& x : inputs) gradients.push_back(t->gradient(y, x));
    return gradients;
  }
  Tensor of_one(Tensor (*f)(const Tensor&), const Tensor& x) {
    return of([&](const Tensors& in) { return f(in[0]); }, {x})[0];
  }
};

TEST_F(Derivatives, OfAbsAndSignAreZeroAtTheKink) {
  EXPECT_TENSOR(of_one(abs, f32({-2, 0, 3})), f32({-1, 0, 1}));
  EXPECT_TENSOR(of_one(sign, f32({-2, 0, 3})), f32({0, 0, 0}));
}

TEST_F(Derivatives, OfStepFunctionsAreZero) {
  for (const OpId id :
       {OpId::k_floor, OpId::k_ceil, OpId::k_round, OpId::k_trunc, OpId::k_stop_gradient}) {
    const auto step = [id](const Tensors& in) { return call1(id, NoAttrs{}, {in[0]}); };

    EXPECT_TENSOR(of(step, {f32({-1.5, 0, 2.25})})[0], f32({0, 0, 0}));
  }
}

TEST_F(Derivatives, OfMaximumAndMinimumSplitTiesEvenly) {
  const Tensors inputs = {f32({1, 5, 2}), f32({3, 5, 1})};

  const Tensors larger = of([](const Tensors& in) { return maximum(in[0], in[1]); }, inputs);
  const Tensors smaller = of([](const Tensors& in) { return minimum(in[0], in[1]); }, inputs);

  EXPECT_TENSOR(larger[0], f32({0, 0.5, 1}));
  EXPECT_TENSOR(larger[1], f32({1, 0.5, 0}));
  EXPECT_TENSOR(smaller[0], f32({1, 0.5, 0}));
  EXPECT_TENSOR(smaller[1], f32({0, 0.5, 1}));
}

TEST_F(Derivatives, OfMaxAndMinReductionsSplitTiesEvenly) {
  const Tensor x = f32({2, 3}, {4, 4, 1, 1, 7, 1});

  const auto largest = [](const Tensors& in) { return max(in[0], {.axes = {1}}); };
  const auto smallest = [](const Tensors& in) { return min(in[0], {.axes = {1}}); };

  EXPECT_TENSOR(of(largest, {x})[0], f32({2, 3}, {0.5, 0.5, 0, 0, 1, 0}));
  EXPECT_TENSOR(of(smallest, {x})[0], f32({2, 3}, {0, 0, 1, 0.5, 0, 0.5}));
}

TEST_F(Derivatives, OfClipPassTheGradientToXWhereXEqualsABound) {
  const Tensors inputs = {f32({-1, 0, 1, 2, 3}), f32({0}), f32({2})};

  const Tensors d = of([](const Tensors& in) { return clip(in[0], in[1], in[2]); }, inputs);

  EXPECT_TENSOR(d[0], f32({0, 1, 1, 1, 0}));
  EXPECT_TENSOR(d[1], f32({1}));
  EXPECT_TENSOR(d[2], f32({1}));
}

TEST_F(Derivatives, OfClipPassTheGradientToMaxWhereMinExceedsMax) {
  const Tensors inputs = {f32({0, 2, 9}), f32({5}), f32({1})};

  const Tensors d = of([](const Tensors& in) { return clip(in[0], in[1], in[2]); }, inputs);

  EXPECT_TENSOR(d[0], f32({0, 0, 0}));
  EXPECT_TENSOR(d[1], f32({0}));
  EXPECT_TENSOR(d[2], f32({3}));
}

TEST_F(Derivatives, OfPowAreFiniteAtAZeroBase) {
  const Tensors inputs = {f32({0, 0, 0, -2}), f32({0, 1, 2, 2})};

  const Tensors d = of([](const Tensors& in) { return pow(in[0], in[1]); }, inputs);

  EXPECT_TENSOR(d[0], f32({0, 1, 0, -4}));
  EXPECT_TENSOR(d[1], f32({0, 0, 0, 0}));
}

TEST_F(Derivatives, OfProdAreCorrectToSecondOrderForZeroElements) {
  const Ref<Tape> t = tape({.persistent = true});
  const Tensor one_zero = f32({2, 0, 5});
  t->watch(one_zero);

  const Tensor dx = t->gradient(prod(one_zero), one_zero);

  EXPECT_TENSOR(dx, f32({0, 10, 0}));
  EXPECT_TENSOR(t->gradient(dx * f32({1, 0, 0}), one_zero), f32({0, 5, 0}));
  const auto product = [](const Tensors& in) { return prod(in[0]); };
  EXPECT_TENSOR(of(product, {f32({0, 3, 0})})[0], f32({0, 0, 0}));
  EXPECT_TENSOR(of(product, {f32({2, 3}, {1, 2, 3, 4, 5, 6})})[0],
                f32({2, 3}, {720, 360, 240, 180, 144, 120}));
}

TEST_F(Derivatives, OfProdMultiplyOnlyElementsAlongTheReducedAxes) {
  const Tensor x = f32({2, 1, 3}, {1, 2, 3, 4, 0, 6});

  const auto columns = [](const Tensors& in) { return prod(in[0], {.axes = {0, 1}}); };

  EXPECT_TENSOR(of(columns, {x})[0], f32({2, 1, 3}, {4, 0, 6, 1, 2, 3}));
}

TEST_F(Derivatives, OfWhereIgnoreNanInTheBranchNotSelected) {
  const Tensor x = f32({0, 4});

  const auto guarded = [](const Tensors& in) {
    const Tensor positive = greater(in[0], number(0));
    return where(positive, sqrt(where(positive, in[0], number(1))), number(0));
  };

  EXPECT_TENSOR(of(guarded, {x})[0], f32({0, 0.25}));
}

TEST_F(Derivatives, OfAtan2AreFiniteWhereSquaresOverflowHalfTypes) {
  const auto f = [](const Tensors& in) { return call1(OpId::k_atan2, NoAttrs{}, {in[0], in[1]}); };
  const Tensor x = cast(f32({512}), DType::kF16);

  const Tensors d = of(f, {x, cast(f32({512}), DType::kF16)});

  EXPECT_TENSOR(d[0], cast(f32({1.0 / 1024}), DType::kF16));
  EXPECT_TENSOR(d[1], cast(f32({-1.0 / 1024}), DType::kF16));
}

TEST_F(Derivatives, OfLogaddexpAreOneHalfEachForEqualInfinities) {
  const auto f = [](const Tensors& in) {
    return call1(OpId::k_logaddexp, NoAttrs{}, {in[0], in[1]});
  };

  const Tensors d = of(f, {f32({-kInf, 2, -kInf}), f32({-kInf, 2, 1})});

  EXPECT_TENSOR(d[0], f32({0.5, 0.5, 0}));
  EXPECT_TENSOR(d[1], f32({0.5, 0.5, 1}));
}

TEST_F(Derivatives, OfXlogyAndDivideNoNanAreFiniteWhereTheResultIsDefinedAsZero) {
  const auto binary = [](OpId id) {
    return [id](const Tensors& in) { return call1(id, NoAttrs{}, {in[0], in[1]}); };
  };

  const Tensors xlogy = of(binary(OpId::k_xlogy), {f32({0, 0, 2}), f32({0, 1, 4})});
  const Tensors divide = of(binary(OpId::k_divide_no_nan), {f32({3, 0, 6}), f32({0, 0, 2})});
  const Tensors hypot = of(binary(OpId::k_hypot), {f32({0, 3}), f32({0, -4})});

  EXPECT_TENSOR_NEAR(xlogy[0], f32({0, 0, 1.3862944}), 1e-6, 0);
  EXPECT_TENSOR(xlogy[1], f32({0, 0, 0.5}));
  EXPECT_TENSOR(divide[0], f32({0, 0, 0.5}));
  EXPECT_TENSOR(divide[1], f32({0, 0, -1.5}));
  EXPECT_TENSOR_NEAR(hypot[0], f32({0, 0.6}), 1e-6, 0);
  EXPECT_TENSOR_NEAR(hypot[1], f32({0, -0.8}), 1e-6, 0);
}

TEST_F(Derivatives, OfTrigammaAreThoseOfItsExpansion) {
  const auto trigamma_of = [](const Tensors& in) { return trigamma(in[0]); };

  // The derivative of trigamma at 1 is -2 zeta(3). At 2 it is greater by 2, by the recurrence.
  const Tensor d = of(trigamma_of, {f32({1, 2})})[0];

  EXPECT_TENSOR_NEAR(d, f32({-2.4041138, -0.4041138}), 2e-5, 0);
}

TEST_F(Derivatives, OfLogsumexpAreFiniteForInfiniteInputs) {
  const auto f = [](const Tensors& in) {
    return call1(OpId::k_logsumexp, ReduceAttrs{.axes = {1}}, {in[0]});
  };

  const Tensor d = of(f, {f32({2, 2}, {-kInf, -kInf, -kInf, 3})})[0];

  EXPECT_TENSOR(d, f32({2, 2}, {0, 0, 0, 1}));
}

TEST_F(Derivatives, OfL2NormAreZeroAtZero) {
  const auto norm = [](const Tensors& in) {
    return call1(OpId::k_l2_norm, ReduceAttrs{.axes = {1}}, {in[0]});
  };

  EXPECT_TENSOR_NEAR(of(norm, {f32({2, 2}, {0, 0, 3, -4})})[0], f32({2, 2}, {0, 0, 0.6, -0.8}),
                     1e-6, 0);
}

// Two updates write to index 1; the last one determines the result.
TEST_F(Derivatives, OfScatterAreZeroForOverwrittenUpdates) {
  const Tensor indices = i64({1, 3, 1});

  const auto set = [&](const Tensors& in) {
    return scatter_elements(in[0], indices, in[1], {}) * f32({1, 2, 3, 4});
  };
  const Tensors d = of(set, {f32({1, 1, 1, 1}), f32({7, 8, 9})});

  EXPECT_TENSOR(d[0], f32({1, 0, 3, 0}));
  EXPECT_TENSOR(d[1], f32({0, 4, 2}));
}

TEST_F(Derivatives, OfScatterMulAreCorrectForZeroUpdates) {
  const Tensor indices = i64({0, 0, 1, 1});

  const auto multiply = [&](const Tensors& in) {
    return scatter_elements(in[0], indices, in[1], {.reduction = ScatterReduction::kMul});
  };
  const Tensors d = of(multiply, {f32({2, 3, 4}), f32({0, 5, 6, 7})});

  EXPECT_TENSOR(d[0], f32({0, 42, 1}));
  EXPECT_TENSOR(d[1], f32({10, 0, 21, 18}));
}

TEST_F(Derivatives, OfScatterMaxSplitTiesEvenly) {
  const Tensor indices = i64({0, 0, 1});

  const auto largest = [&](const Tensors& in) {
    return scatter_elements(in[0], indices, in[1], {.reduction = ScatterReduction::kMax});
  };
  const Tensors d = of(largest, {f32({2, 1, 5}), f32({2, 1, 4})});

  EXPECT_TENSOR(d[0], f32({0.5, 0, 1}));
  EXPECT_TENSOR(d[1], f32({0.5, 0, 1}));
}

TEST_F(Derivatives, OfGatherAreSummedForRepeatedIndices) {
  const Tensor indices = i64({0, -1, 0});

  const auto rows = [&](const Tensors& in) {
    return gather(in[0], indices, 0) * f32({3, 1}, {1, 10, 100});
  };

  EXPECT_TENSOR(of(rows, {f32({2, 2}, {1, 2, 3, 4})})[0], f32({2, 2}, {101, 101, 10, 10}));
}

}  // namespace
}  // namespace tenon
