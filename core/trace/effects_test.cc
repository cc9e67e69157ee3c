// Effects of traced code occur in program order and as often as in eager code.

#include "core/trace/effects.h"

#include <cmath>
#include <functional>

#include "core/ops/definition/op_ids.h"
#include "core/testing/functions.h"
#include "core/testing/graph_text.h"
#include "core/trace/control/control.h"
#include "core/trace/passes/pass.h"

namespace tenon {
namespace {

using testing::f32;
using testing::values_of;
using Doubles = std::vector<double>;

class Effects : public testing::FunctionTest {
 protected:
  explicit Effects(std::vector<std::string> plugins = {})
      : testing::FunctionTest(std::move(plugins)) {
    context().set_print([this](std::string_view text) { printed += text; });
  }

  void show(std::string_view format, std::initializer_list<Tensor> values) {
    print(scope(), format, Tensors(values));
  }
  // Returns the text that `calls` prints.
  std::string printed_by(const std::function<void()>& calls) {
    printed.clear();
    calls();
    return printed;
  }
  // Expects the same text from eager code and from three traced calls.
  template <class Body>
  void expect_prints(const Body& body, std::initializer_list<Tensor> inputs,
                     const std::string& want) {
    const auto f = function(body);
    context().run_functions_eagerly(true);
    EXPECT_EQ(printed_by([&] { call(f, inputs); }), want);
    context().run_functions_eagerly(false);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(printed_by([&] { call(f, inputs); }), want) << "call " << i;
    }
    EXPECT_EQ(f->traces().size(), 1u);
    expect_same_text(text(f));
  }
  void expect_same_text(const std::string& text) {
    EXPECT_EQ(text, to_text(*parse_graph(scope(), text)));
  }
  // A loop of n trips that carries a number and the output of `body`.
  Tensor times(const Tensor& n, const Tensor& x,
               const std::function<Tensor(const Tensor& i, const Tensor& x)>& body,
               LoopPolicy policy = LoopPolicy::kStack) {
    const Tensor zero = fill(integer(0), Dims{}, DType::kI64);
    return while_loop(
        scope(), [&](TensorSpan in) { return Tensors{less(in[0], n)}; },
        [&](TensorSpan in) {
          return Tensors{in[0] + integer(1), body(in[0], in[1])};
        },
        Tensors{zero, x}, {.policy = policy, .max_trips = 8})[1];
  }
  Tensor count(int64_t n) { return fill(integer(n), Dims{}, DType::kI64); }
  Tensor check(const Tensor& x) { return call1(OpId::k_check_numerics, NoAttrs{}, {x}); }

  std::string printed;
};

TEST_F(Effects, OfEagerCodeOccurImmediately) {
  EXPECT_EQ(printed_by([&] {
              show("x is {}, {{n}} {}!", {f32({1, 2.5}), integer(3)});
            }),
            "x is [1.  2.5], {n} 3!\n");
  EXPECT_EQ(printed_by([&] { show("", {f32({1}), number(0.5)}); }), "[1.] 0.5\n");
  EXPECT_EQ(printed_by([&] { show("only text", {}); }), "only text\n");
}

TEST_F(Effects, RejectInvalidFormats) {
  EXPECT_ERROR(show("{} {}", {f32({1})}), Code::kInvalidArgument,
               "the format \"{} {}\" has 2 placeholders for 1 values");
  EXPECT_ERROR(show("a { b", {}), Code::kInvalidArgument, "has a single { at 2: write it twice");
  EXPECT_ERROR(show("}", {}), Code::kInvalidArgument, "print:");
  EXPECT_ERROR(assert_all(scope(), f32({1}), ""), Code::kInvalidArgument,
               "assert: C1: the condition must be bool, but is f32[1]");
  EXPECT_EQ(printed, "");
}

TEST_F(Effects, OccurInProgramOrder) {
  expect_prints(
      [&](TensorSpan in) {
        show("first {}", {in[0]});
        const Tensor y = in[0] * 2.0;
        show("same", {});
        show("same", {});
        show("last {} \"quoted\\\" \n{}", {y, in[0]});
        return Tensors{y};
      },
      {f32({1, 2})}, "first [1. 2.]\nsame\nsame\nlast [2. 4.] \"quoted\\\" \n[1. 2.]\n");
}

TEST_F(Effects, AreOrderedByTokensInTheGraph) {
  const auto f = function([&](TensorSpan in) {
    show("{}", {in[0]});
    const Tensor y = check(in[0]);
    assert_all(scope(), greater(y, number(0.0)), "not so");
    return Tensors{y};
  });
  call(f, {f32({1, 2})});
  EXPECT_GRAPH(text(f), R"((x: f32[2], order: state token) {
                 a = print(order, x, format="{}")
                 y, b = check_numerics(a, x)
                 c = assert(b, greater(y, 0.0), message="not so")
                 return c, y
               })");
}

