#include "core/trace/stages.h"

#include "core/testing/functions.h"
#include "core/trace/effects.h"

namespace tenon {
namespace {

using testing::f32;
using Stages = testing::FunctionTest;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Stages, ThatNoCallHasReachedAreMissing) {
  const auto f = function([](TensorSpan in) {
    const Tensor sums = cumsum(in[0] * number(1), {.axis = 0});
    return Tensors{sums + exp(in[0])};
  });
  const Tensor x = f32({1, 2, 3});

  const Ref<Trace> trace = f->trace(scope(), {{.dtype = DType::kF32, .sizes = {3}}}, {});
  const std::string traced = stages(*trace);
  EXPECT_TRUE(has(traced, "Graph:\n  (x0: f32[3]) {\n")) << traced;
  EXPECT_TRUE(has(traced, "mul(x0, 1.0)")) << traced;
  EXPECT_TRUE(has(traced, "Not executed yet")) << traced;

  call(f, {x});
  const std::string first = stages(*trace);
  const size_t after = first.find("After the passes:\n");
  ASSERT_NE(after, std::string::npos) << first;
  EXPECT_EQ(first.find("mul", after), std::string::npos) << first;
  EXPECT_TRUE(has(first, "Segment 0 on " + device().name() + ": cumsum, exp, add\n")) << first;
  EXPECT_TRUE(has(first, "Launch plan: the next execution records it\n")) << first;

  call(f, {x});
  const std::string second = stages(*trace);
  EXPECT_TRUE(has(second, "    cumsum: input 0 -> ")) << second;
  EXPECT_TRUE(has(second, " bytes of temporaries\n")) << second;
  EXPECT_TRUE(has(second, " -> output 0\n")) << second;
}

TEST_F(Stages, DistinguishHostCallsFromSegments) {
  context().set_print([](std::string_view) {});
  const auto f = function([&](TensorSpan in) {
    print(scope(), "{}", Tensors{in[0] + number(1)});
    return Tensors{in[0] * number(2)};
  });
  const Tensor x = f32({1});
  const Ref<Trace> trace = f->trace(scope(), {{.dtype = DType::kF32, .sizes = {1}}}, {});
  call(f, {x});
  EXPECT_TRUE(has(stages(*trace), "on the host: ")) << stages(*trace);
}

}  // namespace
}  // namespace tenon
