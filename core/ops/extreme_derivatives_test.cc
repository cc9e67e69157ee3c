// Tests derivatives of ops that compute squares, at inputs whose squares overflow or underflow.

#include <cmath>

#include "core/ops/definition/op_ids.h"
#include "core/ops/reductions/norm.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

using testing::f32;

// Copies of the attribute structs, which are local to the ops' files.
struct L2NormalizeAttrs {
  int64_t axis = -1;
  double epsilon = 1e-36;
  TENON_ATTRS(axis, epsilon)
};
struct NormAttrs {
  int64_t axis = -1;
  double epsilon = 0;
  TENON_ATTRS(axis, epsilon)
};
struct CosineAttrs {
  int64_t axis = 0;
  double epsilon = 0;
  TENON_ATTRS(axis, epsilon)
};
struct VarAttrs {
  Ints axes;
  bool keepdims = false;
  double correction = 0;
  TENON_ATTRS(axes, keepdims, correction)
};
struct LpPoolAttrs {
  Ints kernel_shape{2};
  Ints strides, pads, dilations;
  bool ceil_mode = false;
  int64_t p = 2;
  TENON_ATTRS(kernel_shape, strides, pads, dilations, ceil_mode, p)
};
struct GlobalLpPoolAttrs {
  int64_t p = 3;
  TENON_ATTRS(p)
};

class ExtremeDerivatives : public testing::CoreTest {
 protected:
  // Returns the gradient of sum(f(x)).
  template <class F>
  Tensor of(const F& f, const Tensor& x) {
    const Ref<Tape> t = tape();
    t->watch(x);
    return t->gradient(f(x), x);
  }

  // Expects the gradient of f at scale * x to be `want` * scale^power.
  template <class F>
  void expect_scaled(const F& f, const std::vector<double>& x, const std::vector<double>& want,
                     int power, const Dims& shape = {}) {
    for (const double scale : {1e30, 1.0, 1e-30}) {
      SCOPED_TRACE(scale);
      std::vector<double> at = x, slopes = want;
      for (double& value : at) value *= scale;
      for (double& value : slopes) value *= std::pow(scale, power);
      const Dims own = shape.rank() > 0 ? shape : Dims{static_cast<int64_t>(x.size())};
      EXPECT_TENSOR_NEAR(of(f, testing::make(DType::kF32, own, at)),
                         testing::make(DType::kF32, own, slopes), 1e-5,
                         std::pow(scale, power) * 1e-6);
    }
  }
};

TEST_F(ExtremeDerivatives, OfL2NormEqualTheUnitVectorAtAnyScale) {
  expect_scaled([](const Tensor& x) { return call1(OpId::k_l2_norm, Along{}, {x}); }, {3, -4},
                {0.6, -0.8}, 0);
}

TEST_F(ExtremeDerivatives, OfHypotEqualTheUnitVectorAtAnyScale) {
  const auto hypot = [](const Tensor& x) {
    const Tensor side = slice(x, {.starts = {0}, .ends = {1}});
    const Tensor other = slice(x, {.starts = {1}, .ends = {2}});
    return call1(OpId::k_hypot, NoAttrs{}, {side, other});
  };
  expect_scaled(hypot, {3, -4}, {0.6, -0.8}, 0);
}

TEST_F(ExtremeDerivatives, OfL2NormalizeAreInverselyProportionalToTheLength) {
  expect_scaled(
      [](const Tensor& x) { return call1(OpId::k_l2_normalize, L2NormalizeAttrs{}, {x}); }, {3, 4},
      {0.032, -0.024}, -1);
}

TEST_F(ExtremeDerivatives, OfCosineSimilarityAreInverselyProportionalToTheLength) {
  const auto cosine = [](const Tensor& x) {
    return call1(OpId::k_cosine_similarity, CosineAttrs{}, {x, f32({4, 3})});
  };
  expect_scaled(cosine, {3, 4}, {0.0448, -0.0336}, -1);
}

TEST_F(ExtremeDerivatives, OfRmsNormAreInverselyProportionalToTheRootMeanSquare) {
  const auto norm = [](const Tensor& x) {
    return call1(OpId::k_rms_norm, NormAttrs{}, {x, f32({1, 1})});
  };
  expect_scaled(norm, {1, 7}, {0.168, -0.024}, -1);
}

