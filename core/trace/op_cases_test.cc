// Runs every case of every op inside a function. Values and gradients must be bitwise equal to
// those of eager code, for the sizes of the case and for unknown sizes.

#include "core/testing/op_problem.h"
#include "core/trace/function.h"

namespace tenon {
namespace {

using testing::OpProblem;

class OpsInFunctions : public testing::CoreTest,
                       public ::testing::WithParamInterface<testing::OpParam> {
 protected:
  const OpDef& op() const { return *GetParam().op; }

  Ref<Function> function_of(const OpProblem& problem, const Tensors& inputs, bool sizes_unknown) {
    FunctionOptions options;
    options.has_signature = sizes_unknown;
    for (const Tensor& x : inputs) {
      if (!x) continue;
      InputSpec spec;
      spec.dtype = x->type.dtype;
      spec.weak = x->type.weak;
      for (const Size size : x->shape()) {
        // A case may require that a size of 1 broadcasts. An unknown size never broadcasts.
        spec.sizes.push_back(identical(size, 1) ? 1 : InputSpec::kUnknown);
      }
      options.signature.push_back(std::move(spec));
    }
    return Ref<Function>::adopt(new Function(
        context(), op().name,
        [&problem, &inputs](Scope&, TensorSpan given, const Statics&) {
          Tensors all;
          size_t next = 0;
          for (const Tensor& x : inputs) all.push_back(x ? given[next++] : Tensor());
          return problem.call(all);
        },
        std::move(options)));
  }

  // Returns the gradients of the floating outputs with respect to the floating inputs. On failure,
  // sets `error` to the message.
  template <class Run>
  Tensors gradients(const Tensors& inputs, const Run& run, std::string& error) {
    const Ref<Tape> recording = tape();
    std::vector<Source> sources;
    for (const Tensor& x : inputs) {
      if (!x || !is_floating(x->type.dtype)) continue;
      recording->watch(x);
      sources.emplace_back(x);
    }
    Tensors targets;
    for (const Tensor& y : run()) {
      if (is_floating(y->type.dtype) && !y->type.weak) targets.push_back(y);
    }
    try {
      return recording->gradient(targets, {}, sources, {.unreached_as_null = true});
    } catch (const Error& failed) {
      error = failed.what();
      return {};
    }
  }

  void run(const AnyCase& c, bool sizes_unknown) {
    const OpProblem problem(op(), c);
    const Tensors inputs = problem.inputs();
    Tensors given;
    for (const Tensor& x : inputs) {
      if (x) given.push_back(x);
    }
    const Tensors want = problem.call(inputs);
    const Ref<Function> f = function_of(problem, inputs, sizes_unknown);
    Tensors got = f->call(scope(), given, {});
    // The first call runs op by op, the second records a launch plan, the third replays it.
    for (int n = 0; n < 3; ++n) {
      SCOPED_TRACE("call " + std::to_string(n));
      if (n > 0) got = f->call(scope(), given, {});
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < want.size(); ++i) {
        EXPECT_TRUE(testing::tensors_equal(got[i], want[i], 0, 0)) << "output " << i;
      }
    }
    if (!op().differentiable || !c.check_gradient) return;
    std::string eager_error, traced_error;
    const Tensors eager = gradients(
        inputs, [&] { return problem.call(inputs); }, eager_error);
    for (int n = 0; n < 3; ++n) {
      SCOPED_TRACE("call " + std::to_string(n));
      const Tensors traced = gradients(
          inputs, [&] { return f->call(scope(), given, {}); }, traced_error);
      EXPECT_EQ(traced_error, eager_error);
      ASSERT_EQ(traced.size(), eager.size());
      for (size_t i = 0; i < eager.size(); ++i) {
        ASSERT_EQ(bool(traced[i]), bool(eager[i])) << "gradient " << i;
        if (!eager[i]) continue;
        EXPECT_TRUE(testing::tensors_equal(traced[i], eager[i], 0, 0)) << "gradient " << i;
      }
    }
  }
};

TEST_P(OpsInFunctions, AreBitwiseEqualToEagerCode) {
  for (const AnyCase& c : op().cases(op())) {
    if (!c.error.empty()) continue;
    for (const bool sizes_unknown : {false, true}) {
      SCOPED_TRACE("case " + c.name + (sizes_unknown ? ", sizes unknown" : ""));
      try {
        run(c, sizes_unknown);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
}

// Includes value errors, such as an invalid index, which the call or a wait reports.
TEST_P(OpsInFunctions, FailWhereEagerCodeFails) {
  for (const AnyCase& c : op().cases(op())) {
    if (c.error.empty()) continue;
    SCOPED_TRACE("case " + c.name);
    const OpProblem problem(op(), c);
    const Tensors inputs = problem.inputs();
    Tensors given;
    for (const Tensor& x : inputs) {
      if (x) given.push_back(x);
    }
    const Ref<Function> f = function_of(problem, inputs, false);
    for (int n = 0; n < 3; ++n) {
      SCOPED_TRACE("call " + std::to_string(n));
      try {
        f->call(scope(), given, {});
        scope().wait();
        ADD_FAILURE() << "did not fail with " << c.error;
      } catch (const Error& error) {
        // An error about a data-dependent size does not name a rule of the op.
        const std::string message = error.what();
        const bool is_size =
            message.find("a size in bytes that exceeds int64") != std::string::npos;
        EXPECT_TRUE(is_size || message.find(c.error) != std::string::npos) << message;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ref, OpsInFunctions, ::testing::ValuesIn(testing::ops_with_cases()),
                         [](const auto& info) { return info.param.op->name; });

}  // namespace
}  // namespace tenon
