// Tests derivatives of linear algebra, scans and reductions that finite differences cannot check:
// at repeated or tied values, at kinks, and in the triangle that an op does not read.

#include "core/ops/definition/op_ids.h"
#include "core/ops/linalg/linalg.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

using testing::f32;

// Copy of the attribute struct in cummax_cummin.cc.
struct CumulativeExtremeAttrs {
  int64_t axis = 0;
  bool reverse = false;
  TENON_ATTRS(axis, reverse)
};

class LinalgDerivatives : public testing::CoreTest {
 protected:
  // Returns the gradient of the sum of one output of an op.
  template <class Attrs>
  Tensor of(OpId op, const Attrs& attrs, const Tensor& x, size_t output = 0) {
    const Ref<Tape> t = tape();
    t->watch(x);
    return t->gradient(call_op(op, any_attrs(attrs), {&x, 1})[output], x);
  }
};

TEST_F(LinalgDerivatives, OfSingularValuesAreFiniteForRepeatedValues) {
  const Tensor x = f32({2, 2}, {3, 0, 0, 3});
  EXPECT_TENSOR(of(OpId::k_svd, NoAttrs{}, x, 1), f32({2, 2}, {1, 0, 0, 1}));
}

TEST_F(LinalgDerivatives, OfEigenvaluesAreFiniteForRepeatedValues) {
  const Tensor x = f32({2, 2}, {3, 0, 0, 3});
  EXPECT_TENSOR(of(OpId::k_eigh, NoAttrs{}, x), f32({2, 2}, {1, 0, 0, 1}));
}

TEST_F(LinalgDerivatives, AreNonzeroOnlyInTheTriangleThatTheOpReads) {
  // The sum of the eigenvalues is the trace, whose gradient is the identity matrix.
  const Tensor trace = of(OpId::k_eigh, NoAttrs{}, f32({2, 2}, {2, 9, 1, 2}));
  EXPECT_TENSOR_NEAR(trace, f32({2, 2}, {1, 0, 0, 1}), 0, 1e-6);

  const Ref<Tape> t = tape();
  const Tensor a = f32({2, 2}, {4, 9, 2, 10});
  t->watch(a);
  const Tensor y = triangular_solve(a, f32({2, 1}, {1, 1}), {});
  EXPECT_TENSOR_NEAR(t->gradient(y, a), f32({2, 2}, {-0.05, 0, -0.025, -0.005}), 1e-6, 0);
}

TEST_F(LinalgDerivatives, OfCummaxPassTheGradientToTheFirstOfTiedElements) {
  const CumulativeExtremeAttrs forwards, backwards{.reverse = true};
  EXPECT_TENSOR(of(OpId::k_cummax, forwards, f32({2, 2, 1})), f32({3, 0, 0}));
  EXPECT_TENSOR(of(OpId::k_cummin, backwards, f32({3, 2, 2})), f32({0, 0, 3}));
}

TEST_F(LinalgDerivatives, OfL1NormAreZeroAtZero) {
  EXPECT_TENSOR(of(OpId::k_l1_norm, Along{}, f32({-2, 0, 3})), f32({-1, 0, 1}));
}

}  // namespace
}  // namespace tenon