TEST_F(Effects, OccurInTheSelectedBranch) {
  const auto code = [&](TensorSpan in) {
    show("before", {});
    const Tensor y = cond(
        scope(), greater(in[0], number(0.0)),
        [&](TensorSpan) {
          show("above {}", {in[0]});
          return Tensors{in[0]};
        },
        [&](TensorSpan) { return Tensors{-in[0]}; })[0];
    show("behind {}", {y});
    return Tensors{};
  };
  expect_prints(code, {number(3.0)}, "before\nabove 3.0\nbehind 3.0\n");
  expect_prints(code, {number(-3.0)}, "before\nbehind 3.0\n");
}

TEST_F(Effects, OccurInEachTripOfALoop) {
  const auto code = [&](TensorSpan in) {
    times(in[0], in[1], [&](const Tensor& i, const Tensor& x) {
      show("trip {}", {i});
      times(i, x, [&](const Tensor& j, const Tensor& y) {
        show("  inner {}", {j});
        return y;
      });
      return x * 2.0;
    });
    show("done", {});
    return Tensors{};
  };
  expect_prints(code, {count(0), f32({1})}, "done\n");
  expect_prints(code, {count(1), f32({1})}, "trip 0\ndone\n");
  expect_prints(code, {count(3), f32({1})},
                "trip 0\ntrip 1\n  inner 0\ntrip 2\n  inner 0\n  inner 1\ndone\n");
}

TEST_F(Effects, OccurInScansAndInlinedFunctions) {
  const auto inner = function([&](TensorSpan in) {
    show("inner {}", {in[0]});
    return Tensors{in[0]};
  });
  expect_prints(
      [&](TensorSpan in) {
        scan(
            scope(),
            [&](TensorSpan row) {
              call(inner, {row[1]});
              return Tensors{row[0] + row[1]};
            },
            Tensors{in[1]}, Tensors{in[0]});
        show("end", {});
        return Tensors{};
      },
      {f32({1, 2}), fill(number(0.0), Dims{}, DType::kF32)}, "inner 1.0\ninner 2.0\nend\n");
}

