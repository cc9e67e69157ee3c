#include "core/autograd/tape.h"

#include <thread>

#include "core/ops/definition/op_ids.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

using testing::CoreTest;
using testing::f32;
using testing::f64;
using testing::i32;
using testing::i64;

class TapeTest : public CoreTest {
 protected:
  Ref<Variable> variable(const Tensor& value, bool trainable = true) {
    return Ref<Variable>::adopt(new Variable(scope(), value, "v", trainable));
  }
  Tensor gradient(Tape& tape, const Tensor& target, const Source& source,
                  GradientOptions options = {}) {
    return std::move(tape.gradient({&target, 1}, {}, {&source, 1}, options)[0]);
  }
};

TEST_F(TapeTest, SumsTheGradientsOfATensorUsedTwice) {
  const Ref<Tape> t = tape();
  const Tensor x = f32({3});
  t->watch(x);

  const Tensor loss = sum(x * x);

  EXPECT_TENSOR(t->gradient(loss, x), f32({6}));
}

TEST_F(TapeTest, ReturnsZerosForTensorsTheLossDoesNotUse) {
  const Ref<Tape> t = tape();
  const Tensor x = f32({1, 2}), unused = f32({5, 6, 7});
  t->watch(x);
  t->watch(unused);

  EXPECT_TENSOR(t->gradient(sum(x), unused), f32({0, 0, 0}));
}

TEST_F(TapeTest, ReturnsZerosOrNullForUnwatchedTensors) {
  const Tensor x = f32({1, 2}), never_watched = f32({5, 6, 7});
  const Ref<Tape> zeros_tape = tape({.persistent = true});
  zeros_tape->watch(x);
  const Tensor loss = sum(x);

  EXPECT_TENSOR(gradient(*zeros_tape, loss, never_watched), f32({0, 0, 0}));
  EXPECT_FALSE(gradient(*zeros_tape, loss, never_watched, {.unreached_as_null = true}));
}

TEST_F(TapeTest, DifferentiatesAGradient) {
  const Ref<Tape> outer = tape();
  const Tensor x = f32({2});
  outer->watch(x);
  Tensor dx;
  {
    const Ref<Tape> inner = tape();
    inner->watch(x);
    dx = inner->gradient(sum(x * x * x), x);
  }

  EXPECT_TENSOR(dx, f32({12}));                           // 3 x^2
  EXPECT_TENSOR(outer->gradient(sum(dx), x), f32({12}));  // 6 x
}

TEST_F(TapeTest, APersistentTapeDifferentiatesItsOwnGradient) {
  const Ref<Tape> t = tape({.persistent = true});
  const Tensor x = f32({2});
  t->watch(x);

  const Tensor dx = t->gradient(sum(x * x * x), x);

  EXPECT_TENSOR(t->gradient(sum(dx), x), f32({12}));
}

TEST_F(TapeTest, GradientsWithRespectToIntermediateValuesAreSupported) {
  const Ref<Tape> t = tape({.persistent = true});
  const Tensor x = f32({3});
  t->watch(x);
  const Tensor y = x * x;
  const Tensor z = y * y;

  EXPECT_TENSOR(t->gradient(z, y), f32({18}));
  EXPECT_TENSOR(t->gradient(z, z), f32({1}));
}

TEST_F(TapeTest, SumsOverTheReadsOfAVariable) {
  const Ref<Variable> v = variable(f32({3}));
  const Ref<Tape> t = tape({.persistent = true});
  const Tensor first = v->read(scope()), second = v->read(scope());

  const Tensor loss = first * second;

  EXPECT_TENSOR(gradient(*t, loss, v), f32({6}));
  EXPECT_TENSOR(t->gradient(loss, first), f32({3}));
}

TEST_F(TapeTest, DoesNotRecordCallsBeforeItStarted) {
  const Tensor x = f32({3});
  const Tensor before = x * x;
  const Ref<Tape> t = tape();
  t->watch(x);

  EXPECT_TENSOR(t->gradient(before * 2.0, x), f32({0}));
}

