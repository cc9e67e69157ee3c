// Repeated calls of a composite op replay a launch plan. Values and gradients must be bitwise equal
// to those of the first call.

#include "core/testing/op_problem.h"

namespace tenon {
namespace {

using testing::OpProblem;

// While it exists, composite ops run op by op.
class RunOpByOp {
 public:
  explicit RunOpByOp(Context& context) : context_(context) { context_.run_functions_eagerly(true); }
  ~RunOpByOp() { context_.run_functions_eagerly(false); }

 private:
  Context& context_;
};

constexpr int kCalls = 4;

std::vector<testing::OpParam> composites_with_cases() {
  std::vector<testing::OpParam> all;
  for (const testing::OpParam& param : testing::ops_with_cases()) {
    if (param.op->decompose) all.push_back(param);
  }
  return all;
}

class RepeatedComposites : public testing::CoreTest,
                           public ::testing::WithParamInterface<testing::OpParam> {
 protected:
  static void expect_same(const Tensors& got, const Tensors& want, const std::string& what) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(bool(got[i]), bool(want[i])) << what << " " << i;
      if (!want[i]) continue;
      EXPECT_TRUE(testing::tensors_equal(got[i], want[i], 0, 0)) << what << " " << i;
    }
  }

  // Returns gradients with respect to the floating inputs. The targets are the floating outputs and
  // another use of the inputs, so that the order in which gradients are summed matters.
  Tensors gradients(const OpProblem& problem, const Tensors& inputs, bool persistent) {
    auto recording = Ref<Tape>::adopt(new Tape(
        Ref<Scope>::share(&scope()), {.persistent = persistent, .watch_trainable = false}));
    std::vector<Source> sources;
    Tensors targets;
    for (const Tensor& x : inputs) {
      if (!x || !is_floating(x->type.dtype) || x->type.weak) continue;
      recording->watch(x);
      sources.emplace_back(x);
      targets.push_back(x * 0.3);
    }
    for (const Tensor& y : problem.call(inputs)) {
      if (is_floating(y->type.dtype) && !y->type.weak) targets.push_back(y);
    }
    for (const Source& source : sources) targets.push_back(std::get<Tensor>(source) * 0.7);
    Tensors found = recording->gradient(targets, {}, sources, {.unreached_as_null = true});
    if (!persistent) return found;
    Tensors again;
    for (const Tensor& dx : found) {
      if (dx) again.push_back(dx);
    }
    return recording->gradient(again, {}, sources, {.unreached_as_null = true});
  }
};

TEST_P(RepeatedComposites, AreBitwiseEqual) {
  const OpDef& op = *GetParam().op;
  for (const AnyCase& c : op.cases(op)) {
    if (!c.error.empty()) continue;
    SCOPED_TRACE("case " + c.name);
    const OpProblem problem(op, c);
    const Tensors inputs = problem.inputs();
    const bool is_smooth = op.differentiable && c.check_gradient;
    Tensors want, first, second;
    {
      const RunOpByOp in_parts(context());
      want = problem.call(inputs);
      if (is_smooth) first = gradients(problem, inputs, false);
      if (is_smooth) second = gradients(problem, inputs, true);
    }
    for (int n = 0; n < kCalls; ++n) expect_same(problem.call(inputs), want, "output");
    for (int n = 0; is_smooth && n < kCalls; ++n) {
      expect_same(gradients(problem, inputs, false), first, "gradient");
    }
    for (int n = 0; is_smooth && n < kCalls; ++n) {
      expect_same(gradients(problem, inputs, true), second, "second gradient");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ref, RepeatedComposites, ::testing::ValuesIn(composites_with_cases()),
                         [](const auto& info) { return info.param.op->name; });

}  // namespace
}  // namespace tenon
