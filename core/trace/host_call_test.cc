// Tests of host code that functions call. The code reads and changes states, and is differentiated
// by tapes of its own scope.

#include <cmath>

#include "core/testing/control.h"
#include "core/testing/graph_text.h"
#include "core/trace/effects.h"

namespace tenon {
namespace {

using testing::f32;
using testing::i64_scalar;
using testing::scalar64;
using testing::values_of;
using Doubles = std::vector<double>;

class HostCalls : public testing::ControlTest {
 protected:
  using Run = std::function<Tensors(Scope&, TensorSpan)>;

  std::shared_ptr<HostCode> code(Run run) {
    return std::make_shared<HostCode>(HostCode{[this, run](Scope& in, TensorSpan x) {
      ++runs;
      return run(in, x);
    }});
  }
  Tensor on_host(const Run& run, const Tensor& x) {
    return host_call(scope(), code(run), {&x, 1}, {&x, 1})[0];
  }
  Tensor call(const Ref<Function>& f, const Tensor& x) { return f->call(scope(), {&x, 1}, {})[0]; }
  Doubles read(const Ref<Variable>& w) { return values_of(w->read(scope())); }
  // Runs the test eagerly, then traced three times.
  void everywhere(const std::function<void()>& test) {
    context().run_functions_eagerly(true);
    test();
    context().run_functions_eagerly(false);
    for (int i = 0; i < 3; ++i) test();
  }
  // The number of iterations depends on the value.
  static Tensors squared_until(Scope&, TensorSpan in) {
    Tensor y = in[0];
    while (values_of(y)[0] < 3) y = y * y;
    return {y};
  }

