// States of functions: variables and generators.

#include <thread>

#include "core/dispatch/generator.h"
#include "core/testing/functions.h"
#include "core/testing/graph_text.h"
#include "core/trace/control/control.h"

namespace tenon {
namespace {

using testing::f32;
using testing::values_of;
using Doubles = std::vector<double>;
using FunctionStates = testing::FunctionTest;

TEST_F(FunctionStates, ReadAndAssignVariablesAtEachCall) {
  const auto w = variable(f32({1, 1}));
  const auto f = function([&](TensorSpan in) {
    w->assign(scope(), w->read(scope()) + in[0]);
    return Tensors{w->read(scope()) * 10.0};
  });

  EXPECT_EQ(values_of(call_one(f, {f32({1, 2})})), (Doubles{20, 30}));
  EXPECT_EQ(values_of(call_one(f, {f32({1, 2})})), (Doubles{30, 50}));
  w->assign(scope(), f32({0, 0}));
  EXPECT_EQ(values_of(call_one(f, {f32({1, 2})})), (Doubles{10, 20}));
  EXPECT_EQ(values_of(w->read(scope())), (Doubles{1, 2}));
  EXPECT_GRAPH(text(f), R"((x: f32[2], w: state f32[2]) {
                 after = assign(add(w, x), w)
                 return after, mul(after, 10.0)
               })");
}

TEST_F(FunctionStates, UpdateVariablesInPlace) {
  const auto w = variable(f32({1, 1}));
  const auto f = function([&](TensorSpan in) {
    w->assign(scope(), w->read(scope()) + in[0]);
    return Tensors{};
  });
  const auto memory = [&] { return w->load_untraced()->storage.get(); };
  const Tensor x = f32({1, 2});
  for (int i = 0; i < 3; ++i) call(f, {x});
  const Storage* const before = memory();
  call(f, {x});
  EXPECT_EQ(memory(), before);
  EXPECT_EQ(values_of(w->read(scope())), (Doubles{5, 9}));

  // While the old value has another owner, it must not change.
  const Tensor old = w->read(scope());
  call(f, {x});
  EXPECT_NE(memory(), before);
  EXPECT_EQ(values_of(old), (Doubles{5, 9}));
  EXPECT_EQ(values_of(w->read(scope())), (Doubles{6, 11}));
}

TEST_F(FunctionStates, DoNotStoreVariablesThatAreOnlyRead) {
  const auto w = variable(f32({1, 2}));
  const auto f = function([&](TensorSpan) { return Tensors{-w->read(scope())}; });
  for (int i = 0; i < 4; ++i) EXPECT_EQ(values_of(call_one(f, {})), (Doubles{-1, -2}));
  EXPECT_EQ(values_of(w->read(scope())), (Doubles{1, 2}));
}

TEST_F(FunctionStates, AssignInputsCapturesAndOtherVariables) {
  const auto a = variable(f32({1})), b = variable(f32({2}));
  const Tensor found = f32({9});
  const auto f = function([&](TensorSpan in) {
    const Tensor before = a->read(scope());
    a->assign(scope(), b->read(scope()));
    b->assign(scope(), in[0]);
    const Tensor between = a->read(scope());
    a->assign(scope(), found);
    return Tensors{before, between};
  });

  const Tensors y = call(f, {f32({5})});
  EXPECT_EQ(values_of(y[0]), Doubles{1});
  EXPECT_EQ(values_of(y[1]), Doubles{2});
  EXPECT_EQ(values_of(a->read(scope())), Doubles{9});
  EXPECT_EQ(values_of(b->read(scope())), Doubles{5});
  EXPECT_EQ(values_of(call(f, {f32({6})})[1]), Doubles{5});
}

TEST_F(FunctionStates, DrawNewNumbersInEachCall) {
  const auto generator = Ref<Generator>::adopt(new Generator(scope(), 7));
  const OpDef& uniform = *find_op("random_uniform");
  const auto draw = [&] {
    OwnedAttrs attrs(*uniform.attrs);
    return generator->draw(scope(), uniform, attrs.view(), {}, 0)[0];
  };
  const auto f = function([&](TensorSpan) { return Tensors{draw()}; });

  const Doubles first = values_of(call_one(f, {})), second = values_of(call_one(f, {}));
  EXPECT_NE(first, second);
  generator->seed(scope(), 7);
  EXPECT_EQ(values_of(draw()), first);
  EXPECT_EQ(values_of(call_one(f, {})), second);
}

TEST_F(FunctionStates, MayCreateVariablesOnce) {
  Ref<Variable> w;
  const auto f = function([&](TensorSpan in) {
    if (!w) w = variable(in[0] * 2.0);
    return Tensors{w->read(scope()) + in[0]};
  });

  EXPECT_EQ(values_of(call_one(f, {f32({1, 2})})), (Doubles{3, 6}));
  EXPECT_EQ(bodies_run, 2);
  EXPECT_EQ(values_of(call_one(f, {f32({0, 0})})), (Doubles{2, 4}));
  EXPECT_EQ(bodies_run, 2);
}

TEST_F(FunctionStates, AreAssignedOnlyOnceInACallThatTracesTwice) {
  const auto total = variable(f32({0}));
  Ref<Variable> w;
  const auto f = function([&](TensorSpan in) {
    const Tensor sum = total->read(scope()) + in[0];
    if (!w) w = variable(sum);
    total->assign(scope(), sum);
    return Tensors{w->read(scope())};
  });

  EXPECT_EQ(values_of(call_one(f, {f32({3})})), Doubles{3});
  EXPECT_EQ(values_of(total->read(scope())), Doubles{3});
  EXPECT_EQ(values_of(call_one(f, {f32({3})})), Doubles{3});
  EXPECT_EQ(values_of(total->read(scope())), Doubles{6});
}

TEST_F(FunctionStates, MayNotCreateVariablesInEveryCall) {
  const uint64_t before = live_bytes();
  const auto f = function(
      [&](TensorSpan in) { return Tensors{variable(in[0], "bias")->read(scope()) + in[0]}; });
  {
    const Tensor x = f32({1, 2});
    EXPECT_ERROR(call(f, {x}), Code::kFailedPrecondition,
                 "function f creates variable bias in every call");
  }
  EXPECT_TRUE(f->traces().empty());
  EXPECT_EQ(live_bytes(), before);
}

TEST_F(FunctionStates, LockTheirStatesWhileTheyRun) {
  const auto w = variable(zeros({DType::kF32, {1}}));
  const auto f = function([&](TensorSpan) {
    w->assign(scope(), w->read(scope()) + 1.0);
    return Tensors{};
  });
  call(f, {});
  const auto other = Ref<Scope>::adopt(new Scope(context(), &device()));
  constexpr int kCalls = 200;
  std::thread thread([&] {
    const Scope::Enter enter(*other);
    for (int i = 0; i < kCalls; ++i) f->call(*other, {}, {});
  });
  for (int i = 0; i < kCalls; ++i) call(f, {});
  thread.join();

  EXPECT_EQ(values_of(w->read(scope())), Doubles{2 * kCalls + 1});
}

// An invalid index does not stop the call immediately. The call fails after its states are stored.
TEST_F(FunctionStates, KeepAssignmentsBeforeAndAfterAValueError) {
  const auto before = variable(f32({1})), after = variable(f32({1}));
  const auto f = function([&](TensorSpan in) {
    before->assign(scope(), before->read(scope()) + 1.0);
    const Tensor found = gather(before->read(scope()), in[0], 0);
    after->assign(scope(), after->read(scope()) + 1.0);
    return Tensors{found};
  });
  for (int i = 1; i <= 5; ++i) {
    EXPECT_ERROR(call(f, {testing::i64({5})});
                 scope().wait(), Code::kOutOfRange, "gather: C2: index 5 is outside [0, 1)");
    EXPECT_EQ(values_of(before->read(scope())), (Doubles{1.0 + i}));
    EXPECT_EQ(values_of(after->read(scope())), (Doubles{1.0 + i}));
  }
  EXPECT_EQ(values_of(call_one(f, {testing::i64({0})})), (Doubles{7}));
}

TEST_F(FunctionStates, AreStoredAfterAValueErrorInABranchOrALoop) {
  const auto v = variable(f32({1}));
  const auto f = function([&](TensorSpan in) {
    const auto find = [&](TensorSpan) { return Tensors{sum(gather(v->read(scope()), in[0], 0))}; };
    const Tensor found = cond(scope(), less(sum(v->read(scope())), number(100)), find, find)[0];
    const Tensors looped = while_loop(
        scope(), [&](TensorSpan x) { return Tensors{less(x[0], number(3))}; },
        [&](TensorSpan x) { return Tensors{x[0] + found * 0.0 + 1.0}; }, {&found, 1});
    v->assign(scope(), v->read(scope()) + looped[0]);
    return Tensors{looped[0]};
  });
  for (int i = 1; i <= 4; ++i) {
    EXPECT_ERROR(call(f, {testing::i64({5})});
                 scope().wait(), Code::kOutOfRange, "index 5 is outside [0, 1)");
    EXPECT_EQ(values_of(v->read(scope())), (Doubles{1.0 + 3 * i}));
  }
}

// Tapes record nothing of a failed call.
TEST_F(FunctionStates, AreStoredAfterAValueErrorUnderATape) {
  const auto v = variable(f32({1}));
  const auto f = function([&](TensorSpan in) {
    v->assign(scope(), v->read(scope()) + 1.0);
    return Tensors{gather(in[0], in[1], 0)};
  });
  const Tensor x = f32({1, 2});
  for (int i = 1; i <= 4; ++i) {
    const auto t = tape();
    t->watch(x);
    EXPECT_ERROR(call(f, {x, testing::i64({7})});
                 scope().wait(), Code::kOutOfRange, "index 7 is outside [0, 2)");
    EXPECT_EQ(values_of(v->read(scope())), (Doubles{1.0 + i}));
  }
}

}  // namespace
}  // namespace tenon
