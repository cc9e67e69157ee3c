// Independent chains of launches that run in parallel, on `cpu`.

#include <atomic>
#include <cmath>
#include <thread>

#include "core/base/error.h"
#include "core/testing/counted_plugin.h"
#include "core/testing/test.h"
#include "core/trace/plans/launch_plan.h"

namespace tenon {
namespace {

using testing::call_counts;
using testing::make;
using testing::values_of;
using Doubles = std::vector<double>;

constexpr int64_t kSize = 192;
constexpr int kTrials = 10;  // Trial calls, alternately serial and parallel; the first is serial.

Tensor matrix(double scale) {
  Doubles values(kSize * kSize);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = scale * std::sin(static_cast<double>(i));
  }
  return make(DType::kF32, {kSize, kSize}, values);
}

// A chain of n layers, which takes long enough to be run as a task.
Tensor tower(const Tensor& x, const Tensor& w, int n = 3) {
  Tensor y = x;
  for (int i = 0; i < n; ++i) y = tanh(matmul(y, w) + y);
  return y;
}

class PlanChains : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::has_plugin("cpu")) GTEST_SKIP() << "this build has no cpu";
    enter(2);
  }
  void enter(uint32_t threads) {
    enter_.reset();
    ContextOptions options;
    options.plugin_paths = {testing::plugin_folder()};
    options.threads = threads;
    context_ = Ref<Context>::adopt(new Context(options));
    context_->add_plugin("cpu",
                         testing::counted_plugin(testing::plugin_folder() + "/libtenon_cpu.so"));
    scope_ = Ref<Scope>::adopt(new Scope(*context_, &context_->device("cpu")));
    enter_ = std::make_unique<Scope::Enter>(*scope_);
  }
  void enter_again() {
    enter_.reset();
    enter_ = std::make_unique<Scope::Enter>(*scope_);
  }
  void TearDown() override { enter_.reset(); }

  Scope& scope() { return *scope_; }
  std::unique_ptr<const LaunchPlan> record(const LaunchPlan::Code& code, Tensors inputs) {
    code(inputs);  // The first call takes longer.
    return LaunchPlan::record(scope(), scope().device(), inputs, code).program;
  }
  // Expects that each trial call returns the outputs of `code`. Returns the number of tasks that
  // the trial calls ran.
  uint64_t expect_same(const LaunchPlan::Code& code, Tensors inputs) {
    const auto program = record(code, inputs);
    const Tensors want = code(inputs);
    const uint64_t before = call_counts().tasks;
    for (int call = 0; call < kTrials; ++call) {
      const Tensors got = program->run(scope(), inputs);
      for (size_t i = 0; i < want.size(); ++i) {
        EXPECT_EQ(values_of(got[i]), values_of(want[i])) << "output " << i << " of call " << call;
      }
    }
    return call_counts().tasks - before;
  }

  Ref<Context> context_;
  Ref<Scope> scope_;
  std::unique_ptr<Scope::Enter> enter_;
};

TEST_F(PlanChains, RunTheTowersOfANetworkInParallel) {
  const uint64_t tasks = expect_same(
      [](TensorSpan in) {
        const Tensor x = exp(in[0]);
        return Tensors{tower(x, in[1]) + tower(x, in[2])};
      },
      {matrix(0.1), matrix(0.2), matrix(0.3)});
  EXPECT_EQ(tasks, 2u * kTrials / 2);
}

TEST_F(PlanChains, CanBeNested) {
  const uint64_t tasks = expect_same(
      [](TensorSpan in) {
        const Tensor left = tower(in[0], in[1]), right = tower(in[0], in[2]);
        const Tensor inner = tower(left, in[1]) + tower(left, in[2]);
        return Tensors{matmul(inner, left) - right, inner};
      },
      {matrix(0.1), matrix(0.2), matrix(0.3)});
  EXPECT_EQ(tasks, 4u * kTrials / 2);
}

TEST_F(PlanChains, RunPartsOfATrainingStepInParallel) {
  const uint64_t tasks = expect_same(
      [&](TensorSpan in) {
        const auto tape = Ref<Tape>::adopt(new Tape(scope_, {.persistent = true}));
        tape->watch(in[1]);
        tape->watch(in[2]);
        const Tensor y = matmul(tanh(matmul(in[0], in[1])), in[2]), loss = sum(y * y);
        const Tensor d1 = tape->gradient(loss, in[1]), d2 = tape->gradient(loss, in[2]);
        return Tensors{in[1] - d1 * 0.1, in[2] - d2 * 0.1};
      },
      {matrix(0.1), matrix(0.02), matrix(0.03)});
  EXPECT_GT(tasks, 0u);
}

TEST_F(PlanChains, AreNotUsedForShortLaunches) {
  const auto small = [](double x) { return make(DType::kF32, {2}, {x, x}); };
  const uint64_t tasks = expect_same(
      [](TensorSpan in) {
        return Tensors{matmul(in[0], in[1]), matmul(in[1], in[1])};
      },
      {small(1), small(2)});
  EXPECT_EQ(tasks, 0u);
}

TEST_F(PlanChains, AreNotUsedOnOneThread) {
  enter(1);
  const uint64_t tasks = expect_same(
      [](TensorSpan in) {
        return Tensors{tower(in[0], in[1]), tower(in[0], in[2])};
      },
      {matrix(0.1), matrix(0.2), matrix(0.3)});
  EXPECT_EQ(tasks, 0u);
}

