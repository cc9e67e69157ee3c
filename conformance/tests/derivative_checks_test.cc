// Tests the checks of derivatives: with ops whose derivatives are wrong on purpose, and which ops
// the checks cover.

#include <gtest/gtest.h>

#include <set>

#include "conformance/checks/derivative.h"
#include "conformance/oracle/oracle.h"
#include "conformance/run/registry_claims.h"

namespace tenon_kit {
namespace {

using tenon::Tensor;

// An op with one input, and its claimed derivative.
struct PlantedOp {
  const char* name;
  Tensor (*f)(const Tensor& x);
  Tensor (*backward)(const Tensor& x, const Tensor& g);
};

const PlantedOp& planted(void* payload) { return *static_cast<const PlantedOp*>(payload); }

tenon_error* same_type(void*, const void*, const tenon_type* inputs, size_t, tenon_type* outputs,
                       size_t) {
  outputs[0] = inputs[0];
  return nullptr;
}

tenon_tensor* retained(const Tensor& x) {
  tenon_tensor_retain(x.get());
  return x.get();
}

tenon_error* run_parts(void* payload, tenon_scope* scope, const void*, tenon_tensor* const* inputs,
                       size_t, tenon_tensor** outputs, size_t) {
  const tenon::ScopeGuard current(scope);
  outputs[0] = retained(planted(payload).f(Tensor::share(inputs[0])));
  return nullptr;
}

tenon_error* run_backward(void* payload, tenon_scope* scope, const void*,
                          const tenon_backward_args* args, tenon_tensor** grads, size_t) {
  const tenon::ScopeGuard current(scope);
  const Tensor x = Tensor::share(args->inputs[0]), g = Tensor::share(args->cotangents[0]);
  grads[0] = retained(planted(payload).backward(x, g));
  return nullptr;
}

class DerivativeChecks : public ::testing::Test {
 protected:
  // Returns a problem that calls the faulty op on these values. The checks see the op under the
  // name `as`.
  Problem problem_of(const PlantedOp& op, Reals values, const char* as = "planted") {
    const tenon_custom_op custom = {.struct_size = sizeof custom,
                                    .n_inputs = 1,
                                    .n_outputs = 1,
                                    .attrs_size = 0,
                                    .name = tenon_str(op.name),
                                    .infer = same_type,
                                    .compute = nullptr,
                                    .decompose = run_parts,
                                    .backward = run_backward,
                                    .payload = const_cast<PlantedOp*>(&op),
                                    .destroy = nullptr};
    tenon::check(tenon_op_register(oracle_.context().get(), &custom, &facts_.id));
    facts_.name = as;
    facts_.differentiable = true;
    facts_.n_outputs = 1;
    facts_.inputs = {{"x"}};
    facts_.cases = "[]";
    Problem problem;
    problem.op = &facts_;
    Operand x;
    x.dtype = TENON_FLOAT64;
    x.shape = {static_cast<int64_t>(values.size())};
    x.fill.values = std::move(values);
    problem.inputs = {std::move(x)};
    return problem;
  }

  Finding find(const char* check, const Problem& problem) {
    return find_check(check)->test(env_, problem);
  }

