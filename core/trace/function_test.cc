#include "core/ops/definition/op_ids.h"
#include "core/testing/functions.h"
#include "core/testing/graph_text.h"

namespace tenon {
namespace {

using testing::f32;
using testing::values_of;
using Doubles = std::vector<double>;
using Functions = testing::FunctionTest;

TEST_F(Functions, RejectTracedTensors) {
  Tensor leak;
  const auto f = function([&](TensorSpan in) {
    leak = in[0] * number(2);
    return Tensors{in[0] + number(1)};
  });
  call(f, {f32({1, 2})});
  for (int i = 0; i < 3; ++i) {
    EXPECT_ERROR(call(f, {leak}), Code::kFailedPrecondition,
                 "belongs to a trace of function f and has no value");
    EXPECT_ERROR(call(f, {leak}), Code::kFailedPrecondition, "host_call");
  }
}

// The slice broadcasts only if its size is 1, which cannot be proved for an unknown size.
TEST_F(Functions, UseExactSizesWhereABroadcastNeedsThem) {
  const auto f = function([](TensorSpan in) {
    return Tensors{in[0] + slice(in[1], {.starts = {-1}, .ends = {1000}, .axes = {0}})};
  });
  for (const int64_t n : {2, 3, 4, 5, 6}) {
    const Tensor a = ones(TensorType(DType::kF32, Dims{1, n}));
    const Tensor b = ones(TensorType(DType::kF32, Dims{n}));
    EXPECT_EQ(values_of(call_one(f, {a, b})), Doubles(static_cast<size_t>(n), 2));
  }
}

TEST_F(Functions, AreTracedOncePerCacheKey) {
  const auto f = function([](TensorSpan in) { return Tensors{exp(in[0]) * in[1]}; });

  EXPECT_EQ(values_of(call_one(f, {f32({0, 0}), f32({1, 2})})), (Doubles{1, 2}));
  EXPECT_EQ(values_of(call_one(f, {f32({0, 0}), f32({3, 4})})), (Doubles{3, 4}));
  EXPECT_EQ(bodies_run, 1);
  EXPECT_GRAPH(text(f), "(x: f32[2], y: f32[2]) { return mul(exp(x), y) }");
}

TEST_F(Functions, AreRetracedForOtherTypesAndStatics) {
  const auto f = function([](TensorSpan in, const Statics& statics) {
    return Tensors{statics.key == "twice" ? in[0] + in[0] : in[0]};
  });

  call(f, {f32({1})});
  call(f, {f32({1, 2})});
  call(f, {testing::f64({1})});
  EXPECT_EQ(values_of(call_one(f, {f32({1})}, {"twice", "twice", nullptr})), Doubles{2});
  EXPECT_EQ(values_of(call_one(f, {f32({1})})), Doubles{1});
  EXPECT_EQ(bodies_run, 4);
}

TEST_F(Functions, TakeScalarsAsInputs) {
  const auto f = function([](TensorSpan in) { return Tensors{in[0] * in[1]}; });

  EXPECT_EQ(values_of(call_one(f, {f32({1, 2}), make_scalar(2.0)})), (Doubles{2, 4}));
  EXPECT_EQ(values_of(call_one(f, {f32({1, 2}), make_scalar(3.0)})), (Doubles{3, 6}));
  EXPECT_EQ(bodies_run, 1);
}

TEST_F(Functions, GeneraliseASizeThatDiffersForTheThirdTime) {
  const auto f = function([](TensorSpan in) { return Tensors{sum(in[0])}; });

  for (const int64_t n : {2, 3, 4, 5, 100}) {
    EXPECT_EQ(values_of(call_one(f, {ones({DType::kF32, {n, 2}})})), Doubles{2.0 * double(n)});
  }
  EXPECT_EQ(bodies_run, 3);
  EXPECT_GRAPH(text(f, 2), "(x: f32[x0_0,2]) where 2 <= x0_0 { return sum(x) }");
  call(f, {ones({DType::kF32, {1, 2}})});  // A size of 1 broadcasts and gets a trace of its own.
  EXPECT_EQ(bodies_run, 4);
}

TEST_F(Functions, ServeAllUnknownSizesOfTheirSignature) {
  FunctionOptions options;
  options.has_signature = true;
  options.signature = {{"rows", DType::kF32, false, {InputSpec::kUnknown, 2}, {"n", ""}},
                       {"more", DType::kF32, false, {InputSpec::kUnknown, 2}, {"n", ""}}};
  const auto f = function([](TensorSpan in) { return Tensors{in[0] + in[1]}; }, options);

  for (const int64_t n : {1, 7}) {
    const Tensor x = ones({DType::kF32, {n, 2}});
    EXPECT_EQ(call_one(f, {x, x})->shape()[0], n);
  }
  EXPECT_EQ(bodies_run, 1);
  EXPECT_GRAPH(text(f), "(rows: f32[n,2], more: f32[n,2]) { return add(rows, more) }");
  EXPECT_ERROR(call(f, {f32({1}), f32({1})}), Code::kInvalidArgument,
               "function f: rows must be f32[n,2], but is f32[1]");
  EXPECT_ERROR(call(f, {f32({1})}), Code::kInvalidArgument, "takes 2 inputs, but got 1");
  EXPECT_ERROR(call(f, {ones({DType::kF32, {3, 2}}), ones({DType::kF32, {1, 2}})}),
               Code::kInvalidArgument, "function f: n is 3, but 1 in more");
}

TEST_F(Functions, AreRetracedWhenAGuardFails) {
  FunctionOptions options;
  options.has_signature = true;
  options.signature = {{"x", DType::kF32, false, {InputSpec::kUnknown}, {}}};
  const auto f = function(
      [](TensorSpan in) { return Tensors{in[0]->shape()[0] > 2 ? sum(in[0]) : in[0]}; }, options);

  EXPECT_EQ(call_one(f, {f32({1, 2, 3})})->rank(), 0u);
  EXPECT_EQ(call_one(f, {f32({1, 2})})->rank(), 1u);
  EXPECT_EQ(call_one(f, {f32({1, 2, 3, 4})})->rank(), 0u);
  EXPECT_EQ(bodies_run, 2);
  EXPECT_NE(
      f->explain().find("made because in trace 1, the function requires 2 < x_0, but x_0 is 2"),
      std::string::npos)
      << f->explain();
}

TEST_F(Functions, HaveGradientsThatAreFunctions) {
  const auto f = function([](TensorSpan in) {
    return Tensors{in[0] * in[0] * in[1], cast(in[0], DType::kI32)};
  });
  const auto df = f->gradient();
  const auto ddf = df->gradient();

  const Tensors first = call(df, {f32({2}), f32({5})});
  EXPECT_EQ(values_of(first[0]), Doubles{20});
  EXPECT_EQ(values_of(first[1]), Doubles{4});
  // Gradient of the sum of both gradients.
  EXPECT_EQ(values_of(call(ddf, {f32({2}), f32({5})})[0]), Doubles{14});
  const Tensor x = f32({3});
  EXPECT_EQ(values_of(call(df, {x, x})[0]), Doubles{18});
  EXPECT_EQ(df->traces().size(), 1u);
  EXPECT_ERROR(call(df, {number(1), number(2)}), Code::kInvalidArgument, "no floating input");
}

TEST_F(Functions, WarnOnceAboutUnrolledLoops) {
  const auto f = function([this](TensorSpan in) {
    scope().set_location("model.c:7");
    Tensor x = in[0];
    for (int i = 0; i < 3500; ++i) x = x + in[0];
    scope().set_location("");
    return Tensors{x};
  });
  call(f, {f32({1})});
  EXPECT_EQ(log_,
            "add at model.c:7 was traced 3000 times: a loop of the host language becomes as many "
            "calls as it has trips. Use while_loop or scan\n");
}

TEST_F(Functions, CacheNoTraceAfterAnError) {
  bool fails = true;
  const auto f = function([&](TensorSpan in) {
    if (fails) fail(Code::kInvalidArgument, "not now");
    return Tensors{in[0]};
  });

  EXPECT_ERROR(call(f, {f32({1})}), Code::kInvalidArgument, "not now");
  fails = false;
  EXPECT_EQ(values_of(call_one(f, {f32({1})})), Doubles{1});
  EXPECT_EQ(f->traces().size(), 1u);
}

TEST_F(Functions, ReportInfiniteRecursion) {
  Ref<Function> f;
  f = function([&](TensorSpan in) { return f->call(scope(), in, {}); });

  EXPECT_ERROR(call(f, {f32({1})}), Code::kFailedPrecondition, "Does f call itself without end?");
  f.reset();
}

TEST_F(Functions, AreInlinedIntoACallingFunction) {
  const auto w = variable(f32({2}));
  const auto inner = function([&](TensorSpan in) {
    w->assign(scope(), w->read(scope()) + 1.0);
    return Tensors{in[0] * w->read(scope())};
  });
  const auto outer = function([&](TensorSpan in) {
    return Tensors{inner->call(scope(), in, {})[0] + inner->call(scope(), in, {})[0]};
  });

  EXPECT_EQ(values_of(call_one(outer, {f32({1})})), Doubles{3 + 4});
  EXPECT_EQ(values_of(call_one(outer, {f32({1})})), Doubles{5 + 6});
  EXPECT_EQ(values_of(w->read(scope())), Doubles{6});
}

TEST_F(Functions, WarnOnceWhenTheyAreTracedTooOften) {
  const auto f = function([](TensorSpan in) { return Tensors{in[0]}; });

  for (int i = 0; i < 8; ++i) {
    const std::string key = std::to_string(i);
    call(f, {f32({1})}, {key, "rate=" + key, nullptr});
  }
  EXPECT_EQ(log_,
            "function f was traced 5 times in 5 calls, which is slow; the last time because the "
            "static arguments are rate=4, not rate=3. Give it unknown sizes by a signature, and "
            "numbers that change as tensors or scalars\n");
}

TEST_F(Functions, RunEagerlyIfRequested) {
  context().run_functions_eagerly(true);
  const auto f = function([](TensorSpan in) { return Tensors{in[0] * values_of(in[0])[0]}; });

  EXPECT_EQ(values_of(call_one(f, {f32({3})})), Doubles{9});
  context().run_functions_eagerly(false);
  EXPECT_ERROR(call(f, {f32({3})}), Code::kFailedPrecondition, "belongs to a trace");
}

// ---- gradients

TEST_F(Functions, AreDifferentiatedAsOneCall) {
  const auto w = variable(f32({3}));
  const auto f = function([&](TensorSpan in) {
    const Tensor y = in[0] * w->read(scope());
    return Tensors{y * y, y};
  });
  const Tensor x = f32({2});
  const Ref<Tape> recording = tape({.persistent = true});
  recording->watch(x);

  const Tensors y = call(f, {x});
  EXPECT_EQ(values_of(recording->gradient(y[0], x)), Doubles{2 * 2 * 9});
  const Source by_w[] = {w};
  EXPECT_EQ(values_of(recording->gradient({&y[1], 1}, {}, by_w)[0]), Doubles{2});
}

TEST_F(Functions, AreDifferentiatedToAnyOrder) {
  const auto cube = function([](TensorSpan in) { return Tensors{in[0] * in[0] * in[0]}; });
  const Tensor x = f32({2});
  const Ref<Tape> outermost = tape(), outer = tape();
  outermost->watch(x);
  outer->watch(x);
  Tensor dy, ddy;
  {
    const Ref<Tape> inner = tape();
    inner->watch(x);
    dy = inner->gradient(call_one(cube, {x}), x);
  }
  ddy = outer->gradient(dy, x);

  EXPECT_EQ(values_of(dy), Doubles{12});
  EXPECT_EQ(values_of(ddy), Doubles{12});
  EXPECT_EQ(values_of(outermost->gradient(ddy, x)), Doubles{6});
}

TEST_F(Functions, SaveOnlyResiduals) {
  const int64_t n = 1000;
  const auto f = function([](TensorSpan in) {
    Tensor y = in[0];
    for (int i = 0; i < 50; ++i) y = y + 1.0;  // Needs no residual.
    return Tensors{exp(y)};                    // exp saves its output.
  });
  const Tensor x = zeros({DType::kF32, {n}});
  const Ref<Tape> recording = tape();
  recording->watch(x);
  const uint64_t before = live_bytes();
  const Tensor y = call_one(f, {x});

  EXPECT_LE(live_bytes() - before, 2u * 4 * n);
  const Tensor dx = recording->gradient(y, x);
  EXPECT_EQ(values_of(dx), values_of(y));
}

TEST_F(Functions, HaveTheGradientsOfEagerCode) {
  const auto body = [](TensorSpan in) {
    const Tensor y = softmax(matmul(in[0], in[1]), 1);
    return Tensors{sum(y * in[2]), y};
  };
  const auto f = function(body);
  const Tensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6}), b = f32({3, 2}, {.1, .2, .3, .4, .5, .7}),
               c = f32({2, 2}, {1, 0, 0, 2});
  const Source sources[] = {a, b, c};
  const auto gradients = [&](const auto& run) {
    const Ref<Tape> recording = tape();
    for (const Source& source : sources) recording->watch(source);
    const Tensors in = {a, b, c};
    const Tensors y = run(in);
    return recording->gradient({&y[0], 1}, {}, sources);
  };

