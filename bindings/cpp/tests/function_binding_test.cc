#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

namespace tenon {
namespace {

using Floats = std::vector<float>;

TEST(Functions, AreTracedOnce) {
  int runs = 0;
  const auto f = function([&](const Tensor& x, const Tensor& w) {
    ++runs;
    EXPECT_TRUE(is_tracing());
    return relu(x * w);
  });
  const Tensor x = vector<float>({-1, 2});

  EXPECT_EQ(f(x, 3.f).to_vector<float>(), (Floats{0, 6}));
  EXPECT_EQ(f(x, 5.f).to_vector<float>(), (Floats{0, 10}));
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(is_tracing());
}

TEST(Functions, ReturnTheOutputsOfTheirLambda) {
  const Variable total(0.f);
  const auto two = function([](const Tensor& x) { return std::vector<Tensor>{x, x + x}; });
  const auto none = function([&](const Tensor& x) { total.assign(total + x); });

  EXPECT_EQ(two(3.f)[1].item<float>(), 6);
  EXPECT_TRUE(none(2.f).empty());
  EXPECT_EQ(total.read().item<float>(), 2);
}

TEST(Functions, HaveGradientsThatAreFunctions) {
  const Function cube([](std::span<const Tensor> in, const Statics&) -> std::vector<Tensor> {
    return {in[0] * in[0] * in[0]};
  });
  const Tensor x[] = {vector<float>({2})};
  EXPECT_EQ(cube.gradient()(x)[0].to_vector<float>(), Floats{12});
  EXPECT_EQ(cube.gradient().gradient()(x)[0].to_vector<float>(), Floats{12});
}

TEST(Functions, TakeStaticArguments) {
  int runs = 0;
  const Function f(
      [&](std::span<const Tensor> in, const Statics& statics) -> std::vector<Tensor> {
        ++runs;
        const double rate = statics.at("rate").as_double();
        return {statics.at("modes").items()[0].second.as_string() == "up" ? in[0] * rate
                                                                          : in[0] / rate};
      },
      {.name = "scale", .defaults = {{"rate", 2.0}}});
  const Tensor in[] = {vector<float>({4})};
  const std::vector<Static> up = {"up"}, down = {"down"};

  EXPECT_EQ(f(in, {{"modes", up}})[0].item<float>(), 8);
  EXPECT_EQ(f(in, {{"modes", up}, {"rate", 2.0}})[0].item<float>(), 8);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(f(in, {{"modes", down}})[0].item<float>(), 2);
  EXPECT_NE(f.explain().find("the static arguments are modes=[\"down\"], rate=2.0"),
            std::string::npos)
      << f.explain();
}

TEST(Functions, AreTracedFromInputSpecs) {
  const Variable w(vector<float>({1, 2}));
  const Function f([&](std::span<const Tensor> in, const Statics&) -> std::vector<Tensor> {
    return {in[0] * w};
  });
  const InputSpec specs[] = {{.name = "rows", .shape = {TENON_SIZE_UNKNOWN, 2}}};
  const Trace trace = f.trace(specs);
  const Tensor in[] = {matrix<float>({{1, 2}, {3, 4}, {5, 6}})};

  EXPECT_EQ(trace.n_inputs(), 1u);
  EXPECT_EQ(trace.n_outputs(), 1u);
  ASSERT_EQ(trace.variables().size(), 1u);
  EXPECT_NE(trace.text().find("mul(rows, "), std::string::npos) << trace.text();
  EXPECT_EQ(trace(in)[0].to_vector<float>(), (Floats{1, 4, 3, 8, 5, 12}));
  EXPECT_EQ(f.trace_for(in).get(), trace.get());
  EXPECT_EQ(f.traces().size(), 1u);
}

TEST(Functions, SignatureServesAllSizesAndRejectsOtherInputs) {
  const std::vector<InputSpec> signature = {
      {.name = "x", .shape = {TENON_SIZE_UNKNOWN, 2}, .size_names = {"n", ""}},
      {.name = "w", .shape = {2}}};
  const Function f([](std::span<const Tensor> in,
                      const Statics&) -> std::vector<Tensor> { return {in[0] * in[1]}; },
                   {.name = "scale", .signature = signature});
  const Tensor w = vector<float>({1, 10});
  const Tensor one[] = {matrix<float>({{1, 2}}), w};
  const Tensor two[] = {matrix<float>({{1, 2}, {3, 4}}), w};
  const Tensor wrong[] = {w, w};

  EXPECT_EQ(f(one)[0].to_vector<float>(), (Floats{1, 20}));
  EXPECT_EQ(f(two)[0].to_vector<float>(), (Floats{1, 20, 3, 40}));
  EXPECT_EQ(f.traces().size(), 1u);
  EXPECT_NE(f.traces()[0].text().find("(x: f32[n,2], w: f32[2])"), std::string::npos);
  EXPECT_THROW(f(wrong), Error);
}

TEST(Functions, TrainLikeEagerCode) {
  const Tensor x = matrix<float>({{1, 2}, {3, -1}, {0, 1}, {2, 2}});
  const Tensor y = matrix<float>({{1}, {0}, {1}, {0}});
  const auto step = [&](const Variable& w, const Tensor& rate) {
    const Tape tape;
    const Tensor loss = mean(square(tanh(matmul(x, w)) - y));
    w.assign(w - rate * tape.gradient(loss, w));
    return loss;
  };
  const Variable eager(matrix<float>({{.5f}, {-.3f}})), traced(matrix<float>({{.5f}, {-.3f}}));
  const auto traced_step = function([&](const Tensor& rate) { return step(traced, rate); });

  for (const float rate : {.1f, .05f, .02f}) {
    EXPECT_EQ(step(eager, rate).item<float>(), traced_step(rate).item<float>());
  }
  EXPECT_EQ(eager.read().to_vector<float>(), traced.read().to_vector<float>());
}

TEST(Functions, AreDifferentiated) {
  const Variable w(3.f);
  const auto f = function([&](const Tensor& x) { return w * x * x; });
  const Gradients found = gradients(f, 2.f);

  EXPECT_EQ(found.value.item<float>(), 12);
  EXPECT_EQ(found.by_argument[0].item<float>(), 12);
  ASSERT_EQ(found.by_variable.size(), 1u);
  EXPECT_EQ(found.by_variable[0].gradient.item<float>(), 4);
}

TEST(Functions, PropagateExceptionsOfTheirLambda) {
  const auto f = function([](const Tensor& x) -> Tensor {
    if (is_tracing()) throw std::runtime_error("mine");
    return x;
  });

  EXPECT_THROW(f(1.f), std::runtime_error);
  run_functions_eagerly(true);
  EXPECT_EQ(f(1.f).item<float>(), 1);
  run_functions_eagerly(false);
}

TEST(Functions, CannotReadElementsOfTracedTensors) {
  const auto expect_named = [](const auto& read) {
    const auto f = function(
        [&](const Tensor& x) {
          read(x);
          return x;
        },
        {.name = "reader"});
    try {
      f(vector<float>({1, 2}));
      ADD_FAILURE() << "the read does not fail";
    } catch (const Error& error) {
      const std::string message(error.message());
      EXPECT_EQ(error.code(), Code::kFailedPrecondition);
      for (const char* word : {"function reader", "print", "cond", "host_call"}) {
        EXPECT_NE(message.find(word), std::string::npos) << word << ": " << message;
      }
    }
  };
  expect_named([](const Tensor& x) { x.data<float>(); });
  expect_named([](const Tensor& x) { x.to_vector<float>(); });
  expect_named([](const Tensor& x) { sum(x).item<float>(); });
  expect_named([](const Tensor& x) { (void)(less(sum(x), 1.f) ? 1 : 2); });
  const Tensor outside = vector<float>({1, 2});
  function([&](const Tensor& x) {
    EXPECT_EQ(outside.data<float>().size(), 2u);
    return x;
  })(1.f);
}

TEST(Functions, RunPassesThatCanBeDisabled) {
  std::string names;
  for (const Pass& pass : passes()) {
    names += std::string(pass.name) + " ";
    EXPECT_FALSE(pass.summary.empty());
  }
  EXPECT_EQ(names, "verify select simplify fold cse dce fuse ");
  set_pass("dce", false);
  set_pass("dce", true);
  EXPECT_THROW(set_pass("dorp", true), Error);
}

}  // namespace
}  // namespace tenon
