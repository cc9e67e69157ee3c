#include <gtest/gtest.h>

#include <tenon/tenon.hpp>

namespace tenon {
namespace {

// Calls `calls` and returns the text that it prints.
template <class Calls>
std::string printed_by(const Calls& calls) {
  std::string text;
  set_print([&](std::string_view line) { text += line; });
  calls();
  set_print({});
  return text;
}

TEST(EffectsTest, PrintRunsAtEachCallAndNotWhileTracing) {
  const auto f = function([](const Tensor& x) {
    print("x is {}, twice {}", x, x * 2.f);
    print("and {}", 1);
    return x;
  });
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(printed_by([&] {
                f(vector<float>({1, 2}));
              }),
              "x is [1. 2.], twice [2. 4.]\nand 1\n");
  }
  EXPECT_EQ(printed_by([] { print("eager {}", 0.5f); }), "eager 0.5\n");
  tenon_format_options options = TENON_FORMAT_OPTIONS_DEFAULT;
  options.precision = 2;
  const Tensor x = vector<float>({1.23456f});
  EXPECT_EQ(printed_by([&] { print("", {&x, 1}, options); }), "[1.23]\n");
  EXPECT_THROW(print("{}"), Error);
}

TEST(EffectsTest, TraceListsItsEffects) {
  const Function f(
      [](std::span<const Tensor> in, const Statics&) -> std::vector<Tensor> {
        print("{}", in[0]);
        const Tensor y = while_loop([](const Tensor& x) { return less(x, 10.f); },
                                    [](const Tensor& x) { return check_numerics(x * 2.f); }, in[0]);
        assert_that(less(y, 100.f), "");
        return {y};
      },
      {.name = "f"});
  const Tensor x(1.f);
  printed_by([&] { f({&x, 1}); });
  EXPECT_EQ(f.traces()[0].effects(),
            (std::vector<std::string>{"print", "check_numerics", "assert"}));
}

TEST(EffectsTest, FailedAssertionStopsTheFunction) {
  const Variable seen(0.f);
  const auto f = function([&](const Tensor& x) {
    seen.assign(x);
    assert_that(less(x, 3.f), "{} is too much", x);
    seen.assign(-1.f);
    return x;
  });
  f(2.f);
  EXPECT_EQ(Tensor(seen).item<float>(), -1);
  try {
    f(4.f);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kFailedPrecondition);
    EXPECT_EQ(error.message(), "assert: 4.0 is too much");
  }
  EXPECT_EQ(Tensor(seen).item<float>(), 4);
}

TEST(EffectsTest, HostCallsAreDifferentiable) {
  const auto halved = [](const Tensor& x) {
    Tensor y = x;
    while (y.item<float>() > 1) y = y / 2.f;
    return y;
  };
  const auto f = function([&](const Tensor& x) { return host_call(x, halved, x) * x; });
  for (int call = 0; call < 3; ++call) {
    const Tensor x(3.f);
    const Tape tape;
    tape.watch(x);
    const Tensor y = f(x);
    EXPECT_EQ(y.item<float>(), 2.25f);
    EXPECT_EQ(tape.gradient(y, x).item<float>(), 1.5f);
  }
  const Tensor in[] = {Tensor(1.f)}, like[] = {Tensor(0), Tensor(0.f)};
  const auto two = host_call(
      [](std::span<const Tensor> x) {
        return std::vector<Tensor>{Tensor(7), x[0]};
      },
      in, like);
  EXPECT_EQ(two[0].item<int64_t>(), 7);
  EXPECT_EQ(two[1].item<float>(), 1);
  EXPECT_THROW(
      host_call([](std::span<const Tensor>) -> std::vector<Tensor> { return {}; }, in, like),
      Error);
}

}  // namespace
}  // namespace tenon