  const Tensors eager = gradients(body);
  const Tensors traced = gradients([&](TensorSpan in) { return f->call(scope(), in, {}); });
  for (size_t i = 0; i < 3; ++i) EXPECT_TENSOR(traced[i], eager[i]);
}

TEST_F(Functions, ReportMissingGradientsOnlyWhenUsed) {
  const auto f = function([](TensorSpan in) {
    const Tensor next[] = {in[0], in[0] + 1.0};
    return call_op(OpId::k_nextafter, any_attrs(NoAttrs{}), next);
  });
  const Tensor x = f32({1});
  const Ref<Tape> recording = tape();
  recording->watch(x);
  const Tensor y = call_one(f, {x});

  EXPECT_ERROR(recording->gradient(y, x), Code::kUnimplemented, "nextafter");
  const Ref<Tape> kept = tape({.persistent = true});  // Differentiates the backward pass too.
  kept->watch(x);
  const Tensor again = call_one(f, {x});
  EXPECT_ERROR(kept->gradient(again, x), Code::kUnimplemented, "nextafter");
}

TEST_F(Functions, AreDifferentiatedForUnknownSizes) {
  FunctionOptions options;
  options.has_signature = true;
  options.signature = {{"x", DType::kF32, false, {InputSpec::kUnknown}, {}}};
  const auto f = function([](TensorSpan in) { return Tensors{sum(in[0] * in[0])}; }, options);

  for (const Tensor& x : {f32({1, 2}), f32({1, 2, 3})}) {
    const Ref<Tape> recording = tape();
    recording->watch(x);
    const Tensor y = call_one(f, {x});
    EXPECT_TENSOR(recording->gradient(y, x), x + x);
  }
  EXPECT_EQ(bodies_run, 1);
}

