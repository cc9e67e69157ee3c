// Tracing, the passes, recording, planning, running and differentiating take time linear in the
// size of the graph. The tests count steps (core/base/work_steps.h) for one size and for ten times
// that size.

#include <ctime>

#include "core/base/work_steps.h"
#include "core/ops/definition/op_ids.h"
#include "core/testing/functions.h"
#include "core/trace/control/control.h"

namespace tenon {
namespace {

using testing::f32;
using testing::i64;
using testing::values_of;

// The test parameter is the name of the device.
class LinearTime : public testing::FunctionTest, public ::testing::WithParamInterface<const char*> {
 protected:
  using Run = std::function<void(size_t n)>;

  // Linear algorithms take ten times the steps, quadratic ones up to a hundred times.
  void expect_linear(size_t n, const Run& run) {
    const WorkSteps small;
    run(n);
    const uint64_t n_small = small.count();
    const WorkSteps large;
    run(10 * n);
    const uint64_t n_large = large.count();
    EXPECT_GT(n_small, n);
    EXPECT_LT(n_large, 13 * n_small) << n_small << " steps for " << n;
  }

  // Calls `f` often enough to record its plan and replay it, and differentiates it.
  void call_often(const Ref<Function>& f, const Tensors& inputs) {
    for (int i = 0; i < 3; ++i) f->call(scope(), inputs, {});
    for (int i = 0; i < 3; ++i) {
      const Ref<Tape> recording = tape();
      recording->watch(inputs[0]);
      const Tensors outputs = f->call(scope(), inputs, {});
      const std::vector<Source> sources = {inputs[0]};
      recording->gradient(outputs, {}, sources);
    }
  }

  static Tensor chain(Tensor z, const Tensor& x, size_t n) {
    for (size_t i = 0; i < n; ++i) z = i % 2 ? sin(z) : z + x;
    return z;
  }

