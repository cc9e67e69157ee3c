// Runs every case of every op on each device that the build has: its error or its values, the same
// with gaps between elements, and its derivatives against finite differences.

#include <cmath>
#include <ostream>

#include "core/testing/op_problem.h"

namespace tenon {
namespace {

using testing::OpProblem;
using testing::values_of;

constexpr size_t kMostForSecondOrder = 256;  // Elements of a problem; larger ones take too long.

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x1p-10;
    case DType::kBF16:
      return 0x1p-7;
    case DType::kF32:
      return 0x1p-23;
    default:
      return 0x1p-52;
  }
}

struct Bounds {
  double rtol = 0, atol = 0;
};

// Coarser than the classes of NUMERICS.md, which the conformance kit measures in ulp: what is wrong
// by more is wrong in kind.
Bounds bounds_of(const OpDef& op, const AnyCase& c, DType dtype) {
  Bounds bounds;
  if (is_floating(dtype)) {
    const double epsilon = epsilon_of(dtype);
    switch (op.numeric) {
      case Numeric::kExact:
        break;
      case Numeric::kRounded:
        bounds = {epsilon, 0};
        break;
      case Numeric::kDivision:
        bounds = {3 * epsilon, 0};
        break;
      case Numeric::kTranscendental:
        bounds = {16 * epsilon, 1e-6};
        break;
      case Numeric::kAccumulation:
      case Numeric::kComposite:
        bounds = {64 * epsilon, 64 * epsilon};
        break;
    }
  }
  if (c.rtol >= 0) bounds.rtol = c.rtol;
  if (c.atol >= 0) bounds.atol = c.atol;
  return bounds;
}

bool are_finite(const Tensors& tensors) {
  for (const Tensor& x : tensors) {
    for (const double value : values_of(x)) {
      if (!std::isfinite(value)) return false;
    }
  }
  return true;
}

struct Param {
  const char* device;
  const OpDef* op;
};

// What gtest shows of a parameter.
void PrintTo(const Param& param, std::ostream* out) { *out << param.op->name; }

class OpCases : public ::testing::TestWithParam<Param> {
 protected:
  void run(const AnyCase& c, Scope& scope, Scope& oracle);
  void expect_values(const AnyCase& c, const Tensors& got, const Tensors& want, bool exact_type);
  Tensors from_oracle(const OpProblem& problem, Scope& oracle);

  const OpDef& op() const { return *GetParam().op; }
};

// Floating inputs in float64, unless the op's attributes insist on another dtype.
Tensors OpCases::from_oracle(const OpProblem& problem, Scope& oracle) {
  Scope::Enter enter(oracle);
  const Tensors plain = problem.call();
  try {
    Tensors wide = problem.widened().call();
    for (size_t i = 0; i < wide.size(); ++i) {
      if (wide[i]->shape() != plain[i]->shape()) return plain;
    }
    return wide;
  } catch (const Error&) {
    return plain;
  }
}

void OpCases::expect_values(const AnyCase& c, const Tensors& got, const Tensors& want,
                            bool exact_type) {
  ASSERT_GE(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const TensorType &type = got[i]->type, &wanted = want[i]->type;
    EXPECT_TRUE(type.shape == wanted.shape && (!exact_type || type.dtype == wanted.dtype))
        << "output " << i << " is " << to_string(type) << ", not " << to_string(wanted);
    if (!(type.shape == wanted.shape)) return;
    const Bounds bounds = bounds_of(op(), c, type.dtype);
    const std::vector<double> a = values_of(got[i]), b = values_of(want[i]);
    for (size_t k = 0; k < a.size(); ++k) {
      const bool same = a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k])) ||
                        std::abs(a[k] - b[k]) <= bounds.atol + bounds.rtol * std::abs(b[k]);
      EXPECT_TRUE(same) << "output " << i << ", element " << k << ": got " << a[k] << ", want "
                        << b[k];
      if (!same) return;
    }
  }
}

void OpCases::run(const AnyCase& c, Scope& scope, Scope& oracle) {
  const OpProblem problem(op(), c);
  Scope::Enter enter(scope);
  if (!c.error.empty()) {
    try {
      problem.call();
      FAIL() << "did not fail with " << c.error;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(c.error), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).rfind(op().name + ": ", 0), 0u) << error.what();
    }
    return;
  }

  const Tensors got = problem.call();
  if (c.expect.empty()) {
    expect_values(c, got, from_oracle(problem, oracle), false);
  } else {
    AnyCase as_inputs = c;
    as_inputs.inputs = c.expect;
    expect_values(c, got, OpProblem(op(), as_inputs).inputs(), true);
  }

  const Tensors apart = problem.call(problem.inputs_with_gaps());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(testing::tensors_equal(apart[i], got[i], 0, 0)) << "with gaps, output " << i;
  }

  // Differences say nothing about infinities.
  if (!op().differentiable || !c.check_gradient || !problem.is_finite() || !are_finite(got)) return;
  const OpProblem wide = problem.widened();
  EXPECT_EQ(wide.check_gradient(), "");
  if (wide.n_elements() <= kMostForSecondOrder) {
    EXPECT_EQ(wide.check_second_order(), "");
  }
}

TEST_P(OpCases, Pass) {
  ContextOptions options;
  options.plugin_paths.push_back(testing::plugin_folder());
  options.fallback_policy = FallbackPolicy::kStrict;
  const auto context = Ref<Context>::adopt(new Context(options));
  const auto oracle = Ref<Scope>::adopt(new Scope(*context, &context->device("ref")));
  Device* device = nullptr;
  try {
    device = &context->device(GetParam().device);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const auto scope = Ref<Scope>::adopt(new Scope(*context, device));
  for (const AnyCase& c : op().cases(op())) {
    SCOPED_TRACE("case " + c.name);
    try {
      run(c, *scope, *oracle);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

std::vector<Param> params(const char* device) {
  std::vector<Param> result;
  for (const OpDef& op : all_ops()) {
    if (op.cases) result.push_back({device, &op});
  }
  return result;
}

std::string name_of(const ::testing::TestParamInfo<Param>& info) { return info.param.op->name; }

INSTANTIATE_TEST_SUITE_P(Ref, OpCases, ::testing::ValuesIn(params("ref")), name_of);
INSTANTIATE_TEST_SUITE_P(Cpu, OpCases, ::testing::ValuesIn(params("cpu")), name_of);

}  // namespace
}  // namespace tenon
