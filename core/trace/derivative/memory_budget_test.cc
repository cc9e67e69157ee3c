// Functions with a memory budget: the same gradients with less memory.

#include "core/dispatch/generator.h"
#include "core/dispatch/variable.h"
#include "core/ops/definition/op_ids.h"
#include "core/testing/test.h"
#include "core/trace/effects.h"
#include "core/trace/function.h"
#include "core/trace/graph/text_form.h"

namespace tenon {
namespace {

using testing::f32;
using testing::values_of;
using Doubles = std::vector<double>;
using Code1 = std::function<Tensor(const Tensor& x)>;

constexpr int64_t kSize = 4096;
constexpr uint64_t kBytes = kSize * sizeof(float);

class MemoryBudgets : public testing::CoreTest {
 protected:
  Code1 function(uint64_t budget, const Code1& code) {
    const auto body = [code](Scope&, TensorSpan in, const Statics&) {
      return Tensors{code(in[0])};
    };
    const auto f =
        Ref<Function>::adopt(new Function(context(), "f", body, {.memory_budget = budget}));
    return [this, f](const Tensor& x) { return f->call(scope(), {&x, 1}, {})[0]; };
  }
  Tensor slope(const Code1& code, const Tensor& x) {
    const auto t = tape();
    t->watch(x);
    return t->gradient(sum(code(x)), x);
  }
  static Tensor start() { return iota(Dims{kSize}, DType::kF32, 0) * number(1.0 / kSize); }
};

// Each tanh and each product needs a residual.
Tensor layers(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < 16; ++i) y = tanh(y * (x + number(i)));
  return y;
}

TEST_F(MemoryBudgets, DoNotChangeGradients) {
  const Tensor x = start();
  const Code1 plain = function(kSaveAll, layers);
  const Doubles first = values_of(slope(plain, x));
  const Doubles second = values_of(slope([&](const Tensor& v) { return slope(plain, v); }, x));
  for (const uint64_t budget : {uint64_t{0}, 2 * kBytes, 5 * kBytes, 20 * kBytes}) {
    const Code1 f = function(budget, layers);
    EXPECT_EQ(values_of(slope(f, x)), first) << budget;
    EXPECT_EQ(values_of(slope([&](const Tensor& v) { return slope(f, v); }, x)), second) << budget;
  }
}

TEST_F(MemoryBudgets, LimitMemoryBetweenForwardAndBackwardPass) {
  const Tensor x = start();
  const auto held = [&](uint64_t budget) {
    const Code1 f = function(budget, layers);
    slope(f, x);
    const auto t = tape();
    t->watch(x);
    const uint64_t before = live_bytes();
    const Tensor y = f(x);
    // Bytes of the residuals, without the output of f.
    const uint64_t result = live_bytes() - before - kBytes;
    t->gradient(sum(y), x);
    return result;
  };
  EXPECT_GE(held(kSaveAll), 30 * kBytes);
  for (const uint64_t n : {0, 3, 10}) EXPECT_LE(held(n * kBytes), n * kBytes);
}

// The forward pass is cut into eight spans. The backward pass recomputes one of them at a time.
TEST_F(MemoryBudgets, LowerPeakMemory) {
  const Tensor x = start();
  const auto peak = [&](uint64_t budget) {
    const Code1 f = function(budget, layers);
    slope(f, x);
    slope(f, x);  // Later calls replay a launch plan.
    device().allocator().reset_peak();
    const uint64_t before = live_bytes();
    slope(f, x);
    return device().allocator().statistics().peak_bytes - before;
  };
  const uint64_t all = peak(kSaveAll), some = peak(8 * kBytes);
  RecordProperty("peak_bytes_with_all_kept", std::to_string(all));
  RecordProperty("peak_bytes_with_a_budget", std::to_string(some));
  EXPECT_LT(some, all * 2 / 3);
}

TEST_F(MemoryBudgets, ApplyToTapesInsideAnOuterFunction) {
  const Tensor x = start();
  const Code1 little = function(0, layers);
  const Doubles expected = values_of(slope(function(kSaveAll, layers), x));
  const auto body = [&](Scope&, TensorSpan in, const Statics&) {
    return Tensors{slope(little, in[0])};
  };
  const auto step = Ref<Function>::adopt(new Function(context(), "step", body, {}));
  EXPECT_EQ(values_of(step->call(scope(), {&x, 1}, {})[0]), expected);
  // The forward computation is in a region, separate from the recomputation.
  const std::string text = to_text(step->traces()[0]->graph());
  const size_t apart = text.find("recompute(");
  ASSERT_NE(apart, std::string::npos) << text;
  EXPECT_NE(text.find("tanh", text.find("}", apart)), std::string::npos) << text;
  // Under a tape outside the function, the gradients are the same with and without a budget.
  const Code1 whole = function(kSaveAll, [&](const Tensor& v) { return little(v) * v; });
  const Code1 same = function(kSaveAll, [&](const Tensor& v) { return layers(v) * v; });
  EXPECT_EQ(values_of(slope(whole, x)), values_of(slope(same, x)));
}

TEST_F(MemoryBudgets, RecomputationDrawsTheSameNumbers) {
  const auto generator = Ref<Generator>::adopt(new Generator(scope(), 7));
  const auto w = Ref<Variable>::adopt(new Variable(scope(), f32({1, 2, 3}), "w", true));
  const OpDef& uniform = *find_op("random_uniform");
  const Code1 code = [&](const Tensor& x) {
    const OwnedAttrs attrs(*uniform.attrs);
    const Tensor noise = generator->draw(scope(), uniform, attrs.view(), {}, 0)[0];
    return exp(x * noise) * w->read(scope());
  };
  const auto run = [&](uint64_t budget) {
    generator->seed(scope(), 7);
    const Code1 f = function(budget, code);
    const Tensor x = f32({1, 2, 3});
    const auto t = tape();
    t->watch(x);
    const Tensor targets[] = {sum(f(x))};
    const Source sources[] = {Source(x), Source(w)};
    const Tensors found = t->gradient(targets, {}, sources);
    return std::pair(values_of(found[0]), values_of(found[1]));
  };
  EXPECT_EQ(run(0), run(kSaveAll));
}

TEST_F(MemoryBudgets, DoNotRepeatEffects) {
  int n_printed = 0;
  context().set_print([&](std::string_view) { ++n_printed; });
  const Code1 code = [&](const Tensor& x) {
    const Tensor y = call1(OpId::k_check_numerics, NoAttrs{}, {tanh(x)});
    print(scope(), "y is {}", Tensors{y});
    return exp(y) * y;
  };
  const Tensor x = f32({1, 2});
  const Doubles expected = values_of(slope(code, x));
  n_printed = 0;
  for (int calls = 1; calls < 4; ++calls) {
    EXPECT_EQ(values_of(slope(function(0, code), x)), expected);
    EXPECT_EQ(n_printed, calls);
  }
  const Code1 little = function(0, code);
  const Code1 around = function(kSaveAll, [&](const Tensor& v) { return little(v) * v; });
  const Code1 same = [&](const Tensor& v) { return code(v) * v; };
  const Doubles product = values_of(slope(same, x));
  n_printed = 0;
  EXPECT_EQ(values_of(slope(around, x)), product);
  EXPECT_EQ(n_printed, 1);
}

}  // namespace
}  // namespace tenon