  OpFacts facts_;
  const Session oracle_ = Session({.device = "oracle:0", .query = query_oracle});
  const Environment env_ = {.device = oracle_, .oracle = oracle_, .thorough = true};
};

Tensor squared(const Tensor& x) { return x * x; }
Tensor tripled(const Tensor& x) { return 3 * x; }
Tensor root(const Tensor& x) { return tenon::sqrt(x); }

TEST_F(DerivativeChecks, FailIfADerivativeIsNotFinite) {
  const PlantedOp nan = {"nan", squared, [](const Tensor& x, const Tensor& g) {
                           return 2 * x * g + (x - x) / (x - x);
                         }};
  const PlantedOp infinite = {"infinite", squared,
                              [](const Tensor& x, const Tensor& g) { return g / (x - x); }};

  for (const PlantedOp& op : {nan, infinite}) {
    const Finding finding = find("differences", problem_of(op, {1, 2}));
    EXPECT_FALSE(finding.passed) << op.name;
  }
}

TEST_F(DerivativeChecks, FindWrongElementsNextToAnElementAtTheEdgeOfTheDomain) {
  const PlantedOp right = {
      "right", root, [](const Tensor& x, const Tensor& g) { return 0.5 * g / tenon::sqrt(x); }};
  const PlantedOp wrong = {
      "wrong", root, [](const Tensor& x, const Tensor& g) { return 0.5001 * g / tenon::sqrt(x); }};

  EXPECT_TRUE(find("differences", problem_of(right, {0, 4})).passed);
  EXPECT_FALSE(find("differences", problem_of(wrong, {0, 4})).passed);
}

TEST_F(DerivativeChecks, PerturbSingleElementsOfLargeInputs) {
  const PlantedOp wrong = {
      "wrong", root, [](const Tensor& x, const Tensor& g) { return 0.5001 * g / tenon::sqrt(x); }};
  Reals values(70, 4);
  values.back() = 0;

  EXPECT_FALSE(find("differences", problem_of(wrong, values)).passed);
}

TEST_F(DerivativeChecks, AreMistrustedIfNoElementWasCompared) {
  const PlantedOp right = {
      "right", root, [](const Tensor& x, const Tensor& g) { return 0.5 * g / tenon::sqrt(x); }};
  EXPECT_TRUE(find("differences", problem_of(right, {4})).trusted);

  const PlantedOp again = {"again", right.f, right.backward};
  const Finding finding = find("differences", problem_of(again, {0}));

  EXPECT_TRUE(finding.passed);
  EXPECT_FALSE(finding.trusted);
}

TEST_F(DerivativeChecks, DetectAnErrorOfOneTenBillionthInLinearOps) {
  const PlantedOp op = {"almost", tripled,
                        [](const Tensor&, const Tensor& g) { return (3 + 3e-10) * g; }};
  const Problem problem = problem_of(op, {1, -2, 0.5});

  EXPECT_TRUE(find("differences", problem).passed);
  EXPECT_FALSE(find("adjoint", problem).passed);
  EXPECT_FALSE(find("adjoint_of_definition", problem).passed);
}

TEST_F(DerivativeChecks, CompareGradientsAtKinksWithDeclaredDerivatives) {
  const PlantedOp one_sided = {
      "one_sided", [](const Tensor& x) { return tenon::abs(x); },
      [](const Tensor& x, const Tensor& g) { return tenon::where(tenon::less(x, 0), -g, g); }};
  Claim claim = {.inputs = {TENON_FLOAT64}, .outputs = {TENON_FLOAT64}};
  const Problem planted = problem_of(one_sided, {1}, "abs");
  claim.op = planted.op;
  const Check& kinks = *find_check("kinks");

  ASSERT_TRUE(kinks.applies(env_, claim));
  const std::vector<Problem> problems = kinks.problems(env_, claim);
  ASSERT_EQ(problems.size(), 1u);
  const Finding finding = kinks.test(env_, problems[0]);

  EXPECT_FALSE(finding.passed);
  EXPECT_NE(finding.message.find("element 1 is 2, not 0"), std::string::npos) << finding.message;
  const Claim real = {.op = find_op("abs"), .inputs = claim.inputs, .outputs = claim.outputs};
  Problem right = kinks.problems(env_, real)[0];
  EXPECT_TRUE(kinks.test(env_, right).passed);
  right.expected.push_back(right.expected[0]);
  EXPECT_FALSE(kinks.test(env_, right).passed) << "by an input that has no gradient";
}

// ---- coverage

class Reach : public DerivativeChecks {
 protected:
  Reach() { add_unclaimed(oracle_, claims_); }

  // The ops for which the check has a problem.
  std::set<std::string> ops_of(const char* name) {
    const Check& check = *find_check(name);
    std::set<std::string> ops;
    for (const Claim& claim : claims_.rows) {
      if (ops.contains(claim.op->name) || !check.applies(env_, claim)) continue;
      if (!check.problems(env_, claim).empty()) ops.insert(claim.op->name);
    }
    return ops;
  }

  Claims claims_;
};

TEST_F(Reach, FiniteDifferencesCoverEveryDifferentiableOp) {
  // By definition, the derivative of these ops is not the derivative of the function that they
  // compute, so finite differences do not apply. The check `kinks` covers them.
  const std::set<std::string> declared = {"stop_gradient", "fake_quantize"};
  const std::set<std::string> reached = ops_of("differences");
  for (const OpFacts& op : all_ops()) {
    if (!op.differentiable || declared.contains(op.name)) continue;
    EXPECT_TRUE(reached.contains(op.name)) << op.name;
  }
}

// 52 is the number of ops in the table of kinks (checks/kinks.cc).
TEST_F(Reach, KinksCoverEveryOpThatDeclaresAKink) { EXPECT_EQ(ops_of("kinks").size(), 52u); }

TEST_F(Reach, AdjointCheckCoversLinearOpsOnly) {
  const std::set<std::string> reached = ops_of("adjoint");
  for (const char* linear : {"add",
                             "avg_pool",
                             "broadcast_to",
                             "col2im",
                             "concat",
                             "conv",
                             "conv_backward_filter",
                             "conv_backward_input",
                             "conv_transpose",
                             "cumsum",
                             "dense",
                             "depthwise",
                             "div",
                             "einsum",
                             "embedding",
                             "fma",
                             "gather",
                             "gather_nd",
                             "gemm",
                             "im2col",
                             "lerp",
                             "matmul",
                             "max_pool_backward",
                             "mean",
                             "moveaxis",
                             "mul",
                             "neg",
                             "pad",
                             "repeat",
                             "reshape",
                             "resize_cubic",
                             "resize_linear",
                             "resize_nearest",
                             "roll",
                             "rotary_embedding",
                             "scatter_elements",
                             "scatter_nd",
                             "segment_reduce",
                             "slice",
                             "solve",
                             "stack",
                             "sub",
                             "sum",
                             "tensordot",
                             "tile",
                             "transpose",
                             "triangular_solve",
                             "tril",
                             "where",
                             "window_sum"}) {
    EXPECT_TRUE(reached.contains(linear)) << linear;
  }
  for (const char* bent : {"abs", "exp", "floor", "relu", "softmax", "tanh"}) {
    EXPECT_FALSE(reached.contains(bent)) << bent;
  }
}

}  // namespace
}  // namespace tenon_kit