TEST_F(ExtremeDerivatives, OfLayerNormAreInverselyProportionalToTheDeviation) {
  const auto norm = [](const Tensor& x) {
    return call1(OpId::k_layer_norm, NormAttrs{}, {x, f32({1, 0, 0})});
  };
  expect_scaled(norm, {1, 1, 4}, {0.35355339, -0.35355339, 0}, -1);
}

TEST_F(ExtremeDerivatives, OfGroupNormAreInverselyProportionalToTheDeviation) {
  const auto norm = [](const Tensor& x) {
    return call1(OpId::k_group_norm, GroupNormAttrs{.epsilon = 0},
                 {x, f32({1, 0, 0}), f32({0, 0, 0})});
  };
  expect_scaled(norm, {1, 1, 4}, {0.35355339, -0.35355339, 0}, -1, {1, 3});
}

// The variance overflows or underflows at these inputs, but its derivative does not.
TEST_F(ExtremeDerivatives, OfVarAreProportionalToTheDistancesFromTheMean) {
  const auto var = [](const Tensor& x) { return call1(OpId::k_var, VarAttrs{}, {x}); };
  const auto moments = [](const Tensor& x) {
    return call_op(OpId::k_moments, any_attrs(Along{}), TensorSpan(&x, 1))[1];
  };
  expect_scaled(var, {1, 3}, {-1, 1}, 1);
  expect_scaled(moments, {1, 3}, {-1, 1}, 1);
}

TEST_F(ExtremeDerivatives, OfMomentsAreTheSumOfThoseOfMeanAndVariance) {
  const Tensor x = f32({1, 3, 5, 7});
  const auto both = [](const Tensor& t) {
    const Tensors y = call_op(OpId::k_moments, any_attrs(Along{}), TensorSpan(&t, 1));
    return y[0] + y[1];
  };
  EXPECT_TENSOR(of(both, x), f32({-1.25, -0.25, 0.75, 1.75}));
}

TEST_F(ExtremeDerivatives, OfLpPoolsEqualTheUnitVectorsAtAnyScale) {
  const auto pool = [](const Tensor& x) { return call1(OpId::k_lp_pool, LpPoolAttrs{}, {x}); };
  const auto global = [](const Tensor& x) {
    return call1(OpId::k_global_lp_pool, GlobalLpPoolAttrs{}, {x});
  };
  expect_scaled(pool, {3, -4}, {0.6, -0.8}, 0, {1, 1, 2});
  expect_scaled(global, {1, -1}, {0.62996052, -0.62996052}, 0, {1, 1, 2});
}

TEST_F(ExtremeDerivatives, OfAtan2AreInverselyProportionalToTheDistance) {
  const auto angle = [](const Tensor& x) {
    const Tensor a = slice(x, {.starts = {0}, .ends = {1}});
    const Tensor b = slice(x, {.starts = {1}, .ends = {2}});
    return call1(OpId::k_atan2, NoAttrs{}, {a, b});
  };
  expect_scaled(angle, {1, 1}, {0.5, -0.5}, -1);
}

TEST_F(ExtremeDerivatives, OfAsinhAcoshAndAtanAreAccurateForLargeInputs) {
  const auto unary = [](OpId id) {
    return [id](const Tensor& x) { return call1(id, NoAttrs{}, {x}); };
  };
  EXPECT_TENSOR_NEAR(of(unary(OpId::k_asinh), f32({1e30, -1e30, 0, 1})),
                     f32({1e-30, 1e-30, 1, 0.70710678}), 1e-6, 0);
  EXPECT_TENSOR_NEAR(of(unary(OpId::k_acosh), f32({1e30, 2})), f32({1e-30, 0.57735027}), 1e-6, 0);
  EXPECT_TENSOR_NEAR(of(unary(OpId::k_atan), f32({1e18, -1})), f32({1e-36, 0.5}), 1e-6, 0);

  const Tensor half = cast(f32({512}), DType::kF16);
  EXPECT_TENSOR(of(unary(OpId::k_asinh), half), cast(f32({1.0 / 512}), DType::kF16));
  EXPECT_TENSOR(of(unary(OpId::k_acosh), half), cast(f32({1.0 / 512}), DType::kF16));
  EXPECT_TENSOR(of(unary(OpId::k_atan), half), cast(f32({0x1p-18}), DType::kF16));
}

}  // namespace
}  // namespace tenon