// The last launch of each tower could write its output into the memory of the input. It must not do
// so, because the other tower may still read the input.
TEST_F(PlanChains, DoNotOverwriteInputsOfParallelChains) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    return Tensors{sum(tower(in[0], in[1], 6)) + in[0], sum(tower(in[0], in[2])) + in[0]};
  };
  const Tensors constants = {matrix(0.2), matrix(0.3)};
  const Tensors want = code(Tensors{matrix(0.1), constants[0], constants[1]});
  const auto program = record(code, {matrix(0.1), constants[0], constants[1]});
  for (int call = 0; call < kTrials; ++call) {
    const Tensor x = matrix(0.1);
    const uint8_t spare[] = {1, 0, 0};
    const Tensors got = program->run(scope(), Tensors{x, constants[0], constants[1]}, spare);
    EXPECT_EQ(values_of(got[0]), values_of(want[0])) << call;
    EXPECT_EQ(values_of(got[1]), values_of(want[1])) << call;
  }
}

TEST_F(PlanChains, ReportTheFirstFailureInPlanOrder) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor late = gather(tower(in[0], in[1], 6), in[2], 0);
    const Tensor soon = gather(in[0], in[3], 0);
    return Tensors{tower(late, in[1]), tower(soon, in[1])};
  };
  const auto rows = [](double last) {
    Doubles indices(kSize, 0);
    indices.back() = last;
    return make(DType::kI64, {kSize}, indices);
  };
  const Tensors sound = {matrix(0.1), matrix(0.2), rows(1), rows(3)};
  const auto expect_told = [&](double late, double soon, const char* text) {
    const auto program = record(code, sound);
    const Tensors inputs = {sound[0], sound[1], rows(late), rows(soon)};
    const uint64_t before = call_counts().tasks;
    for (int call = 0; call < kTrials; ++call) {
      EXPECT_ERROR(program->run(scope(), inputs), Code::kOutOfRange, text);
    }
    EXPECT_GT(call_counts().tasks, before);
    EXPECT_EQ(values_of(program->run(scope(), sound)[0]), values_of(code(sound)[0]));
  };
  expect_told(kSize, kSize + 1, "index 192");
  expect_told(0, kSize + 1, "index 193");
}

// The duration of a launch is measured, so a short launch may occasionally appear to be long.
TEST_F(PlanChains, AreFoundDespiteShortFirstLaunches) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor a = fill(number(2), Dims{1, 1}, DType::kF32),
                 b = fill(number(3), Dims{1, 1}, DType::kF32);
    return Tensors{tower(in[0], in[1]) * a, (tower(in[0], in[2]) + a) * b};
  };
  uint64_t tasks = 0;
  for (int attempt = 0; attempt < 20 && tasks == 0; ++attempt) {
    tasks = expect_same(code, {matrix(0.1), matrix(0.2), matrix(0.3)});
  }
  EXPECT_EQ(tasks, 2u * kTrials / 2);
}

TEST_F(PlanChains, CanBeCancelled) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    return Tensors{tower(in[0], in[1]), tower(in[0], in[2])};
  };
  const Tensors inputs = {matrix(0.1), matrix(0.2), matrix(0.3)};
  const auto program = record(code, inputs);
  for (int call = 0; call < kTrials; ++call) {
    enter_again();
    const uint64_t before = call_counts().launches;
    scope().cancel();
    EXPECT_ERROR(program->run(scope(), inputs), Code::kCancelled, "cancelled");
    EXPECT_LT(call_counts().launches - before, program->n_launches());
  }
  enter_again();
  EXPECT_EQ(values_of(program->run(scope(), inputs)[1]), values_of(code(inputs)[1]));
}

// Cancelled calls leave donated inputs unchanged.
TEST_F(PlanChains, OverwriteNoInputsIfCancelled) {
  const LaunchPlan::Code code = [](TensorSpan in) {
    const Tensor left = tower(in[0], in[1]);
    const Tensor inner = tower(left, in[1]) + tower(left, in[2]);
    return Tensors{inner, sum(tower(in[3], in[2], 8)) + in[3]};
  };
  const Tensors inputs = {matrix(0.1), matrix(0.2), matrix(0.3)};
  const Doubles before = values_of(matrix(0.4));
  std::unique_ptr<const LaunchPlan> program;
  for (uint64_t call = 0; call < 80; ++call) {
    enter_again();
    if (call % kTrials == 0) {
      program = record(code, {inputs[0], inputs[1], inputs[2], matrix(0.4)});
    }
    const Tensor x = matrix(0.4);
    const uint8_t spare[] = {0, 0, 0, 1};
    const uint64_t enough = call_counts().launches + call / 2;
    std::atomic<bool> is_over{false};
    std::thread other([&] {
      while (!is_over && call_counts().launches < enough) std::this_thread::yield();
      scope().cancel();
    });
    try {
      program->run(scope(), Tensors{inputs[0], inputs[1], inputs[2], x}, spare);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kCancelled);
      enter_again();
      EXPECT_EQ(values_of(x), before) << "call " << call;
    }
    is_over = true;
    other.join();
  }
  enter_again();
}

}  // namespace
}  // namespace tenon
