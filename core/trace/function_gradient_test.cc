// Gradients of functions equal those of eager code, for tapes outside and inside the functions.

#include "core/dispatch/variable.h"
#include "core/testing/test.h"
#include "core/trace/control/control.h"
#include "core/trace/function.h"

namespace tenon {
namespace {

using testing::f32;
using testing::values_of;
using Doubles = std::vector<double>;
using Code1 = std::function<Tensor(const Tensor& x)>;

class FunctionGradients : public testing::CoreTest {
 protected:
  Ref<Function> function(Function::Body body) {
    return Ref<Function>::adopt(new Function(context(), "f", std::move(body), {}));
  }
  Ref<Function> function(const Code1& code) {
    return function([code](Scope&, TensorSpan in, const Statics&) { return Tensors{code(in[0])}; });
  }
  Code1 call_of(const Ref<Function>& f) {
    return [this, f](const Tensor& x) { return f->call(scope(), {&x, 1}, {})[0]; };
  }
  Ref<Variable> variable(const Tensor& value) {
    return Ref<Variable>::adopt(new Variable(scope(), value, "w", true));
  }
  Tensor slope(const Code1& code, const Tensor& x) {
    const auto t = tape();
    t->watch(x);
    return t->gradient(code(x), x);
  }
};

// ---- two tapes

TEST_F(FunctionGradients, OfLoopsAndBranchesReachOuterTapes) {
  const Code1 loop = [&](const Tensor& x) {
    return while_loop(
        scope(), [](TensorSpan in) { return Tensors{less(in[0], integer(3))}; },
        [](TensorSpan in) {
          return Tensors{in[0] + integer(1), in[1] * number(2)};
        },
        Tensors{fill(integer(0), Dims{}, DType::kI64), x})[1];
  };
  const Code1 branch = [&](const Tensor& x) {
    return cond(
        scope(), greater(sum(x), number(0)), [&](TensorSpan) { return Tensors{x * number(8)}; },
        [&](TensorSpan) { return Tensors{x}; })[0];
  };
  for (const Code1& code : {loop, branch}) {
    // `loop` and `branch` multiply by 8, so this computes 64 x^2.
    const Code1 squared = [&](const Tensor& x) { return square(code(x)); };
    const auto first = function([&](const Tensor& x) { return slope(squared, x); });
    const auto second = function([&](const Tensor& x) {
      return slope([&](const Tensor& y) { return slope(squared, y); }, x);
    });
    // Both tapes record `y`. The outer tape also records the gradient `g`, and differentiates both.
    const auto both = function([&](const Tensor& x) {
      const auto outer = tape(), inner = tape();
      outer->watch(x);
      inner->watch(x);
      const Tensor y = squared(x), g = inner->gradient(y, x);
      return outer->gradient(y + g, x);
    });
    const Tensor x = f32({1, 3});
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(values_of(call_of(first)(x)), (Doubles{128, 384}));
      EXPECT_EQ(values_of(call_of(second)(x)), (Doubles{128, 128}));
      EXPECT_EQ(values_of(call_of(both)(x)), (Doubles{256, 512}));
    }
  }
}

// ---- variables

// No gradient flows from a read of a variable to the computation of the assigned value, because
// each read is a source of its own.
TEST_F(FunctionGradients, DoNotPassThroughAssignments) {
  const auto w = variable(f32({1, 2}));
  const Code1 plain = [&](const Tensor& x) {
    const Tensor before = w->read(scope());
    w->assign(scope(), x * number(3));
    return w->read(scope()) * number(2) + before;
  };
  const Code1 in_branch = [&](const Tensor& x) {
    return cond(
        scope(), greater(sum(x), number(0)), [&](TensorSpan) { return Tensors{plain(x)}; },
        [&](TensorSpan) { return Tensors{x}; })[0];
  };
  const Code1 in_loop = [&](const Tensor& x) {
    return while_loop(
        scope(), [](TensorSpan in) { return Tensors{less(in[0], integer(1))}; },
        [&](TensorSpan in) {
          return Tensors{in[0] + integer(1), plain(x)};
        },
        Tensors{fill(integer(0), Dims{}, DType::kI64), x})[1];
  };
  const Code1 then_read = [&](const Tensor& x) { return in_loop(x) + w->read(scope()); };
  const Tensor x = f32({5, 6});
  const auto gradients = [&](const Code1& code) {
    w->assign(scope(), f32({1, 2}));
    const auto t = tape();
    t->watch(x);
    const Source sources[] = {x, w};
    const Tensor y = code(x);
    return t->gradient(Tensors{y}, {}, sources);
  };
  const auto expect = [&](const Code1& code, double dw) {
    const auto f = function(code);
    const auto inside = function([&](Scope&, TensorSpan in, const Statics&) {
      const auto t = tape();
      t->watch(in[0]);
      const Source sources[] = {in[0], w};
      return t->gradient(Tensors{code(in[0])}, {}, sources);
    });
    for (const Code1& each : {code, call_of(f), call_of(f)}) {
      const Tensors found = gradients(each);
      EXPECT_EQ(values_of(found[0]), (Doubles{0, 0}));
      EXPECT_EQ(values_of(found[1]), (Doubles{dw, dw}));
    }
    const Tensors found = inside->call(scope(), {&x, 1}, {});
    EXPECT_EQ(values_of(found[0]), (Doubles{0, 0}));
    EXPECT_EQ(values_of(found[1]), (Doubles{dw, dw}));
  };
  expect(plain, 3);
  expect(in_branch, 3);
  expect(in_loop, 3);
  expect(then_read, 4);
}

// ---- outputs and sizes

TEST_F(FunctionGradients, AllowInlineScalarOutputs) {
  const auto f = function([](Scope&, TensorSpan in, const Statics&) {
    return Tensors{in[0] * number(3), number(2)};
  });
  const Tensor x = f32({1, 2});
  EXPECT_EQ(values_of(slope(
                [&](const Tensor& in) {
                  const Tensors y = f->call(scope(), {&in, 1}, {});
                  return y[0] * y[1];
                },
                x)),
            (Doubles{6, 6}));
}

// The guard that `a` has at least two rows implies that the slice of `twice` has one row.
TEST_F(FunctionGradients, UseTheGuardsOfTheFunction) {
  const auto f = function([](const Tensor& a) {
    const Tensor twice = concat(Tensors{a, a * number(2)}, 0);
    return a + slice(twice, {.starts = {1}, .ends = {2}, .axes = {0}});
  });
  for (const int64_t n : {2, 3, 4, 5}) {
    const Tensor x = ones(TensorType(DType::kF32, Dims{n, 1}));
    Doubles want(static_cast<size_t>(n), 1);
    want[1] += static_cast<double>(n);
    EXPECT_EQ(values_of(slope(call_of(f), x)), want);
  }
  EXPECT_LE(f->traces().size(), 3u);
}

}  // namespace
}  // namespace tenon
