// Derivatives of activations, pooling and losses that differences cannot judge: at kinks and ties,
// and where one value is reached twice.

#include <cmath>

#include "core/ops/conv_shape.h"
#include "core/ops/loss.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

using testing::f32;
using testing::i64;

// As leaky_relu.cc has them.
struct LeakyReluAttrs {
  double alpha = 0.25;
  TENON_ATTRS(alpha)
};

class LayerDerivatives : public testing::CoreTest {
 protected:
  // The gradient of the sum of f(x).
  template <class F>
  Tensor of(const F& f, const Tensor& x) {
    const Ref<Tape> t = tape();
    t->watch(x);
    return t->gradient(f(x), x);
  }
};

TEST_F(LayerDerivatives, ReluHasNoneAtZero) {
  EXPECT_TENSOR(of([](const Tensor& x) { return relu(x); }, f32({-1, 0, 2})), f32({0, 0, 1}));
}

TEST_F(LayerDerivatives, ReluStopsAtNan) {
  EXPECT_TENSOR(of([](const Tensor& x) { return relu(x); }, f32({NAN})), f32({0}));
}

TEST_F(LayerDerivatives, LeakyReluHasTheLowerSlopeAtZero) {
  EXPECT_TENSOR(of([](const Tensor& x) { return call1(OpId::k_leaky_relu, LeakyReluAttrs{}, {x}); },
                   f32({-1, 0, 2})),
                f32({0.25, 0.25, 1}));
}

TEST_F(LayerDerivatives, MaxPoolGivesATieToTheFirst) {
  const auto pool = [](const Tensor& x) {
    return call1(OpId::k_max_pool, PoolAttrs{.kernel_shape = {3}}, {x});
  };
  EXPECT_TENSOR(of(pool, f32(Dims{1, 1, 4}, {7, 7, 1, 7})), f32(Dims{1, 1, 4}, {1, 1, 0, 0}));
}

TEST_F(LayerDerivatives, MaeHasNoneWhereTheTargetIsMet) {
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
  EXPECT_TENSOR(outer->gradient(dx, x), f32({0.25}));  // sigmoid'(0)
}

TEST_F(LayerDerivatives, EmbeddingAddsUpARowThatIsUsedTwice) {
  const auto rows = [](const Tensor& table) {
    return call1(OpId::k_embedding, NoAttrs{}, {table, i64({2, 0, 2})});
  };
  EXPECT_TENSOR(of(rows, f32(Dims{3, 1}, {5, 6, 7})), f32(Dims{3, 1}, {1, 0, 2}));
}

TEST_F(LayerDerivatives, SoftmaxStaysFiniteBesideMinusInfinity) {
  const auto first = [](const Tensor& x) {
    return slice(softmax(x, -1), {.starts = {0}, .ends = {1}});
  };
  EXPECT_TENSOR(of(first, f32({0, -INFINITY, 0})), f32({0.25, 0, -0.25}));
}

TEST_F(LayerDerivatives, SparseCrossEntropyIsSoftmaxLessOneAtTheLabel) {
  const auto loss = [](const Tensor& logits) {
    return call1(OpId::k_sparse_softmax_cross_entropy, LossAttrs{}, {logits, i64({1, -1})});
  };
  EXPECT_TENSOR(of(loss, f32(Dims{2, 2}, {0, 0, 0, 0})),
                f32(Dims{2, 2}, {0.25, -0.25, 0.25, -0.25}));
}

TEST_F(LayerDerivatives, AveragePoolingNeedsTheTypesAlone) {
  const Ref<Tape> t = tape();
  Tensor x = f32(Dims{1, 1, 3}, {1, 2, 3});
  t->watch(x);
  const AvgPoolAttrs attrs{.kernel_shape = {2}, .pads = {1, 0}};
  const Tensor y = call1(OpId::k_avg_pool, attrs, {x});

  EXPECT_TENSOR(t->gradient(y, x), f32(Dims{1, 1, 3}, {1.5, 1, 0.5}));
}

}  // namespace
}  // namespace tenon
