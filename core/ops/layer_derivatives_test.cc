// Tests derivatives of activations, pooling and losses that finite differences cannot check: at
// kinks, at ties, and where a value is used twice.

#include <cmath>

#include "core/ops/attention/attention.h"
#include "core/ops/convolution/conv_shape.h"
#include "core/ops/definition/op_ids.h"
#include "core/ops/losses/loss.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

using testing::f32;
using testing::i64;

// Copy of the attribute struct in leaky_relu.cc.
struct LeakyReluAttrs {
  double alpha = 0.25;
  TENON_ATTRS(alpha)
};

// Copy of the attribute struct in fake_quantize.cc, with different bounds.
struct FakeQuantizeAttrs {
  int64_t quant_min = -2, quant_max = 2, axis = 1;
  TENON_ATTRS(quant_min, quant_max, axis)
};

// Copy of the attribute struct in l2_normalize.cc.
struct L2NormalizeAttrs {
  int64_t axis = -1;
  double epsilon = 0.5;
  TENON_ATTRS(axis, epsilon)
};

class LayerDerivatives : public testing::CoreTest {
 protected:
  // Returns the gradient of sum(f(x)).
  template <class F>
  Tensor of(const F& f, const Tensor& x) {
    const Ref<Tape> t = tape();
    t->watch(x);
    return t->gradient(f(x), x);
  }
};

TEST_F(LayerDerivatives, ReluIsZeroAtZero) {
  EXPECT_TENSOR(of([](const Tensor& x) { return relu(x); }, f32({-1, 0, 2})), f32({0, 0, 1}));
}

TEST_F(LayerDerivatives, ReluIsZeroAtNan) {
  EXPECT_TENSOR(of([](const Tensor& x) { return relu(x); }, f32({NAN})), f32({0}));
}

TEST_F(LayerDerivatives, LeakyReluAtZeroHasTheSlopeForNegativeInputs) {
  EXPECT_TENSOR(of([](const Tensor& x) { return call1(OpId::k_leaky_relu, LeakyReluAttrs{}, {x}); },
                   f32({-1, 0, 2})),
                f32({0.25, 0.25, 1}));
}

TEST_F(LayerDerivatives, BoundedActivationsHaveSlopeZeroAtTheirBounds) {
  const auto relu6 = [](const Tensor& x) { return call1(OpId::k_relu6, NoAttrs{}, {x}); };
  const auto swish = [](const Tensor& x) { return call1(OpId::k_hard_swish, NoAttrs{}, {x}); };

  EXPECT_TENSOR(of(relu6, f32({-1, 0, 3, 6, 7})), f32({0, 0, 1, 0, 0}));
  EXPECT_TENSOR(of(swish, f32({-3, 0, 3})), f32({0, 0.5, 1}));
}

TEST_F(LayerDerivatives, PreluAtZeroHasTheSlopeForNegativeInputs) {
  const auto prelu = [](const Tensor& x) {
    return call1(OpId::k_prelu, NoAttrs{}, {x, f32({0.25})});
  };
  EXPECT_TENSOR(of(prelu, f32({-2, 0, 3})), f32({0.25, 0.25, 1}));
}

TEST_F(LayerDerivatives, FakeQuantizePassesGradientsWithinItsRangeUnchanged) {
  const auto by_x = [](const Tensor& x) {
    return call1(OpId::k_fake_quantize, FakeQuantizeAttrs{}, {x, f32({}, {0.5})});
  };
  const auto by_scale = [](const Tensor& scale) {
    return call1(OpId::k_fake_quantize, FakeQuantizeAttrs{}, {f32({0.1, 3}), scale});
  };

  EXPECT_TENSOR(of(by_x, f32({-1.3, -1.2, 0.1, 1, 1.3})), f32({0, 1, 1, 1, 0}));
  EXPECT_TENSOR(of(by_scale, f32({}, {0.5})), f32({}, {0}));
}

TEST_F(LayerDerivatives, CheckNumericsDoesNotCheckGradients) {
  const auto root = [](const Tensor& x) {
    return sqrt(call1(OpId::k_check_numerics, NoAttrs{}, {x}));
  };
  EXPECT_TENSOR(of(root, f32({4, 0})), f32({0.25, INFINITY}));
}

TEST_F(LayerDerivatives, HingeIsZeroAtTheMargin) {
  const auto loss = [](const Tensor& x) {
    return call1(OpId::k_hinge, LossAttrs{.reduction = Reduction::kSum}, {x, f32({1, 1, -1})});
  };
  EXPECT_TENSOR(of(loss, f32({1, 0, 2})), f32({0, -1, 1}));
}