  int runs = 0;
};

TEST_F(HostCalls, RunInEachCallOfTheFunction) {
  const auto f = function([&](const Tensor& x) {
    return on_host([](Scope&, TensorSpan in) { return Tensors{in[0] * 2.0}; }, x + 1.0) + 1.0;
  });
  for (const double at : {1.0, 2.0, 3.0}) {
    EXPECT_EQ(values_of(call(f, scalar64(at))), Doubles{2 * (at + 1) + 1});
  }
  EXPECT_EQ(runs, 3);
  const std::string text = to_text(f->traces()[0]->graph());
  EXPECT_EQ(text, to_text(*parse_graph(scope(), text)));
  EXPECT_NE(text.find("host_call(order, "), std::string::npos) << text;
}

TEST_F(HostCalls, ReturnInputsWithNewIdentity) {
  const auto f = function([&](const Tensor& x) {
    return on_host([](Scope&, TensorSpan in) { return Tensors{in[0]}; }, x) * x;
  });
  const Tensor x = scalar64(3);
  everywhere([&] {
    const auto own = tape();
    own->watch(x);
    EXPECT_EQ(values_of(own->gradient(call(f, x), x)), Doubles{6});
  });
}

TEST_F(HostCalls, ReadEarlierAssignments) {
  const auto w = variable(f32({1}));
  std::vector<double> seen;
  const auto f = function([&](const Tensor& x) {
    w->assign(scope(), w->read(scope()) + x);
    const auto look = [&](Scope& in, TensorSpan) {
      seen.push_back(values_of(w->read(in))[0]);
      return Tensors{w->read(in)};
    };
    const Tensor y = on_host(look, x);
    w->assign(scope(), w->read(scope()) * 10.0);
    on_host(look, x);
    return y + w->read(scope());
  });
  everywhere([&] {
    w->assign(scope(), f32({1}));
    seen.clear();
    EXPECT_EQ(values_of(call(f, f32({2}))), Doubles{33});
    EXPECT_EQ(seen, (Doubles{3, 30}));
    EXPECT_EQ(read(w), Doubles{30});
  });
}

TEST_F(HostCalls, ChangeLaterReadsOfVariables) {
  const auto w = variable(f32({1})), v = variable(f32({5}));
  const auto change = [&](Scope& in, TensorSpan x) {
    w->assign(in, w->read(in) + 100.0);
    v->assign(in, x[0]);
    return Tensors{x[0]};
  };
  const auto f = function([&](const Tensor& x) {
    const Tensor before = w->read(scope());
    on_host(change, x);
    return before * 1000.0 + w->read(scope()) + v->read(scope());
  });
  everywhere([&] {
    w->assign(scope(), f32({1}));
    EXPECT_EQ(values_of(call(f, f32({7}))), Doubles{1000 + 101 + 7});
    EXPECT_EQ(read(w), Doubles{101});
    EXPECT_EQ(read(v), Doubles{7});
  });
}

TEST_F(HostCalls, ChangeStatesInLoopsAndBranches) {
  const auto w = variable(f32({1})), v = variable(f32({0}));
  const auto twice = [&](Scope& in, TensorSpan x) {
    w->assign(in, w->read(in) * 2.0);
    return Tensors{x[0]};
  };
  const auto f = function([&](const Tensor& x) {
    v->assign(scope(), f32({3}));
    const Tensor y = iterate(i64_scalar(4), x, [&](const Tensor& i, const Tensor& before) {
      cond(
          scope(), less(i, integer(2)), [&](TensorSpan) { return Tensors{on_host(twice, before)}; },
          [&](TensorSpan) {
            w->assign(scope(), w->read(scope()) + 1.0);
            return Tensors{before};
          });
      return before + w->read(scope());
    });
    return y + w->read(scope()) + v->read(scope());
  });
  everywhere([&] {
    w->assign(scope(), f32({1}));
    // The value of w after each trip is 2, 4, 5, 6.
    EXPECT_EQ(values_of(call(f, f32({0}))), Doubles{17 + 6 + 3});
    EXPECT_EQ(read(w), Doubles{6});
    EXPECT_EQ(read(v), Doubles{3});
  });
}

TEST_F(HostCalls, KeepEarlierAssignmentsOnFailure) {
  const auto w = variable(f32({0}));
  const auto f = function([&](const Tensor& x) {
    w->assign(scope(), x);
    const Tensor y = on_host(
        [](Scope&, TensorSpan in) -> Tensors {
          if (values_of(in[0])[0] > 1) fail(Code::kOutOfRange, "that is too much");
          return {in[0]};
        },
        x);
    w->assign(scope(), x * 10.0);
    return y;
  });
  everywhere([&] {
    call(f, f32({1}));
    EXPECT_EQ(read(w), Doubles{10});
    EXPECT_ERROR(call(f, f32({2})), Code::kOutOfRange, "host_call: that is too much");
    EXPECT_EQ(read(w), Doubles{2});
  });
}

TEST_F(HostCalls, MustReturnTheDeclaredTypes) {
  const auto wrong = [&](const Run& run) {
    return function([&, run](const Tensor& x) { return on_host(run, x); });
  };
  const auto none = wrong([](Scope&, TensorSpan) { return Tensors(); });
  const auto other = wrong([](Scope&, TensorSpan) { return Tensors{f32({1, 2})}; });
  everywhere([&] {
    EXPECT_ERROR(call(none, f32({1})), Code::kInvalidArgument,
                 "the callback returned 0 tensors, but 1 were declared");
    EXPECT_ERROR(call(other, f32({1})), Code::kInvalidArgument,
                 "the callback returned f32[2] as output 0, but f32[1] was declared");
  });
}

TEST_F(HostCalls, SupportUnknownSizes) {
  const InputSpec spec = {.name = "x", .dtype = DType::kF32, .sizes = {InputSpec::kUnknown}};
  const auto f = function(spec, [&](Scope&, TensorSpan in, const Statics&) {
    return Tensors{on_host([](Scope&, TensorSpan x) { return Tensors{x[0] * 2.0}; }, in[0])};
  });
  EXPECT_EQ(values_of(call(f, f32({1, 2}))), (Doubles{2, 4}));
  EXPECT_EQ(values_of(call(f, f32({1, 2, 3}))), (Doubles{2, 4, 6}));
  EXPECT_EQ(f->traces().size(), 1u);
}

TEST_F(HostCalls, AreDifferentiatedToAnyOrder) {
  check([&](const Tensor& x) { return sin(on_host(squared_until, x * x) * 0.125) * x; },
        {1.2, 1.5});
}

TEST_F(HostCalls, AreDifferentiatedInLoopsAndBranches) {
  for (const LoopPolicy policy :
       {LoopPolicy::kStack, LoopPolicy::kRecompute, LoopPolicy::kBounded}) {
    loops = {.policy = policy, .max_trips = 5};
    check(
        [&](const Tensor& x) {
          return iterate(i64_scalar(3), x, [&](const Tensor& i, const Tensor& y) {
            return cond(
                scope(), less(i, integer(2)),
                [&](TensorSpan) { return Tensors{sin(on_host(squared_until, y + 1.0) * 0.25)}; },
                [&](TensorSpan) { return Tensors{y * x}; })[0];
          });
        },
        {0.3, 0.7});
  }
}

// Under nested tapes, the calls of a function with effects are recorded one by one. Its loops and
// branches, which return lists, are recorded in the same manner.
TEST_F(HostCalls, InLoopsAndBranchesAllowGradients) {
  const auto below = [&](const Tensor& i, int64_t n) {
    assert_all(scope(), less(i, integer(9)), "");
    return less(i, integer(n));
  };
  check(
      [&](const Tensor& x) {
        return iterate(i64_scalar(3), x, [&](const Tensor& i, const Tensor& y) {
          return cond(
              scope(), below(i, 2), [&](TensorSpan) { return Tensors{sin(y * y)}; },
              [&](TensorSpan) { return Tensors{y * x}; })[0];
        });
      },
      {0.3, 0.7});
  check(
      [&](const Tensor& x) {
        return iterate(i64_scalar(2), x, [&](const Tensor& i, const Tensor& y) {
          below(i, 2);
          return iterate(i64_scalar(2), y,
                         [&](const Tensor&, const Tensor& z) { return sin(z * z); });
        });
      },
      {0.3, 0.7});
}

TEST_F(HostCalls, RunOnceWhenDifferentiated) {
  for (const LoopPolicy policy : {LoopPolicy::kStack, LoopPolicy::kRecompute}) {
    loops = {.policy = policy, .max_trips = 5};
    const auto f = function([&](const Tensor& x) {
      return iterate(i64_scalar(3), x, [&](const Tensor&, const Tensor& y) {
        return on_host([](Scope&, TensorSpan in) { return Tensors{in[0] * in[0]}; }, y) * y;
      });
    });
    for (int order = 0; order <= 3; ++order) {
      for (int i = 0; i < 3; ++i) {
        runs = 0;
        derivative([&](const Tensor& x) { return call(f, x); }, 1.1, order);
        EXPECT_EQ(runs, 3) << order;
      }
    }
  }
}

TEST_F(HostCalls, MayUseTapesAndFunctionsInside) {
  const auto cube = function([](const Tensor& x) { return x * x * x; });
  const auto slope = [&](Scope& in, TensorSpan x) {
    const auto own = Ref<Tape>::adopt(new Tape(Ref<Scope>::share(&in), {}));
    own->watch(x[0]);
    const Tensor y = cube->call(in, {&x[0], 1}, {})[0];
    return Tensors{own->gradient(y, x[0])};
  };
  check([&](const Tensor& x) { return on_host(slope, x * x); }, {1.5, 0.5});
}

TEST_F(HostCalls, TakeSeveralTensorsOfAnyDType) {
  const auto f = function([&](Scope&, TensorSpan in, const Statics&) {
    const Tensor like[] = {in[1], in[0]};
    return host_call(scope(), code([](Scope&, TensorSpan x) {
                       return Tensors{x[1] + integer(1), x[0] * x[0]};
                     }),
                     in, like);
  });
  const Tensor inputs[] = {scalar64(3), i64_scalar(4)};
  const auto own = tape();
  own->watch(inputs[0]);
  const Tensors y = f->call(scope(), inputs, {});
  EXPECT_EQ(values_of(y[0]), Doubles{5});
  EXPECT_EQ(values_of(own->gradient(y[1], inputs[0])), Doubles{6});
}

TEST_F(HostCalls, DoNotRemoveGradientsOfVariablesReadAfterThem) {
  const auto w = variable(f32({3}));
  const auto f = function([&](const Tensor& x) {
    return on_host([](Scope&, TensorSpan in) { return Tensors{in[0]}; }, x) * w->read(scope());
  });
  everywhere([&] {
    const auto own = tape();
    const Tensor y = call(f, f32({2}));
    const Source source = w;
    EXPECT_EQ(values_of(own->gradient({&y, 1}, {}, {&source, 1})[0]), Doubles{2});
  });
}

}  // namespace
}  // namespace tenon
