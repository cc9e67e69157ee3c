// Helpers for tests of branches and loops.

#pragma once

#include <cmath>

#include "core/dispatch/variable.h"
#include "core/testing/test.h"
#include "core/trace/control/control.h"
#include "core/trace/function.h"

namespace tenon::testing {

using Code1 = std::function<Tensor(const Tensor& x)>;

// Creates an int64 tensor of rank 0.
inline Tensor i64_scalar(int64_t n) { return fill(integer(n), Dims{}, DType::kI64); }
// Creates a float64 tensor of rank 0.
inline Tensor scalar64(double x) { return fill(number(x), Dims{}, DType::kF64); }

class ControlTest : public CoreTest {
 protected:
  // Creates a function named f.
  Ref<Function> function(Function::Body body) {
    return Ref<Function>::adopt(new Function(context(), "f", std::move(body), {}));
  }
  // Creates a function of one tensor.
  Ref<Function> function(const Code1& code) {
    return function([code](Scope&, TensorSpan in, const Statics&) { return Tensors{code(in[0])}; });
  }
  // Creates a function whose argument has unknown sizes.
  Ref<Function> function(const InputSpec& argument, Function::Body body) {
    FunctionOptions options;
    options.has_signature = true;
    options.signature = {argument};
    return Ref<Function>::adopt(new Function(context(), "f", std::move(body), options));
  }
  // Runs `code` on x as a traced function.
  Tensor traced(const Code1& code, const Tensor& x) {
    return function(code)->call(scope(), {&x, 1}, {})[0];
  }
  // Creates a variable named w.
  Ref<Variable> variable(const Tensor& value) {
    return Ref<Variable>::adopt(new Variable(scope(), value, "w", true));
  }

  // Returns the derivative of f at x, computed by finite differences.
  static double slope(const std::function<double(double)>& f, double x) {
    const double h = 1e-4;
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
  }
  // Returns a derivative of the given order at `at`, computed by nested tapes.
  double derivative(const Code1& code, double at, int order) {
    const Tensor x = scalar64(at);
    std::vector<Ref<Tape>> tapes;
    for (int i = 0; i < order; ++i) {
      tapes.push_back(tape());
      tapes.back()->watch(x);
    }
    Tensor y = code(x);
    for (; !tapes.empty(); tapes.pop_back()) y = tapes.back()->gradient(y, x);
    return values_of(y)[0];
  }
  // Checks `code`, eager and traced, at several points. The values must be bitwise equal. The
  // derivatives up to order `orders` may add terms in different orders, so they must agree within
  // rounding errors. Each must also agree with finite differences of the derivative of one order
  // less.
  void check(const Code1& code, std::initializer_list<double> points, int orders = 3) {
    const auto f = function(code);
    const Code1 call = [&](const Tensor& x) { return f->call(scope(), {&x, 1}, {})[0]; };
    for (const double at : points) {
      SCOPED_TRACE(at);
      EXPECT_EQ(values_of(code(scalar64(at))), values_of(call(scalar64(at))));
      for (int order = 1; order <= orders; ++order) {
        SCOPED_TRACE(order);
        const double eager = derivative(code, at, order), traced = derivative(call, at, order);
        EXPECT_NEAR(eager, traced, 1e-12 * (1 + std::abs(eager)));
        const auto below = [&](double x) { return derivative(code, x, order - 1); };
        const double want = slope(below, at);
        EXPECT_NEAR(eager, want, 1e-6 * (1 + std::abs(want)));
      }
    }
    EXPECT_EQ(f->traces().size(), 1u);
  }

  // Applies `trip` to x n times, in a while loop; i counts the trips from 0.
  Tensor iterate(const Tensor& n, const Tensor& x,
                 const std::function<Tensor(const Tensor& i, const Tensor& x)>& trip) {
    return while_loop(
        scope(), [&](TensorSpan in) { return Tensors{less(in[0], n)}; },
        [&](TensorSpan in) {
          return Tensors{in[0] + integer(1), trip(in[0], in[1])};
        },
        Tensors{i64_scalar(0), x}, loops)[1];
  }
  // Computes x^n by a loop of n multiplications.
  Tensor power(const Tensor& x, const Tensor& n) {
    return iterate(n, ones(x->type), [&](const Tensor&, const Tensor& y) { return y * x; });
  }

  WhileOptions loops;
};

}  // namespace tenon::testing