TEST_F(TapeTest, AnUntrainableVariableIsWatchedOnlyExplicitly) {
  const Ref<Variable> v = variable(f32({3}), false);
  const Ref<Tape> t = tape({.persistent = true});
  const Tensor unseen = square(v->read(scope()));
  t->watch(v);
  const Tensor seen = square(v->read(scope()));

  EXPECT_TENSOR(gradient(*t, unseen, v), f32({0}));
  EXPECT_TENSOR(gradient(*t, seen, v), f32({6}));
}

TEST_F(TapeTest, IgnoresTrainableVariablesIfWatchTrainableIsFalse) {
  const Ref<Variable> v = variable(f32({3}));
  const Ref<Tape> t = tape({.watch_trainable = false});

  const Tensor loss = square(v->read(scope()));

  EXPECT_TRUE(t->watched().empty());
  EXPECT_TENSOR(gradient(*t, loss, v), f32({0}));
}

TEST_F(TapeTest, GradientsDoNotFlowThroughAssignmentsToVariables) {
  const Ref<Variable> v = variable(f32({2}));
  const Tensor x = f32({3});
  const Ref<Tape> t = tape({.persistent = true});
  t->watch(x);
  v->assign(scope(), x * x);

  const Tensor loss = sum(v->read(scope()));

  EXPECT_TENSOR(t->gradient(loss, x), f32({0}));
  EXPECT_TENSOR(gradient(*t, loss, v), f32({1}));
}

TEST_F(TapeTest, AssignAfterSaveDoesNotChangeTheGradient) {
  const Ref<Variable> v = variable(f32({3}));
  const Ref<Tape> t = tape();
  const Tensor loss = square(v->read(scope()));
  v->assign(scope(), f32({100}));

  EXPECT_TENSOR(gradient(*t, loss, v), f32({6}));
}

TEST_F(TapeTest, AssignDoesNotChangeAValueReadBefore) {
  const Ref<Variable> v = variable(f32({3}));
  const Tensor read = v->read(scope());
  v->assign(scope(), f32({100}));

  EXPECT_TENSOR(read, f32({3}));
  EXPECT_TENSOR(v->read(scope()), f32({100}));
}

TEST_F(TapeTest, DoesNotRecordCallsWhilePaused) {
  const Ref<Tape> t = tape({.persistent = true});
  const Tensor x = f32({3});
  t->watch(x);
  t->pause();
  const Tensor unseen = x * x;
  t->resume();
  const Tensor seen = x * x;

  EXPECT_TENSOR(t->gradient(unseen, x), f32({0}));
  EXPECT_TENSOR(t->gradient(seen, x), f32({6}));
}

TEST_F(TapeTest, AConsumedTapeFailsUntilItIsReset) {
  const Ref<Tape> t = tape();
  const Tensor x = f32({3});
  t->watch(x);
  t->gradient(x * x, x);

  EXPECT_ERROR(t->gradient(x, x), Code::kFailedPrecondition, "consumed");

  t->reset();
  t->watch(x);
  EXPECT_TENSOR(t->gradient(x * x, x), f32({6}));
}

TEST_F(TapeTest, MissingGradientErrorNamesTheOp) {
  const Ref<Tape> t = tape();
  const Tensor p = f32({1, 2}), g = f32({1, 1});
  t->watch(p);
  const Tensor stepped = call1(OpId::k_sgd, NoAttrs{}, {p, g, number(0.1)});

  EXPECT_ERROR(t->gradient(sum(stepped), p), Code::kUnimplemented, "sgd: no gradient");
}

TEST_F(TapeTest, RejectsIntegersAndCotangentsOfAnotherType) {
  const Ref<Tape> t = tape({.persistent = true});
  const Tensor x = f32({3}), n = i32({2, 3});
  t->watch(x);
  const Tensor y = x * x;
  const Source source = x;

  EXPECT_ERROR(t->watch(n), Code::kInvalidArgument, "i32[2]");
  EXPECT_ERROR(t->gradient(n, x), Code::kInvalidArgument,
               "target 0 must be floating point, but is i32[2]");
  const Tensor wide = f64({1});
  EXPECT_ERROR(t->gradient({&y, 1}, {&wide, 1}, {&source, 1}), Code::kInvalidArgument,
               "cotangent 0 must be f32[1] like its target, but is f64[1]");
}

