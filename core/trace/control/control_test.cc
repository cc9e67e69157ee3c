#include "core/trace/control/control.h"

#include <cmath>

#include "core/dispatch/generator.h"
#include "core/testing/control.h"
#include "core/testing/graph_text.h"
#include "core/trace/control/lists.h"

namespace tenon {
namespace {

using testing::Code1;
using testing::f32;
using testing::f64;
using testing::i64;
using testing::i64_scalar;
using testing::scalar64;
using testing::values_of;
using Doubles = std::vector<double>;
using Control = testing::ControlTest;

TEST_F(Control, CondRunsOneBranch) {
  int then = 0, otherwise = 0;
  const auto code = [&](const Tensor& x) {
    return cond(
        scope(), greater(x, number(0)), [&](TensorSpan) { return ++then, Tensors{x * x}; },
        [&](TensorSpan) { return ++otherwise, Tensors{-x}; })[0];
  };

  EXPECT_EQ(values_of(code(scalar64(3))), Doubles{9});
  EXPECT_EQ(then + otherwise, 1);
  const auto f = function(code);
  const Tensor a = scalar64(3), b = scalar64(-3);
  EXPECT_EQ(values_of(f->call(scope(), {&a, 1}, {})[0]), Doubles{9});
  EXPECT_EQ(values_of(f->call(scope(), {&b, 1}, {})[0]), Doubles{3});
  EXPECT_EQ(then, 2);
  EXPECT_EQ(otherwise, 1);
}

TEST_F(Control, CondIsTracedAsOneCall) {
  const auto f = function([&](const Tensor& x) {
    return cond(
        scope(), greater(x, number(0)), [&](TensorSpan) { return Tensors{x * x}; },
        [&](TensorSpan) { return Tensors{-x}; })[0];
  });
  const Tensor x = scalar64(1);
  f->call(scope(), {&x, 1}, {});

  EXPECT_EQ(to_text(f->traces()[0]->graph()),
            "(x0: f64[]) {\n"
            "  v1 = greater(x0, 0.0)\n"
            "  v2 = branch(v1, x0) do (v0: f64[]) {\n"
            "    v1 = mul(v0, v0)\n"
            "    return v1\n"
            "  } do (v0: f64[]) {\n"
            "    v1 = neg(v0)\n"
            "    return v1\n"
            "  }\n"
            "  return v2\n"
            "}\n");
}

TEST_F(Control, TextOfNestedGraphsIsParsed) {
  const auto f = function({.name = "xs", .dtype = DType::kF64, .sizes = {InputSpec::kUnknown, 2}},
                          [&](Scope&, TensorSpan in, const Statics&) {
                            return scan(
                                scope(),
                                [&](TensorSpan each) {
                                  return cond(
                                      scope(), greater(sum(each[1]), number(0)),
                                      [&](TensorSpan) {
                                        return Tensors{each[0] * each[1], sum(in[0])};
                                      },
                                      [&](TensorSpan) {
                                        return Tensors{each[0], sum(each[0])};
                                      });
                                },
                                Tensors{f64({1, 1})}, in);
                          });
  const Tensor xs = testing::make(DType::kF64, Dims{2, 2}, {1, 2, 3, 4});
  const auto t = tape({.persistent = true});
  t->watch(xs);
  t->gradient(f->call(scope(), {&xs, 1}, {})[0], xs);

  const std::string text = to_text(f->traces()[0]->graph());
  EXPECT_NE(text.find("while_loop("), std::string::npos);
  EXPECT_NE(text.find("branch("), std::string::npos);
  EXPECT_EQ(testing::reprinted_text(text), text);
}

TEST_F(Control, OutOfRangeIndicesSelectTheLastCase) {
  const auto code = [&](const Tensor& i) {
    const Block branches[] = {[](TensorSpan) { return Tensors{scalar64(10)}; },
                              [](TensorSpan) { return Tensors{scalar64(20)}; },
                              [](TensorSpan) { return Tensors{scalar64(30)}; }};
    return switch_case(scope(), i, branches)[0];
  };
  const auto f = function(code);
  for (const auto& [index, want] :
       {std::pair{0, 10.0}, {1, 20.0}, {2, 30.0}, {3, 30.0}, {-1, 30.0}}) {
    const Tensor i = i64_scalar(index);
    EXPECT_EQ(values_of(code(i)), Doubles{want});
    EXPECT_EQ(values_of(f->call(scope(), {&i, 1}, {})[0]), Doubles{want});
  }
}

TEST_F(Control, TripCountDependsOnTheInput) {
  const auto f =
      function([&](Scope&, TensorSpan in, const Statics&) { return Tensors{power(in[0], in[1])}; });
  for (const int n : {0, 1, 5}) {
    const Tensor in[] = {scalar64(2), i64_scalar(n)};
    EXPECT_EQ(values_of(power(in[0], in[1])), Doubles{std::pow(2, n)});
    EXPECT_EQ(values_of(f->call(scope(), in, {})[0]), Doubles{std::pow(2, n)});
  }
  EXPECT_EQ(f->traces().size(), 1u);
}

TEST_F(Control, ScanStacksItsOutputs) {
  const auto code = [&](const Tensor& xs, bool reverse) {
    return scan(scope(),
                [](TensorSpan in) {
                  return Tensors{in[0] + in[1], in[0]};
                },
                Tensors{scalar64(0)}, Tensors{xs}, {.reverse = reverse});
  };
  const auto f = function([&](Scope&, TensorSpan in, const Statics&) {
    Tensors all = code(in[0], false);
    for (Tensor& x : code(in[0], true)) all.push_back(std::move(x));
    return all;
  });
  const Tensor xs = f64({1, 2, 4});
  const Tensors found = f->call(scope(), {&xs, 1}, {});
  EXPECT_EQ(values_of(found[0]), Doubles{7});
  EXPECT_EQ(values_of(found[1]), (Doubles{0, 1, 3}));
  EXPECT_EQ(values_of(found[2]), Doubles{7});
  EXPECT_EQ(values_of(found[3]), (Doubles{6, 4, 0}));
  EXPECT_EQ(values_of(code(xs, true)[1]), (Doubles{6, 4, 0}));

  const Tensor none = testing::make(DType::kF64, Dims{0}, {});
  EXPECT_EQ(to_string(code(none, false)[1]->type), "f64[0]");
  EXPECT_EQ(to_string(f->call(scope(), {&none, 1}, {})[1]->type), "f64[0]");
}

TEST_F(Control, ScanServesEveryLengthFromOneTrace) {
  const auto f = function({.name = "xs", .dtype = DType::kF64, .sizes = {InputSpec::kUnknown}},
                          [&](Scope&, TensorSpan in, const Statics&) {
                            return scan(
                                scope(),
                                [](TensorSpan each) {
                                  return Tensors{each[0] * each[1], each[0]};
                                },
                                Tensors{scalar64(1)}, in);
                          });
  for (const Tensor& xs : {f64({1, 2, 3}), f64({5}), f64({2, 2, 2, 2})}) {
    const auto t = tape();
    t->watch(xs);
    const Tensors found = f->call(scope(), {&xs, 1}, {});
    double product = 1;
    for (const double x : values_of(xs)) product *= x;
    EXPECT_EQ(values_of(found[0]), Doubles{product});
    const Doubles slopes = values_of(t->gradient(found[0], xs)), values = values_of(xs);
    for (size_t i = 0; i < slopes.size(); ++i) EXPECT_EQ(slopes[i], product / values[i]);
  }
  EXPECT_EQ(f->traces().size(), 1u);
}

TEST_F(Control, LoopServesEveryUnknownSizeFromOneTrace) {
  const auto f = function({.name = "x", .dtype = DType::kF64, .sizes = {InputSpec::kUnknown}},
                          [&](Scope&, TensorSpan in, const Statics&) {
                            const Tensor n = reshape(shape_tensor(in[0]->shape()), Dims{});
                            return Tensors{power(scalar64(2), n), shape_tensor(in[0]->shape())};
                          });
  for (const Tensor& x : {f64({1, 2, 3}), f64({5}), f64({2, 2, 2, 2})}) {
    const Tensors found = f->call(scope(), {&x, 1}, {});
    const auto n = static_cast<double>(int64_t{x->shape()[0]});
    EXPECT_EQ(values_of(found[0]), Doubles{std::pow(2, n)});
    EXPECT_EQ(values_of(found[1]), Doubles{n});
  }
  EXPECT_EQ(f->traces().size(), 1u);
}

TEST_F(Control, LoopsReadAndAssignVariables) {
  const auto total = variable(f32({0})), step = variable(f32({2}));
  const auto f = function([&](Scope& s, TensorSpan in, const Statics&) {
    while_loop(
        s, [&](TensorSpan i) { return Tensors{less(i[0], in[0])}; },
        [&](TensorSpan i) {
          total->assign(s, total->read(s) + step->read(s));
          return Tensors{i[0] + integer(1)};
        },
        Tensors{i64_scalar(0)});
    return Tensors{total->read(s)};
  });
  const Tensor three = i64_scalar(3);
  EXPECT_EQ(values_of(f->call(scope(), {&three, 1}, {})[0]), Doubles{6});
  EXPECT_EQ(values_of(f->call(scope(), {&three, 1}, {})[0]), Doubles{12});
  EXPECT_EQ(values_of(total->load_untraced()), Doubles{12});
}

TEST_F(Control, TapesRecordReadsOfVariablesThatBranchesAssign) {
  const auto w = variable(f32({3})), seen = variable(f32({0}));
  const auto f = function([&](Scope& s, TensorSpan in, const Statics&) {
    return cond(
        s, greater(in[0], number(0)),
        [&](TensorSpan) {
          seen->assign(s, seen->read(s) + number(1));
          return Tensors{w->read(s) * w->read(s)};
        },
        [&](TensorSpan) { return Tensors{w->read(s)}; });
  });
  for (const auto& [x, slope] : {std::pair{1.0, 6.0}, {-1.0, 1.0}}) {
    const auto t = tape();
    const Tensor in = scalar64(x);
    const Tensors y = f->call(scope(), {&in, 1}, {});
    const Source source[] = {w};
    EXPECT_EQ(values_of(t->gradient(y, {}, source)[0]), Doubles{slope});
  }
  EXPECT_EQ(values_of(seen->load_untraced()), Doubles{1});
}

TEST_F(Control, EveryTripDrawsNewNumbers) {
  const auto generator = Ref<Generator>::adopt(new Generator(scope(), 7));
  const OpDef& uniform = *find_op("random_uniform");
  const auto draws = [&](Scope& s) {
    return scan(
        s,
        [&](TensorSpan in) {
          const OwnedAttrs attrs(*uniform.attrs);
          return Tensors{in[0], generator->draw(s, uniform, attrs.view(), {}, 0)[0]};
        },
        Tensors{scalar64(0)}, Tensors{f64({0, 0, 0})})[1];
  };
  const auto f = function([&](Scope& s, TensorSpan, const Statics&) { return Tensors{draws(s)}; });

  const Doubles eager = values_of(draws(scope())), more = values_of(draws(scope()));
  EXPECT_NE(eager[0], eager[1]);
  generator->seed(scope(), 7);
  EXPECT_EQ(values_of(f->call(scope(), {}, {})[0]), eager);
  EXPECT_EQ(values_of(f->call(scope(), {}, {})[0]), more);
}

TEST_F(Control, TapesCanBeUsedInsideALoopBody) {
  check(
      [&](const Tensor& x) {
        return iterate(i64_scalar(3), x, [&](const Tensor&, const Tensor& y) {
          // A step of gradient descent on y^4.
          const auto t = tape();
          t->watch(y);
          return y - t->gradient(y * y * y * y, y) * number(0.05);
        });
      },
      {0.5, 1});
}

// Gradient descent on (w - 3)^2: each step halves the distance.
TEST_F(Control, LoopMakesOptimizerStepsLikeEagerCode) {
  const auto w = variable(f32({0}));
  const auto descend = [&](Scope& s, const Tensor& steps) {
    return iterate(steps, w->read(s), [&](const Tensor&, const Tensor&) {
      const auto t = tape();
      const Tensor now = w->read(s);
      t->watch(now);
      const Tensor slope = t->gradient(square(now - number(3)), now);
      w->assign(s, now - slope * number(0.25));
      return w->read(s);
    });
  };
  const auto f =
      function([&](Scope& s, TensorSpan in, const Statics&) { return Tensors{descend(s, in[0])}; });
  const Tensor three = i64_scalar(3), none = i64_scalar(0);
  EXPECT_EQ(values_of(descend(scope(), three)), Doubles{2.625});
  w->assign(scope(), f32({0}));
  EXPECT_EQ(values_of(f->call(scope(), {&three, 1}, {})[0]), Doubles{2.625});
  EXPECT_EQ(values_of(f->call(scope(), {&none, 1}, {})[0]), Doubles{2.625});
  EXPECT_EQ(values_of(f->call(scope(), {&three, 1}, {})[0]), Doubles{2.953125});
  EXPECT_EQ(values_of(w->load_untraced()), Doubles{2.953125});
}

TEST_F(Control, InvalidArgumentsOfBranchesAndLoopsAreErrors) {
  const auto f = function([&](const Tensor& x) {
    return while_loop(
        scope(), [&](TensorSpan in) { return Tensors{less(in[0], number(3))}; },
        [&](TensorSpan in) { return Tensors{expand_dims(in[0], {0})}; }, Tensors{x})[0];
  });
  const Tensor x = scalar64(0);
  EXPECT_ERROR(f->call(scope(), {&x, 1}, {}), Code::kInvalidArgument,
               "while_loop carries f64[] as value 0, but its body returns f64[1]");

  const auto g = function([&](const Tensor& y) {
    return cond(
        scope(), greater(y, number(0)), [&](TensorSpan) { return Tensors{y}; },
        [&](TensorSpan) { return Tensors{cast(y, DType::kF32)}; })[0];
  });
  EXPECT_ERROR(g->call(scope(), {&x, 1}, {}), Code::kInvalidArgument,
               "value 0 of two branches is f64[] and f32[]");
  EXPECT_ERROR(cond(scope(), x, nullptr, nullptr), Code::kInvalidArgument,
               "the predicate of cond must be bool[], but is f64[]");
  EXPECT_ERROR(sin(list_create(x->type)), Code::kInvalidArgument,
               "is a list of tensors, not a tensor");
}

}  // namespace
}  // namespace tenon