 private:
  Scope::OnDevice on_{scope(), context().device(GetParam())};
};

TEST_P(LinearTime, IsTakenForAChainOfCalls) {
  expect_linear(400, [&](size_t n) {
    const auto f = function([&](TensorSpan in) { return Tensors{chain(in[0], in[0], n)}; });
    call_often(f, {f32({1, 2})});
  });
}

TEST_P(LinearTime, IsTakenForAChainOfCallsWithAMemoryBudget) {
  expect_linear(400, [&](size_t n) {
    FunctionOptions options;
    options.memory_budget = 64 * n / 10;
    const auto f =
        function([&](TensorSpan in) { return Tensors{chain(in[0], in[0], n)}; }, options);
    call_often(f, {f32({1, 2, 3, 4, 5, 6, 7, 8})});
  });
}

TEST_P(LinearTime, IsTakenForManyInputsAndOutputs) {
  expect_linear(400, [&](size_t n) {
    const auto f = function([&](TensorSpan in) {
      Tensors outputs(in);
      for (Tensor& y : outputs) y = exp(y) * 2.0;
      return outputs;
    });
    Tensors inputs;
    for (size_t i = 0; i < n; ++i) inputs.push_back(f32({1, static_cast<double>(i)}));
    for (int i = 0; i < 3; ++i) f->call(scope(), inputs, {});
    for (int i = 0; i < 2; ++i) {
      const Ref<Tape> recording = tape();
      std::vector<Source> sources;
      for (const Tensor& x : inputs) {
        recording->watch(x);
        sources.emplace_back(x);
      }
      const Tensors outputs = f->call(scope(), inputs, {});
      recording->gradient(outputs, {}, sources);
    }
  });
}

TEST_P(LinearTime, IsTakenForManyLongLivedValues) {
  expect_linear(400, [&](size_t n) {
    const auto f = function([&](TensorSpan in) {
      Tensors all;
      for (size_t i = 0; i < n; ++i) all.push_back(sum(exp(in[0] * static_cast<double>(i))));
      Tensor total = all.back();
      for (size_t i = all.size() - 1; i-- > 0;) total = total * all[i];
      return Tensors{total};
    });
    call_often(f, {f32({0, 0.001})});
  });
}

TEST_P(LinearTime, IsTakenForCallsOfManySizes) {
  expect_linear(300, [&](size_t n) {
    const auto f = function([&](TensorSpan in) {
      Tensors outputs;
      for (size_t i = 0; i < n; ++i) {
        const auto end = static_cast<int64_t>(i % 1000 + 1);
        outputs.push_back(exp(slice(in[0], {.starts = {0}, .ends = {end}})));
      }
      return outputs;
    });
    const Tensor x = fill(number(1), Dims{1000}, DType::kF32);
    for (int i = 0; i < 3; ++i) f->call(scope(), Tensors{x}, {});
  });
}

TEST_P(LinearTime, IsTakenForEqualCallsAndConstants) {
  expect_linear(400, [&](size_t n) {
    const auto f = function([&](TensorSpan in) {
      Tensor y = in[0];
      for (size_t i = 0; i < n; ++i) {
        y = y + exp(in[0]) * fill(number(static_cast<double>(i)), Dims{2}, DType::kF32);
      }
      return Tensors{y};
    });
    call_often(f, {f32({1, 2})});
  });
}

TEST_P(LinearTime, IsTakenForATapeOfEagerCalls) {
  expect_linear(400, [&](size_t n) {
    const Tensor x = f32({1, 2});
    const Ref<Tape> recording = tape();
    recording->watch(x);
    const std::vector<Source> sources = {x};
    recording->gradient(Tensors{chain(x, x, n)}, {}, sources);
  });
}

TEST_P(LinearTime, IsTakenForABranchWithManyCaptures) {
  expect_linear(300, [&](size_t n) {
    Tensors captured;
    for (size_t i = 0; i < n; ++i) captured.push_back(f32({static_cast<double>(i)}));
    const auto f = function([&](TensorSpan in) {
      const auto add_all = [&](TensorSpan) {
        Tensor y = in[0];
        for (const Tensor& x : captured) y = y + x;
        return Tensors{y};
      };
      const Tensor is_positive = greater(sum(in[0]), number(0));
      return cond(scope(), is_positive, add_all, [&](TensorSpan) { return Tensors{in[0]}; });
    });
    call_often(f, {f32({1})});
  });
}

TEST_P(LinearTime, IsTakenForNestedBranches) {
  expect_linear(20, [&](size_t n) {
    const auto f = function([&](TensorSpan in) {
      const Tensor is_positive = greater(sum(in[0]), number(0));
      const std::function<Tensors(size_t)> nested = [&](size_t depth) {
        if (depth == 0) return Tensors{-in[0]};
        return cond(
            scope(), is_positive, [&](TensorSpan) { return nested(depth - 1); },
            [&](TensorSpan) { return Tensors{in[0]}; });
      };
      return nested(n);
    });
    for (int i = 0; i < 3; ++i) f->call(scope(), Tensors{f32({1})}, {});
  });
}

TEST_P(LinearTime, IsTakenForALoopThatCarriesManyValues) {
  expect_linear(100, [&](size_t n) {
    const auto f = function([&](TensorSpan in) {
      Tensors carried;
      for (size_t i = 0; i < n; ++i) carried.push_back(in[0] * static_cast<double>(i));
      carried.push_back(fill(number(0), Dims{}, DType::kF32));
      const Block more = [](TensorSpan c) { return Tensors{less(c.back(), number(3))}; };
      const Block step = [](TensorSpan c) {
        Tensors next(c);
        for (Tensor& x : next) x = x + 1.0;
        return next;
      };
      return while_loop(scope(), more, step, carried);
    });
    call_often(f, {f32({1, 2})});
  });
}

TEST_P(LinearTime, IsTakenForAssignmentsBetweenEffects) {
#ifdef __SANITIZE_THREAD__
  // A call locks all variables, 60 in the larger graph. ThreadSanitizer allows 64 locked mutexes.
  constexpr size_t n_variables = 6;
#else
  constexpr size_t n_variables = 100;
#endif
  expect_linear(n_variables, [&](size_t n) {
    std::vector<Ref<Variable>> all;
    for (size_t i = 0; i < n; ++i) all.push_back(variable(f32({1})));
    const auto f = function([&](TensorSpan in) {
      Tensor y = in[0];
      for (const Ref<Variable>& each : all) {
        y = call1(OpId::k_check_numerics, NoAttrs{}, {y + each->read(scope())});
        each->assign(scope(), y);
      }
      return Tensors{y};
    });
    for (int i = 0; i < 3; ++i) f->call(scope(), Tensors{f32({1})}, {});
  });
}

// Steps are counted only where the code calls count_steps(). Processor time covers all code. The
// bound leaves room for effects of caches and other processes.
TEST_P(LinearTime, IsTakenForAChainOfCallsInProcessorTime) {
  const auto seconds = [&](size_t n) {
    const std::clock_t begin = std::clock();
    const auto f = function([&](TensorSpan in) { return Tensors{chain(in[0], in[0], n)}; });
    call_often(f, {f32({1, 2})});
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  seconds(1000);

  const double small = seconds(1000), large = seconds(10000);

  EXPECT_LT(large, 30 * small);
}

std::vector<const char*> devices() {
  std::vector<const char*> names = {"ref"};
  if (testing::has_plugin("cpu")) names.push_back("cpu");
  return names;
}

INSTANTIATE_TEST_SUITE_P(Devices, LinearTime, ::testing::ValuesIn(devices()),
                         [](const auto& device) { return std::string(device.param); });

}  // namespace
}  // namespace tenon