TEST_F(TapeTest, WeightsTargetsByTheirCotangents) {
  const Ref<Tape> t = tape();
  const Tensor x = f32({1, 2});
  t->watch(x);
  const Tensor targets[] = {x * x, x * 3.0};
  const Tensor cotangents[] = {f32({1, 10}), Tensor()};
  const Source source = x;

  EXPECT_TENSOR(t->gradient(targets, cotangents, {&source, 1})[0], f32({5, 43}));
}

TEST_F(TapeTest, GradientWithRespectToAScalarIsAFloat32Tensor) {
  const Ref<Tape> t = tape();
  const Tensor rate = make_scalar(0.5);
  t->watch(rate);
  const Tensor y = f64({1, 2}) * rate;

  EXPECT_TENSOR(t->gradient(y, rate), f32(Dims{}, {3}));
}

TEST_F(TapeTest, DerivativesRunOnTheDeviceOfTheirInputs) {
  const Tensor x = f32({1, 2});
  const Ref<Tape> t = tape();
  t->watch(x);
  const Tensor y = call1(OpId::k_logsumexp, Along{}, {x}) * 2.0;
  scope().set_device(context().device("null"));  // The device `null` has almost no kernels.

  const Tensor dx = t->gradient(y, x);

  EXPECT_EQ(dx->storage->device, x->storage->device);
  scope().set_device(*x->storage->device);
  EXPECT_TENSOR_NEAR(dx, f32({0.53788286, 1.4621172}), 1e-6, 0);
}

TEST_F(TapeTest, ComputesJacobians) {
  const Ref<Tape> t = tape();
  const Tensor x = f32({1, 2, 3});
  t->watch(x);
  const Source source = x;

  EXPECT_TENSOR(t->jacobian(x * x, {&source, 1})[0], f32(Dims{3, 3}, {2, 0, 0, 0, 4, 0, 0, 0, 6}));
}

TEST_F(TapeTest, AddSavesNothingAndReluSavesItsOutput) {
  const Ref<Tape> t = tape();
  const Tensor x = f32({-1, 2});
  t->watch(x);
  const uint64_t before = live_bytes();

  Tensor y = x + x;
  const uint64_t with_sum = live_bytes();
  y = relu(y);

  EXPECT_EQ(with_sum, before + 8);      // Only y itself; add saves nothing.
  EXPECT_EQ(live_bytes(), before + 8);  // Only y, the output of relu, is still alive.
  EXPECT_TENSOR(t->gradient(y, x), f32({0, 2}));
}

TEST_F(TapeTest, RecordsOnlyItsOwnScopeWhenTwoScopesInterleave) {
  const auto other_scope = Ref<Scope>::adopt(new Scope(context(), &device()));
  const auto other = Ref<Tape>::adopt(new Tape(other_scope, {}));
  const Ref<Tape> mine = tape();
  const Tensor x = f32({3});
  mine->watch(x);
  other->watch(x);

  const Tensor y = x * x;
  Tensor z;
  {
    const Scope::Enter enter(*other_scope);
    z = x * x * x;
  }

  EXPECT_TENSOR(mine->gradient(y, x), f32({6}));
  const Scope::Enter enter(*other_scope);
  EXPECT_TENSOR(other->gradient(z, x), f32({27}));
}

TEST_F(TapeTest, TwoScopesOnTwoThreadsAreIndependent) {
  const Tensor shared = f32({3});
  const auto work = [&](double factor) {
    const auto own = Ref<Scope>::adopt(new Scope(context(), &device()));
    const Scope::Enter enter(*own);
    for (int i = 0; i < 200; ++i) {
      const auto t = Ref<Tape>::adopt(new Tape(own, {}));
      t->watch(shared);
      const Tensor y = shared * shared * factor;
      EXPECT_TENSOR(t->gradient(y, shared), f32({6 * factor}));
    }
  };
  std::thread a(work, 1), b(work, 2);
  a.join();
  b.join();
}

TEST_F(TapeTest, IntegersCarryNoGradient) {
  const Ref<Tape> t = tape();
  const Tensor x = f32({3, 1});
  t->watch(x);
  const Tensor position = call1(OpId::k_argmax, ArgReduceAttrs{}, {x});

  EXPECT_TENSOR(t->gradient(cast(position, DType::kF32), x), f32({0, 0}));
}

}  // namespace
}  // namespace tenon
