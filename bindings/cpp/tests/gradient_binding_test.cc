#include <gtest/gtest.h>

#include <stdexcept>
#include <tenon/tenon.hpp>

namespace tenon {
namespace {

TEST(Errors, CarryOpCodeAndMessage) {
  try {
    gather(vector({0, 1, 2}), tensor({7}, {}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kOutOfRange);
    EXPECT_EQ(error.op(), "gather");
    EXPECT_NE(error.message().find("index 7 is outside"), std::string_view::npos) << error.what();
  }
}

TEST(Errors, ListTheAvailableDevices) {
  try {
    const DeviceGuard on("toaster:0");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_NE(error.message().find("ref:0"), std::string_view::npos) << error.what();
  }
}

TEST(Variables, HoldTheAssignedTensor) {
  const Variable v(vector<float>({1, 2}), {.name = "v"});
  const Tensor before = v;
  v.assign(2 * v);

  EXPECT_EQ(v.name(), "v");
  EXPECT_EQ(v.read().to_vector<float>(), (std::vector<float>{2, 4}));
  EXPECT_EQ(before.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_THROW(v.assign(vector<float>({1, 2, 3})), Error);
}

TEST(Tapes, WatchTrainableVariablesAutomatically) {
  const Variable w(3.f);
  const Tape tape;
  const Tensor loss = w * w;
  EXPECT_EQ(tape.gradient(loss, w).item<float>(), 6);
}

TEST(Tapes, ReturnNoneForUnreachedSourcesIfRequested) {
  const Variable used(3.f);
  const Variable unused(3.f);
  const Tape tape;
  const auto gradients = tape.gradients(square(used), {used, unused}, Unreached::kNone);
  EXPECT_EQ(gradients[0].item<float>(), 6);
  EXPECT_TRUE(gradients[1].is_none());
}

TEST(Tapes, WeightTargetsByCotangents) {
  const Tensor x = vector<float>({1, 2});
  const Tape tape;
  tape.watch(x);
  const std::vector<Tensor> targets = {square(x)};
  const std::vector<Tensor> cotangents = {vector<float>({1, 10})};
  const std::vector<Value> sources = {x};
  EXPECT_EQ(tape.gradients(targets, cotangents, sources)[0].to_vector<float>(),
            (std::vector<float>{2, 40}));
}

TEST(Tapes, AreConsumedUnlessPersistent) {
  const Variable w(3.f);
  const Tape once;
  const Tape always({.persistent = true});
  const Tensor y = square(w);
  EXPECT_EQ(always.gradient(y, w).item<float>(), 6);
  EXPECT_EQ(always.gradient(y, w).item<float>(), 6);
  EXPECT_EQ(once.gradient(y, w).item<float>(), 6);
  EXPECT_THROW(once.gradient(y, w), Error);
}

TEST(Tapes, ComputeJacobians) {
  const Tensor x = vector<float>({1, 2});
  const Tape tape;
  tape.watch(x);
  EXPECT_EQ(tape.jacobian(x * x, x).to_vector<float>(), (std::vector<float>{2, 0, 0, 4}));
}

TEST(Tapes, ListTheirWatchedValues) {
  const Variable w(3.f, {.name = "w"});
  const Tensor x = vector<float>({1});
  const Tape tape;
  tape.watch(x);
  w.read();
  const std::vector<Value> watched = tape.watched();
  ASSERT_EQ(watched.size(), 2u);
  EXPECT_FALSE(watched[0].is_variable());
  EXPECT_EQ(watched[1].variable().name(), "w");
}

TEST(Functions, AreDifferentiatedWithRespectToArguments) {
  const auto gradient = gradients_function([](const Tensor& x, const Tensor& y) { return x * y; });
  const auto grads = gradient(3.f, 5.f);
  EXPECT_EQ(grads[0].item<float>(), 5);
  EXPECT_EQ(grads[1].item<float>(), 3);
}

TEST(Functions, AreDifferentiatedTwice) {
  const auto first = gradients_function([](const Tensor& x) { return x * x * x; });
  const auto second = gradients_function([&](const Tensor& x) { return first(x)[0]; });
  EXPECT_EQ(second(2.f)[0].item<float>(), 12);
}

TEST(Functions, AreDifferentiatedWithRespectToVariables) {
  const Variable w(2.f, {.name = "w"});
  const auto gradients = implicit_gradients([&] { return square(w); })();
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_EQ(gradients[0].variable.name(), "w");
  EXPECT_EQ(gradients[0].gradient.item<float>(), 4);
}

TEST(Functions, GradientsPropagateExceptions) {
  const auto gradient = gradients_function([](const Tensor& x) -> Tensor {
    if (bool(greater(x, 0))) throw std::out_of_range("mine");
    return x;
  });
  EXPECT_THROW(gradient(1.f), std::out_of_range);
  EXPECT_EQ(gradient(-1.f)[0].item<float>(), 1);
}

TEST(Functions, GradientsPropagateErrorsUnchanged) {
  const auto gradient = gradients_function([](const Tensor& x) {
    return matmul(x, vector<float>({1, 2, 3}));
  });
  try {
    gradient(vector<float>({1, 2}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.op(), "matmul");
  }
}

TEST(CustomGradients, ReplaceTheDerivativeOfTheOps) {
  const auto f = custom_gradient(
      [](const Tensor& x) { return square(x); },
      [](const Backward& call) { return std::vector{call.inputs[0] + call.outputs[0]}; });
  EXPECT_EQ(f(3.f).item<float>(), 9);
  EXPECT_EQ(gradients_function(f)(3.f)[0].item<float>(), 12);
}

TEST(CustomGradients, PropagateExceptionsThroughTheTape) {
  const auto f = custom_gradient(
      [](const Tensor& x) { return square(x); },
      [](const Backward&) -> std::vector<Tensor> { throw std::out_of_range("mine"); });
  EXPECT_THROW(gradients_function(f)(3.f), std::out_of_range);
}

TEST(CustomGradients, MustReturnOneGradientForEachInput) {
  const auto f = custom_gradient([](const Tensor& x) { return square(x); },
                                 [](const Backward&) { return std::vector<Tensor>(); });
  EXPECT_THROW(gradients_function(f)(3.f), Error);
}

}  // namespace
}  // namespace tenon