TEST_F(Effects, OfAnInlinedTraceOccurInTheOuterTrace) {
  const auto w = variable(f32({0}));
  const auto inner = function([&](TensorSpan in) {
    show("inner {}", {in[0]});
    assert_all(scope(), less(in[0], number(9.0)), "");
    w->assign(scope(), w->read(scope()) + in[0]);
    return Tensors{in[0] * 2.0};
  });
  const Tensor x = f32({3});
  const Function::Bound bound = inner->bind(scope(), {&x, 1}, {});
  const auto f = function([&](TensorSpan in) {
    show("before", {});
    w->assign(scope(), in[0] * 10.0);
    const Tensor y = bound.trace->call(scope(), in, bound.sizes)[0];
    show("behind {} {}", {y, w->read(scope())});
    return Tensors{y};
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(printed_by([&] { call(f, {f32({3})}); }), "before\ninner [3.]\nbehind [6.] [33.]\n");
    EXPECT_EQ(values_of(w->read(scope())), Doubles{33});
    EXPECT_ERROR(call(f, {f32({20})}), Code::kFailedPrecondition, "assert");
    EXPECT_EQ(values_of(w->read(scope())), Doubles{200});
  }
}

TEST_F(Effects, DoNotOccurDuringTracing) {
  Ref<Variable> w;
  const auto f = function([&](TensorSpan in) {
    show("runs", {});
    if (!w) w = variable(in[0] + 1.0);
    return Tensors{w->read(scope())};
  });
  const InputSpec spec = {.name = "x", .dtype = DType::kF32, .sizes = {1}};
  EXPECT_EQ(printed_by([&] { call(f, {f32({1})}); }), "runs\n");
  EXPECT_EQ(bodies_run, 2);
  EXPECT_EQ(printed_by([&] { f->trace(scope(), {spec}, {}); }), "");
  const auto again = function([&](TensorSpan in) {
    show("never", {});
    return Tensors{variable(in[0])->read(scope())};
  });
  EXPECT_EQ(printed_by([&] {
              EXPECT_ERROR(call(again, {f32({1})}), Code::kFailedPrecondition, "in every call");
            }),
            "");
}

TEST_F(Effects, OccurOnceUnderTapes) {
  for (const LoopPolicy policy :
       {LoopPolicy::kStack, LoopPolicy::kRecompute, LoopPolicy::kBounded}) {
    const auto f = function([&, policy](TensorSpan in) {
      show("in {}", {in[0]});
      const Tensor y = times(
          count(2), in[0],
          [&](const Tensor& i, const Tensor& x) {
            show("trip {}", {i});
            return check(x * x) * x;
          },
          policy);
      show("out", {});
      return Tensors{check(y * y)};
    });
    const std::string want = "in [2.]\ntrip 0\ntrip 1\nout\n";
    const Tensor x = f32({2});
    for (int i = 0; i < 3; ++i) {
      const auto outer = tape();
      outer->watch(x);
      EXPECT_EQ(printed_by([&] {
                  EXPECT_EQ(values_of(outer->gradient(call_one(f, {x}), x)),
                            Doubles{18 * std::pow(2, 17)});
                }),
                want);
    }
    // A second-order gradient, and a persistent tape that computes two gradients.
    const auto outer = tape(), inner = tape();
    outer->watch(x);
    inner->watch(x);
    EXPECT_EQ(printed_by([&] {
                const Tensor dx = inner->gradient(call_one(f, {x}), x);
                EXPECT_EQ(values_of(outer->gradient(dx, x)), Doubles{18 * 17 * std::pow(2, 16)});
              }),
              want);
    const auto lasting = tape({.persistent = true});
    lasting->watch(x);
    EXPECT_EQ(printed_by([&] {
                const Tensor y = call_one(f, {x});
                EXPECT_EQ(values_of(lasting->gradient(y, x)), Doubles{18 * std::pow(2, 17)});
                EXPECT_EQ(values_of(lasting->gradient(y, x)), Doubles{18 * std::pow(2, 17)});
              }),
              want);
    // A loop that makes no trip, and a loop that makes one.
    const auto none = function([&, policy](TensorSpan in) {
      return Tensors{times(
          in[1], in[0],
          [&](const Tensor& i, const Tensor& y) {
            show("trip {}", {i});
            return check(y * y);
          },
          policy)};
    });
    for (int64_t trips = 0; trips < 2; ++trips) {
      const auto own = tape();
      own->watch(x);
      EXPECT_EQ(printed_by([&] {
                  const Tensor y = call_one(none, {x, count(trips)});
                  EXPECT_EQ(values_of(own->gradient(y, x)), Doubles{trips > 0 ? 4.0 : 1.0});
                }),
                trips > 0 ? "trip 0\n" : "");
    }
    // The function itself contains a tape.
    const auto g = function([&](TensorSpan in) {
      const auto own = tape();
      own->watch(in[0]);
      return Tensors{own->gradient(call_one(f, {in[0]}), in[0])};
    });
    EXPECT_EQ(
        printed_by([&] { EXPECT_EQ(values_of(call_one(g, {x})), Doubles{18 * std::pow(2, 17)}); }),
        want);
    EXPECT_EQ(printed_by([&] { call(g, {x}); }), want);
    expect_same_text(text(f));
  }
}

TEST_F(Effects, OccurInTheBackwardPass) {
  const auto vjp = std::make_shared<const CustomVjp>([&](const VjpArgs& args) {
    show("back {}", {args.cotangent(0)});
    return Tensors{args.cotangent(0) * 2.0};
  });
  const auto f = function([&](TensorSpan in) {
    const Tensor y = times(count(2), in[0], [&](const Tensor&, const Tensor& x) {
      return with_gradient(
          scope(), {&x, 1}, [&](TensorSpan own) { return Tensors{own[0] * own[0]}; }, vjp)[0];
    });
    return Tensors{y};
  });
  const Tensor x = f32({3});
  const std::string want = "back [1.]\nback [2.]\n";
  const auto gradient = [&] {
    const auto own = tape();
    own->watch(x);
    EXPECT_EQ(values_of(own->gradient(call_one(f, {x}), x)), Doubles{4});
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(printed_by(gradient), want);
  // The gradient, traced as a function of its own, has the same effects.
  const auto g = f->gradient();
  EXPECT_EQ(printed_by([&] { EXPECT_EQ(values_of(call_one(g, {x})), Doubles{4}); }), want);
  EXPECT_EQ(printed_by([&] { call_one(g, {x}); }), want);
}

TEST_F(Effects, FailedAssertStopsAFunctionWithItsMessage) {
  const auto f = function([&](TensorSpan in) {
    scope().set_location("here.c:7");
    assert_all(scope(), less(in[0], number(3.0)), "{} is not below 3", Tensors{in[0]});
    scope().set_location("");
    show("goes on", {});
    return Tensors{in[0]};
  });
  EXPECT_EQ(printed_by([&] { call(f, {f32({1, 2})}); }), "goes on\n");
  for (int i = 0; i < 3; ++i) {
    try {
      call(f, {f32({1, 5})});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kFailedPrecondition);
      EXPECT_STREQ(error.what(), "assert: [1. 5.] is not below 3");
      EXPECT_EQ(error.info().location, "here.c:7");
    }
  }
  EXPECT_EQ(printed, "goes on\n");
  EXPECT_ERROR(assert_all(scope(), make_scalar_bool(false), ""), Code::kFailedPrecondition,
               "assert: the condition does not hold");
}

TEST_F(Effects, ChecksAreNotEliminatedAsDeadCode) {
  const auto f = function([&](TensorSpan in) {
    check(log(in[0]));
    return Tensors{in[0]};
  });
  call(f, {f32({1})});
  EXPECT_ERROR(call(f, {f32({-1})}), Code::kInvalidArgument, "check_numerics: C2");
}

TEST_F(Effects, KeepEarlierAssignmentsWhenACheckFails) {
  const auto w = variable(f32({0}));
  const auto f = function([&](TensorSpan in) {
    w->assign(scope(), in[0]);
    assert_all(scope(), less(in[0], number(3.0)), "too much");
    w->assign(scope(), in[0] * 10.0);
    return Tensors{w->read(scope())};
  });
  for (const bool eagerly : {true, false}) {
    context().run_functions_eagerly(eagerly);
    EXPECT_EQ(values_of(call_one(f, {f32({2})})), Doubles{20});
    EXPECT_EQ(values_of(w->read(scope())), Doubles{20});
    EXPECT_ERROR(call(f, {f32({4})}), Code::kFailedPrecondition, "too much");
    EXPECT_EQ(values_of(w->read(scope())), Doubles{4});
  }
}

TEST_F(Effects, KeepAssignmentsOfFinishedTripsWhenACheckFails) {
  const auto w = variable(f32({0}));
  const auto f = function([&](TensorSpan in) {
    w->assign(scope(), w->read(scope()) + 100.0);
    times(in[0], in[1], [&](const Tensor& i, const Tensor& x) {
      assert_all(scope(), less(i, integer(3)), "trip {}", {&i, 1});
      w->assign(scope(), w->read(scope()) + x);
      return x;
    });
    w->assign(scope(), f32({-1}));
    return Tensors{};
  });
  for (const bool eagerly : {true, false}) {
    context().run_functions_eagerly(eagerly);
    w->assign(scope(), f32({0}));
    call(f, {count(3), f32({1})});
    EXPECT_EQ(values_of(w->read(scope())), Doubles{-1});
    EXPECT_ERROR(call(f, {count(9), f32({1})}), Code::kFailedPrecondition, "assert: trip 3");
    EXPECT_EQ(values_of(w->read(scope())), Doubles{102});
  }
}

// Every value of a trace has a device, but a token has no data. The token's device must not
// determine where calls run.
#ifdef TENON_FAKE_PLUGIN
class EffectsElsewhere : public Effects {
 protected:
  EffectsElsewhere() : Effects({TENON_FAKE_PLUGIN}) {}
};

TEST_F(EffectsElsewhere, KeepTheirOrderOnAnotherDevice) {
  Device& other = context().device(device().name() == "ref:0" ? "fake" : "ref");
  const Tensor x = to_device(scope(), f32({1, 2}), other);
  expect_prints(
      [&](TensorSpan in) {
        show("first {}", {in[0]});
        cond(
            scope(), less(sum(in[0]), number(9.0)),
            [&](TensorSpan) {
              show("then {}", {in[0]});
              return Tensors{check(in[0] + in[0])};
            },
            [&](TensorSpan) { return Tensors{in[0]}; });
        return Tensors{};
      },
      {x}, "first [1. 2.]\nthen [1. 2.]\n");
}
#endif

TEST_F(Effects, KeepTheirOrderWithoutPasses) {
  for (const Pass& pass : passes()) {
    context().disable_pass(find_pass(pass.name), true);
    expect_prints(
        [&](TensorSpan in) {
          show("one {}", {in[0] + 1.0});
          show("two {}", {in[0] + 1.0});
          return Tensors{};
        },
        {f32({1})}, "one [2.]\ntwo [2.]\n");
    context().disable_pass(find_pass(pass.name), false);
  }
}

TEST_F(Effects, TokensCannotBeUsedTwice) {
  Tensors none;
  const auto graph = parse_graph(scope(), R"((x: f32[], order: token) {
      a = print(order, x, format="{}")
      b = print(order, x, format="{}")
      return a, b
    })");
  EXPECT_ERROR(verify(scope(), *graph, none), Code::kInternal, "violates G8 at b");
  EXPECT_ERROR(parse_graph(scope(), "(x: f32[]) {\n a = print(x, x)\n return a\n}"),
               Code::kInvalidArgument, "the first input must be a token, but is f32[]");
}

}  // namespace
}  // namespace tenon
