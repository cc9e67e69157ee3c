// Custom ops made of lambdas, and ops found by name.

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <tenon/tenon.hpp>

namespace tenon {
namespace {

// Each test has its own context, so that the names of custom ops do not collide.
class CustomOps : public testing::Test {
 protected:
  Context context_;
  ScopeGuard in_{Scope(context_, "ref")};
};

std::vector<Type> like_first(std::span<const Type> in) { return {in[0]}; }
std::vector<Type> two_like_first(std::span<const Type> in) { return {in[0], in[0]}; }

TEST_F(CustomOps, RunTheirDecomposition) {
  const Op twice = register_op({
      .name = "my.twice",
      .infer = like_first,
      .decompose = [](std::span<const Tensor> in) { return std::vector{in[0] + in[0]}; },
  });
  EXPECT_EQ(twice({vector<float>({1, 2})})[0].to_vector<float>(), (std::vector<float>{2, 4}));
  EXPECT_EQ(
      gradients_function([&](const Tensor& x) { return twice({x})[0]; })(3.f)[0].item<float>(), 2);
}

TEST_F(CustomOps, ComputeInHostMemory) {
  const Op sums = register_op({
      .name = "my.running_sum",
      .infer = like_first,
      .compute =
          [](std::span<const HostArray> in, std::span<const HostArray> out) {
            const auto x = in[0].elements<float>();
            std::partial_sum(x.begin(), x.end(), out[0].elements<float>().begin());
          },
  });
  EXPECT_EQ(sums({vector<float>({1, 2, 3})})[0].to_vector<float>(), (std::vector<float>{1, 3, 6}));
}

TEST_F(CustomOps, UseTheirOwnDerivative) {
  const Op pass = register_op({
      .name = "my.straight_through",
      .infer = like_first,
      .decompose = [](std::span<const Tensor> in) { return std::vector{round(in[0])}; },
      .backward = [](const Backward& call) { return std::vector{call.cotangents[0] * 5}; },
  });
  EXPECT_EQ(
      gradients_function([&](const Tensor& x) { return pass({x})[0]; })(1.2f)[0].item<float>(), 5);
}

// A decomposition may return an input, or one tensor twice. Tapes still distinguish each output.
TEST_F(CustomOps, DecompositionMayReturnItsInputs) {
  const Op same = register_op({
      .name = "my.same",
      .infer = like_first,
      .decompose = [](std::span<const Tensor> in) { return std::vector{in[0]}; },
      .backward = [](const Backward& call) { return std::vector{call.cotangents[0] * 5}; },
  });
  const auto of_sum = [&](const Tensor& x) { return same({x})[0] + x; };
  EXPECT_EQ(gradients_function(of_sum)(1.2f)[0].item<float>(), 6);

  const Op split = register_op({
      .name = "my.split",
      .n_outputs = 2,
      .infer = two_like_first,
      .decompose =
          [](std::span<const Tensor> in) {
            const Tensor y = in[0] * 1;
            return std::vector{y, y};
          },
      .backward =
          [](const Backward& call) {
            return std::vector{call.cotangents[0] * 10 + call.cotangents[1]};
          },
  });
  const auto of_both = [&](const Tensor& x) {
    const std::vector<Tensor> both = split({x});
    return both[0] * 2 + both[1] * 3;
  };
  EXPECT_EQ(gradients_function(of_both)(1.f)[0].item<float>(), 23);
}

// The outer call consumes a donated input; calls inside the decomposition must not.
TEST_F(CustomOps, OuterCallConsumesDonatedInputs) {
  const Op twice = register_op({
      .name = "my.twice_its_own",
      .infer = like_first,
      .decompose =
          [](std::span<const Tensor> in) {
            const Tensor y = in[0] * 1;
            const auto f = function([](const Tensor& x) { return x + x; });
            return std::vector{f(in[0]) + (y - in[0])};
          },
      .backward =
          [](const Backward& call) {
            return std::vector{call.cotangents[0] * call.inputs[0] * 0 + call.cotangents[0] * 2};
          },
  });
  Tensor x = vector<float>({1, 2});
  x.donate();
  EXPECT_EQ(twice({x})[0].to_vector<float>(), (std::vector<float>{2, 4}));
  EXPECT_THROW(twice({x}), Error);

  Tape tape;
  const Tensor w = vector<float>({3, 4});
  tape.watch(w);
  Tensor own = w * 1;
  own.donate();
  EXPECT_EQ(tape.gradient(twice({own})[0], w).to_vector<float>(), (std::vector<float>{2, 2}));
}

TEST_F(CustomOps, ReturnSeveralOutputs) {
  const Op both = register_op({
      .name = "my.sum_and_product",
      .n_inputs = 2,
      .n_outputs = 2,
      .infer = two_like_first,
      .decompose =
          [](std::span<const Tensor> in) {
            return std::vector{in[0] + in[1], in[0] * in[1]};
          },
  });
  const std::vector<Tensor> outputs = both({vector<float>({2}), vector<float>({3})});
  EXPECT_EQ(outputs[0].item<float>(), 5);
  EXPECT_EQ(outputs[1].item<float>(), 6);
}

TEST_F(CustomOps, PropagateExceptionsOfTheirLambdas) {
  const Op picky = register_op({
      .name = "my.picky",
      .infer = [](std::span<const Type>) -> std::vector<Type> { throw std::out_of_range("mine"); },
      .decompose = [](std::span<const Tensor> in) { return std::vector{in[0]}; },
  });
  EXPECT_THROW(picky({vector<float>({1})}), std::out_of_range);
}

TEST_F(CustomOps, MustReturnTheDeclaredNumberOfOutputs) {
  const Op empty = register_op({
      .name = "my.empty",
      .infer = like_first,
      .decompose = [](std::span<const Tensor>) { return std::vector<Tensor>(); },
  });
  try {
    empty({vector<float>({1})});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    EXPECT_NE(error.message().find("0 outputs instead of 1"), std::string_view::npos);
  }
}

TEST_F(CustomOps, CannotBeRegisteredWithoutComputeOrDecompose) {
  EXPECT_THROW(register_op({.name = "my.nothing", .infer = like_first}), Error);
}

TEST_F(CustomOps, DestroyTheirLambdasWithTheContext) {
  const auto held = std::make_shared<int>(1);
  {
    const Context context;
    const ScopeGuard in{Scope(context, "ref")};
    register_op({
        .name = "my.holder",
        .infer = [held](std::span<const Type> in) { return std::vector{in[0]}; },
        .decompose = [](std::span<const Tensor> in) { return std::vector{in[0]}; },
    });
    EXPECT_GT(held.use_count(), 1);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(OpsByNumber, AreFoundByNameAndCalled) {
  const Op found = find_op("add");
  EXPECT_EQ(found.number(), static_cast<uint32_t>(TENON_OP_add));
  EXPECT_EQ(op_name(found), "add");
  EXPECT_EQ(found({vector({1}), vector({2})})[0].item<int>(), 3);
  EXPECT_THROW(find_op("frobnicate"), Error);
}

}  // namespace
}  // namespace tenon
