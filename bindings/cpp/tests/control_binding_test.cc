#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

namespace tenon {
namespace {

using Floats = std::vector<float>;

// Runs `code` eagerly and as a function, and returns both results.
template <class Code, class... Inputs>
std::vector<Tensor> both(const Code& code, const Inputs&... inputs) {
  return {Tensor(code(Tensor(inputs)...)), Tensor(function(code)(Tensor(inputs)...))};
}

TEST(ControlFlow, CondTakesLambdas) {
  const auto magnitude = [](const Tensor& x) {
    return cond(
        less(x, 0.f), [&] { return -x; }, [&] { return x; });
  };
  for (const Tensor& y : both(magnitude, -2.f)) EXPECT_EQ(y.item<float>(), 2);
  for (const Tensor& y : both(magnitude, 3.f)) EXPECT_EQ(y.item<float>(), 3);
}

TEST(ControlFlow, CondReturnsAllOutputsOfItsBlock) {
  const Tensor x(2.f);
  const Block two = [&](std::span<const Tensor>) { return std::vector<Tensor>{x, x * x}; };
  EXPECT_EQ(cond(Tensor(true), two, two)[1].item<float>(), 4);
  const Block none = [](std::span<const Tensor>) { return std::vector<Tensor>(); };
  EXPECT_TRUE(cond(Tensor(true), none, none).empty());
}

TEST(ControlFlow, SwitchCaseRunsTheLastBlockForAnIndexOutOfRange) {
  const auto pick = [](const Tensor& i) {
    const Block blocks[] = {
        [](std::span<const Tensor>) { return std::vector<Tensor>{Tensor(10.f)}; },
        [](std::span<const Tensor>) { return std::vector<Tensor>{Tensor(20.f)}; }};
    return switch_case(i, blocks)[0];
  };
  for (const Tensor& y : both(pick, 0)) EXPECT_EQ(y.item<float>(), 10);
  for (const Tensor& y : both(pick, 7)) EXPECT_EQ(y.item<float>(), 20);
}

TEST(ControlFlow, WhileLoopsCarryOneOrMoreTensors) {
  const auto up = [](const Tensor& x) {
    return while_loop([](const Tensor& y) { return less(y, 100.f); },
                      [](const Tensor& y) { return y + y; }, x);
  };
  for (const Tensor& y : both(up, 3.f)) EXPECT_EQ(y.item<float>(), 192);

  const auto power = [](const Tensor& x) {
    const auto [i, y] = while_loop([](const Tensor& i, const Tensor&) { return less(i, 3); },
                                   [&](const Tensor& i, const Tensor& y) {
                                     return std::array{i + 1, y * x};
                                   },
                                   0, 1.f);
    return y;
  };
  for (const Tensor& y : both(power, 2.f)) EXPECT_EQ(y.item<float>(), 8);

  const WhileOptions seven = {LoopPolicy::bounded, 7}, four = {LoopPolicy::recompute, 4};
  const auto bounded = [&](WhileOptions how) {
    return [=](const Tensor& x) {
      return while_loop(
          how, [](const Tensor& y) { return less(y, 100.f); },
          [](const Tensor& y) { return y + y; }, x);
    };
  };
  for (const Tensor& y : both(bounded(seven), 3.f)) EXPECT_EQ(y.item<float>(), 192);
  EXPECT_THROW(both(bounded(four), 3.f), Error);
}

TEST(ControlFlow, ScanReturnsCarriedAndStackedTensors) {
  const Tensor xs = vector<float>({1, 2, 4}), zero[] = {Tensor(0.f)};
  const Block body = [](std::span<const Tensor> in) {
    const Tensor sum = in[0] + in[1];
    return std::vector<Tensor>{sum, sum};
  };
  const ScanResult forward = scan(body, zero, {&xs, 1}), back = scan(body, zero, {&xs, 1}, true);
  EXPECT_EQ(forward.carried[0].item<float>(), 7);
  EXPECT_EQ(forward.stacked[0].to_vector<float>(), (Floats{1, 3, 7}));
  EXPECT_EQ(back.stacked[0].to_vector<float>(), (Floats{7, 6, 4}));
}

TEST(ControlFlow, ShapeReturnsSizesAsATensor) {
  const auto sizes = [](const Tensor& x) { return shape(x); };
  for (const Tensor& y : both(sizes, matrix<float>({{1, 2, 3}, {4, 5, 6}}))) {
    EXPECT_EQ(y.to_vector<int64_t>(), (std::vector<int64_t>{2, 3}));
  }
}

TEST(ControlFlow, ExceptionsThrownByBlocksPropagate) {
  const Tensor x(1.f);
  EXPECT_THROW(
      cond(
          Tensor(true), [&]() -> Tensor { throw std::runtime_error("no"); }, [&] { return x; }),
      std::runtime_error);
}

}  // namespace
}  // namespace tenon