// Tapes must distinguish outputs from constants of the body, and equal outputs from each other.
TEST_F(Functions, ReturnTensorsWithNewIdentity) {
  const auto zeros = function([held = f32({0, 0})](TensorSpan) { return Tensors{held}; });
  const auto twice = function([](TensorSpan in) { return Tensors{in[0] + 1.0, in[0] + 1.0}; });
  const Tensor a = f32({1, 2}), b = f32({3, 4});
  for (int n = 0; n < 4; ++n) {
    const Tensors both = call(twice, {a});
    for (const Tensors& w : {Tensors{call_one(zeros, {}), call_one(zeros, {})}, both}) {
      const Ref<Tape> recording = tape({.persistent = true});
      for (const Tensor& x : w) recording->watch(x);
      const Tensor y = w[0] * a + w[1] * b;
      EXPECT_TENSOR(recording->gradient(y, w[0]), a);
      EXPECT_TENSOR(recording->gradient(y, w[1]), b);
    }
  }
}

// An inline scalar adopts its dtype. One output is the scalar itself, others are computed from it.
TEST_F(Functions, HaveGradientsWithRespectToReturnedInlineScalars) {
  const auto f = function([](TensorSpan in) {
    return Tensors{sum(in[0] * in[1]), in[1], in[1] * in[1]};
  });
  const Tensor x = f32({1, 2});
  for (int n = 0; n < 3; ++n) {
    const Tensor s = make_scalar(3.0);
    const Ref<Tape> recording = tape({.persistent = true});
    recording->watch(s);
    const Tensors y = call(f, {x, s});
    EXPECT_EQ(values_of(recording->gradient(y[0], s)), (Doubles{3}));
    EXPECT_EQ(values_of(recording->gradient(y[1], s)), (Doubles{1}));
    EXPECT_EQ(values_of(recording->gradient(y[2], s)), (Doubles{6}));
  }
}

}  // namespace
}  // namespace tenon
