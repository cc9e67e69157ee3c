// Expansions over tensors give the same bits as over numbers, so the tests in expansions/ cover
// both. expansions_on_ref_test.cc compares a million inputs.

#include <cmath>
#include <limits>

#include "core/ops/definition/op_ids.h"
#include "core/ops/expansions/activation.h"
#include "core/ops/expansions/erf.h"
#include "core/ops/expansions/exp.h"
#include "core/ops/expansions/gamma.h"
#include "core/ops/expansions/hyperbolic.h"
#include "core/ops/expansions/inverse_trig.h"
#include "core/ops/expansions/log.h"
#include "core/ops/expansions/pow.h"
#include "core/ops/expansions/root.h"
#include "core/ops/expansions/scalar_value.h"
#include "core/ops/expansions/trig.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

using expansions::ScalarValue;
using testing::CoreTest;
using testing::make;
using testing::values_of;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const std::vector<double> kPoints = {0.0,  -0.0,  1,     -1,   0.5,   -0.5, 0.75,     2,    -2,
                                     3.25, 10,    -10,   88.5, -88.5, 1000, 1e6,      1e30, -1e30,
                                     1e-6, 1e-30, 1e-41, kInf, -kInf, kNaN, 123456789};

Tensor decomposed(OpId id, const Tensors& inputs) {
  const OpDef& op = op_def(id);
  const NoAttrs attrs;
  return op.decompose(op, &attrs, inputs)[0];
}

void expect_same(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const bool same = std::isnan(want[i])
                          ? std::isnan(got[i])
                          : got[i] == want[i] && std::signbit(got[i]) == std::signbit(want[i]);
    EXPECT_TRUE(same) << "at point " << i << ": got " << got[i] << ", want " << want[i];
  }
}

class ExpansionsOfTensors : public CoreTest {
 protected:
  template <class Expansion>
  void expect_bits_of_numbers(OpId id, const Expansion& expansion) {
    SCOPED_TRACE(op_def(id).name);
    expect_bits<float>(id, DType::kF32, expansion);
    expect_bits<double>(id, DType::kF64, expansion);
  }
  template <class T, class Expansion>
  void expect_bits(OpId id, DType dtype, const Expansion& expansion) {
    const Tensor x = make(dtype, {static_cast<int64_t>(kPoints.size())}, kPoints);
    std::vector<double> want;
    for (const double point : values_of(x)) {
      want.push_back(static_cast<double>(expansion(ScalarValue<T>(point)).value()));
    }
    expect_same(values_of(decomposed(id, {x})), want);
  }
};

#define TENON_EXPECT_UNARY(name) \
  expect_bits_of_numbers(OpId::k_##name, [](const auto& x) { return expansions::name(x); })

TEST_F(ExpansionsOfTensors, AreBitIdenticalToScalars) {
  TENON_EXPECT_UNARY(rsqrt);
  TENON_EXPECT_UNARY(exp);
  TENON_EXPECT_UNARY(exp2);
  TENON_EXPECT_UNARY(expm1);
  TENON_EXPECT_UNARY(log);
  TENON_EXPECT_UNARY(log2);
  TENON_EXPECT_UNARY(log10);
  TENON_EXPECT_UNARY(log1p);
  TENON_EXPECT_UNARY(sin);
  TENON_EXPECT_UNARY(cos);
  TENON_EXPECT_UNARY(tan);
  TENON_EXPECT_UNARY(asin);
  TENON_EXPECT_UNARY(acos);
  TENON_EXPECT_UNARY(atan);
  TENON_EXPECT_UNARY(sinh);
  TENON_EXPECT_UNARY(cosh);
  TENON_EXPECT_UNARY(tanh);
  TENON_EXPECT_UNARY(asinh);
  TENON_EXPECT_UNARY(acosh);
  TENON_EXPECT_UNARY(atanh);
  TENON_EXPECT_UNARY(erf);
  TENON_EXPECT_UNARY(erfc);
  TENON_EXPECT_UNARY(cbrt);
  TENON_EXPECT_UNARY(lgamma);
  TENON_EXPECT_UNARY(digamma);
  TENON_EXPECT_UNARY(trigamma);
  TENON_EXPECT_UNARY(sigmoid);
}

TEST_F(ExpansionsOfTensors, WithTwoInputsAreBitIdenticalToScalars) {
  const auto n = static_cast<int64_t>(kPoints.size());
  const Tensor a = make(DType::kF32, {n, 1}, kPoints), b = make(DType::kF32, {n}, kPoints);
  using Value = ScalarValue<float>;
  std::vector<double> angles, powers;
  for (const double x : values_of(a)) {
    for (const double y : values_of(b)) {
      angles.push_back(expansions::atan2(Value(x), Value(y)).value());
      powers.push_back(expansions::pow(Value(x), Value(y)).value());
    }
  }

  expect_same(values_of(decomposed(OpId::k_atan2, {a, b})), angles);
  expect_same(values_of(decomposed(OpId::k_pow, {a, b})), powers);
}

TEST_F(ExpansionsOfTensors, ComputeHalfTypesInFloat32) {
  const Tensor x = make(DType::kF16, {3}, {1, -2, 0.1});

  EXPECT_TENSOR(decomposed(OpId::k_exp, {x}),
                make(DType::kF16, {3}, {2.71875, 0.1353759765625, 1.10546875}));
}

TEST_F(ExpansionsOfTensors, RefusePowersOfIntegerTensors) {
  const Tensor x = make(DType::kI32, {1}, {2});

  EXPECT_ERROR(decomposed(OpId::k_pow, {x, x}), Code::kUnimplemented, "i32");
}

}  // namespace
}  // namespace tenon
