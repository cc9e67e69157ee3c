// Runs every case of every op on each device of the build, and compares values or errors with the
// expected ones. Runs each case again with gaps between elements and in the half types. Compares
// derivatives with finite differences.

#include <cmath>
#include <ostream>

#include "core/ops/definition/op_ids.h"
#include "core/testing/op_problem.h"

namespace tenon {
namespace {

using testing::OpProblem;
using testing::values_of;

constexpr size_t kMaxElementsForSecondOrder =
    256;  // Larger problems would take too long in second-order checks.

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

// Returns the tolerances for an op's results. These tests detect bugs, not losses of precision, so
// the tolerances are coarser than the accuracy classes of NUMERICS.md, which the conformance kit
// checks in ulp.
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

// gtest calls this function to print a test parameter.
void PrintTo(const Param& param, std::ostream* out) { *out << param.op->name; }

class OpCases : public ::testing::TestWithParam<Param> {
 protected:
  void SetUp() override;
  void run(const AnyCase& c);
  void run_in(DType half, const AnyCase& c);
  void expect_values(const AnyCase& c, const Tensors& got, const Tensors& want, bool exact_type);
  Tensors oracle_outputs(const OpProblem& problem);

  const OpDef& op() const { return *GetParam().op; }

  Ref<Context> context_;
  Ref<Scope> oracle_;
  Ref<Scope> scope_;
};

class OpCasesInHalfTypes : public OpCases {};

void OpCases::SetUp() {
  ContextOptions options;
  options.plugin_paths.push_back(testing::plugin_folder());
  options.fallback_policy = FallbackPolicy::kStrict;
  context_ = Ref<Context>::adopt(new Context(options));
  oracle_ = Ref<Scope>::adopt(new Scope(*context_, &context_->device("ref")));
  scope_ = Ref<Scope>::adopt(new Scope(*context_, &context_->device(GetParam().device)));
}

// Returns the outputs of the oracle for floating-point inputs converted to float64. If that call
// fails or changes a shape (for example, because an attribute requires a dtype), returns the
// outputs for the original dtypes.
Tensors OpCases::oracle_outputs(const OpProblem& problem) {
  Scope::Enter enter(*oracle_);
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

void OpCases::run(const AnyCase& c) {
  const OpProblem problem(op(), c);
  Scope::Enter enter(*scope_);
  if (!c.error.empty()) {
    try {
      problem.call();
      FAIL() << "did not fail with " << c.error;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(c.error), std::string::npos) << error.what();
      // An index error names the op of the decomposition that reads the indices.
      if (error.code() != Code::kOutOfRange) {
        EXPECT_EQ(error.info().op, op().name);
      }
    }
    return;
  }

  const Tensors got = problem.call();
  if (c.expect.empty()) {
    expect_values(c, got, oracle_outputs(problem), false);
  } else {
    AnyCase as_inputs = c;
    as_inputs.inputs = c.expect;
    expect_values(c, got, OpProblem(op(), as_inputs).inputs(), true);
  }

  const Tensors apart = problem.call(problem.inputs_with_gaps());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(testing::tensors_equal(apart[i], got[i], 0, 0)) << "with gaps, output " << i;
  }

  // Finite differences need finite inputs and outputs.
  if (!op().differentiable || !c.check_gradient || !problem.is_finite() || !are_finite(got)) return;
  const OpProblem wide = problem.widened();
  EXPECT_EQ(wide.check_gradient(), "");
  if (wide.n_elements() <= kMaxElementsForSecondOrder) {
    EXPECT_EQ(wide.check_second_order(), "");
  }
}

// Runs a float32 case in a half type. The result must match the float64 result for the same inputs,
// rounded to the half type.
void OpCases::run_in(DType half, const AnyCase& c) {
  const OpProblem as_written(op(), c);
  if (!c.error.empty() || !as_written.is_float32()) return;
  Scope::Enter enter(*scope_);
  const OpProblem problem = as_written.with_floats(half);
  const Tensors got = problem.call(), want = oracle_outputs(problem);
  const double bound = 4 * epsilon_of(half);
  const double largest = half == DType::kF16 ? 65504 : 0x1.fep127;
  for (size_t i = 0; i < got.size(); ++i) {
    const std::vector<double> a = values_of(got[i]), b = values_of(want[i]);
    for (size_t k = 0; k < a.size(); ++k) {
      const bool same = a[k] == b[k] || (std::isnan(a[k]) && std::isnan(b[k])) ||
                        std::abs(a[k] - b[k]) <= bound * (1 + std::abs(b[k])) ||
                        (a[k] == std::copysign(INFINITY, b[k]) && std::abs(b[k]) > largest);
      EXPECT_TRUE(same) << "output " << i << ", element " << k << ": got " << a[k] << ", want "
                        << b[k];
    }
  }
}

TEST_P(OpCases, OutputsErrorsAndDerivativesMatchTheExpectedOnes) {
  for (const AnyCase& c : op().cases(op())) {
    SCOPED_TRACE("case " + c.name);
    try {
      run(c);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST_P(OpCasesInHalfTypes, OutputsMatchTheFloat64Oracle) {
  for (const AnyCase& c : op().cases(op())) {
    for (const DType half : {DType::kF16, DType::kBF16}) {
      SCOPED_TRACE("case " + c.name + " in " + std::string(name_of(half)));
      try {
        run_in(half, c);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
}

// Returns one parameter per op for this device; none if the build does not include its plugin.
std::vector<Param> params(const char* device) {
  std::vector<Param> result;
  if (!testing::has_plugin(device)) return result;
  for (const OpDef& op : all_ops()) {
    if (op.cases) result.push_back({device, &op});
  }
  return result;
}

// Whether the op refuses half types. Such an op has a case that is named half_types_are_refused.
bool refuses_half_types(const OpDef& op) {
  for (const AnyCase& c : op.cases(op)) {
    if (c.name == "half_types_are_refused") return true;
  }
  return false;
}

// Omits bitcast and nextafter, whose results depend on the bits of the dtype.
std::vector<Param> params_in_half_types(const char* device) {
  std::vector<Param> result = params(device);
  std::erase_if(result, [](const Param& param) {
    const auto id = static_cast<OpId>(param.op->id);
    return id == OpId::k_bitcast || id == OpId::k_nextafter || refuses_half_types(*param.op);
  });
  return result;
}

std::string test_name(const ::testing::TestParamInfo<Param>& info) { return info.param.op->name; }

INSTANTIATE_TEST_SUITE_P(Ref, OpCases, ::testing::ValuesIn(params("ref")), test_name);
INSTANTIATE_TEST_SUITE_P(Cpu, OpCases, ::testing::ValuesIn(params("cpu")), test_name);
INSTANTIATE_TEST_SUITE_P(Ref, OpCasesInHalfTypes, ::testing::ValuesIn(params_in_half_types("ref")),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Cpu, OpCasesInHalfTypes, ::testing::ValuesIn(params_in_half_types("cpu")),
                         test_name);

}  // namespace
}  // namespace tenon