TEST_F(LayerDerivatives, MaxPoolPassesTheGradientToTheFirstOfTiedElements) {
  const auto pool = [](const Tensor& x) {
    return call1(OpId::k_max_pool, PoolAttrs{.kernel_shape = {3}}, {x});
  };
  EXPECT_TENSOR(of(pool, f32(Dims{1, 1, 4}, {7, 7, 1, 7})), f32(Dims{1, 1, 4}, {1, 1, 0, 0}));
}

TEST_F(LayerDerivatives, MaeIsZeroWhereXEqualsTheTarget) {
  const auto loss = [](const Tensor& x) {
    return call1(OpId::k_mae, LossAttrs{.reduction = Reduction::kSum}, {x, f32({1, 1, 1})});
  };
  EXPECT_TENSOR(of(loss, f32({0, 1, 2})), f32({-1, 0, 1}));
}

TEST_F(LayerDerivatives, BceWithLogitsIsSmoothAtZero) {
  const auto loss = [](const Tensor& x) {
    return call1(OpId::k_bce_with_logits, LossAttrs{}, {x, f32({1})});
  };
  const Ref<Tape> outer = tape();
  const Tensor x = f32({0});
  outer->watch(x);
  const Tensor dx = of(loss, x);

  EXPECT_TENSOR(dx, f32({-0.5}));
  EXPECT_TENSOR(outer->gradient(dx, x), f32({0.25}));  // The derivative of sigmoid at 0.
}

TEST_F(LayerDerivatives, EmbeddingSumsTheGradientsOfRepeatedRows) {
  const auto rows = [](const Tensor& table) {
    return call1(OpId::k_embedding, NoAttrs{}, {table, i64({2, 0, 2})});
  };
  EXPECT_TENSOR(of(rows, f32(Dims{3, 1}, {5, 6, 7})), f32(Dims{3, 1}, {1, 0, 2}));
}

TEST_F(LayerDerivatives, SoftmaxIsFiniteIfAnInputIsMinusInfinity) {
  const auto first = [](const Tensor& x) {
    return slice(softmax(x, -1), {.starts = {0}, .ends = {1}});
  };
  EXPECT_TENSOR(of(first, f32({0, -INFINITY, 0})), f32({0.25, 0, -0.25}));
}

TEST_F(LayerDerivatives, SparseCrossEntropyIsSoftmaxMinusOneAtTheLabel) {
  const auto loss = [](const Tensor& logits) {
    return call1(OpId::k_sparse_softmax_cross_entropy, LossAttrs{}, {logits, i64({1, -1})});
  };
  EXPECT_TENSOR(of(loss, f32(Dims{2, 2}, {0, 0, 0, 0})),
                f32(Dims{2, 2}, {0.25, -0.25, 0.25, -0.25}));
}

TEST_F(LayerDerivatives, AvgPoolSavesNoTensorsForTheBackwardPass) {
  const Ref<Tape> t = tape();
  Tensor x = f32(Dims{1, 1, 3}, {1, 2, 3});
  t->watch(x);
  const AvgPoolAttrs attrs{.kernel_shape = {2}, .pads = {1, 0}};
  const Tensor y = call1(OpId::k_avg_pool, attrs, {x});

  EXPECT_TENSOR(t->gradient(y, x), f32(Dims{1, 1, 3}, {1.5, 1, 0.5}));
}

TEST_F(LayerDerivatives, L2NormalizeDividesByEpsilonAtZero) {
  const auto first = [](const Tensor& x) {
    return slice(call1(OpId::k_l2_normalize, L2NormalizeAttrs{}, {x}),
                 {.starts = {0}, .ends = {1}});
  };
  EXPECT_TENSOR(of(first, f32({0, 0})), f32({2, 0}));
}

TEST_F(LayerDerivatives, AttentionIsZeroForQueriesWithAtMostOneKey) {
  const Dims two{1, 1, 2, 1};
  const Tensor k = f32(two, {1, 2}), v = f32(two, {3, 5});
  const Tensor mask = f32(Dims{2, 2}, {0, -INFINITY, -INFINITY, -INFINITY});
  const auto by_query = [&](const Tensor& q) {
    return call1(OpId::k_attention, AttentionAttrs{}, {q, k, v, mask});
  };
  const auto by_value = [&](const Tensor& values) {
    return call1(OpId::k_attention, AttentionAttrs{}, {k, k, values, mask});
  };
  EXPECT_TENSOR(of(by_query, f32(two, {1, 1})), f32(two, {0, 0}));
  EXPECT_TENSOR(of(by_value, v), f32(two, {1, 0}));
}

}  // namespace
}  // namespace tenon
