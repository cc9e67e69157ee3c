// Tests that a fused loop returns the same bits as separate kernels for its instructions.

#include <gtest/gtest.h>

#include "plugins/cpu/cpu_testing.h"

namespace tenon_simd {
namespace {

using tenon_sdk::testing::Launched;
using Instruction = Plugin::Instruction;

// A random loop over inputs of many layouts.
class RandomLoop {
 public:
  // `plugin`: the loop uses only ops and attributes that this plugin supports.
  RandomLoop(const Plugin& plugin, uint64_t seed, List sizes)
      : generator_(seed),
        sizes_(std::move(sizes)),
        has_attrs_(offers(plugin, TENON_OP_leaky_relu, TENON_FLOAT32)) {
    const size_t n = 1 + draw(4);
    for (size_t i = 0; i < n; ++i) add_input(i);
    while (instructions.size() < 2 + seed % 20) add_instruction();
    for (size_t i = instructions.size(); i-- > 0;) {
      const bool is_last = i + 1 == instructions.size();
      if (!is_last && draw(4) != 0) continue;
      given.push_back(static_cast<uint32_t>(inputs.size() + i));
      outputs.push_back(zeros_of(instructions[i].dtype, sizes_));
    }
  }

  // Returns the outputs, computed by separate kernels.
  std::vector<Tensor> expected(const Plugin& plugin) const {
    std::vector<Tensor> values = inputs, wanted;
    for (const Instruction& each : instructions) {
      std::vector<Tensor> operands;
      for (const uint32_t value : each.inputs) operands.push_back(values[value]);
      const Tensor out = zeros_of(each.dtype, sizes_);
      values.push_back(plugin.run(each.op, each.attrs, operands, {out})[0]);
    }
    for (const uint32_t value : given) wanted.push_back(values[value]);
    return wanted;
  }

  std::vector<Tensor> inputs, outputs;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> given;

 private:
  size_t draw(size_t below) { return generator_() % below; }

  void add_input(size_t i) {
    const tenon_dtype kinds[] = {TENON_FLOAT32, TENON_FLOAT32, TENON_FLOAT64,
                                 TENON_FLOAT16, TENON_INT32,   TENON_BOOL};
    const tenon_dtype dtype = i == 0 ? TENON_FLOAT32 : kinds[draw(std::size(kinds))];
    const Tensor whole = random_tensor(dtype, sizes_, -3, 3, generator_());
    List strides = whole.strides;
    switch (draw(4)) {
      case 0:  // A uniform input.
        std::fill(strides.begin(), strides.end(), 0);
        break;
      case 1:  // An input that is broadcast along the first axis.
        strides[0] = 0;
        break;
      case 2:  // An input with reversed elements.
        inputs.push_back(reversed(whole));
        dtypes_.push_back(dtype);
        return;
      default:
        break;
    }
    inputs.push_back(whole.as(sizes_, strides));
    dtypes_.push_back(dtype);
  }

  static Tensor reversed(const Tensor& x) {
    List strides = x.strides;
    int64_t offset = 0;
    for (size_t axis = 0; axis < strides.size(); ++axis) {
      if (x.sizes[axis] == 0) return x;
      offset += strides[axis] * (x.sizes[axis] - 1);
      strides[axis] = -strides[axis];
    }
    return x.as(x.sizes, strides, offset);
  }

  // Returns a random value of this dtype, preferring recent values. If there is none, adds a cast.
  uint32_t value_of(tenon_dtype dtype) {
    for (size_t tries = 0; tries < 4 * dtypes_.size(); ++tries) {
      const size_t back = draw(1 + draw(dtypes_.size()));
      const size_t value = dtypes_.size() - 1 - back;
      if (dtypes_[value] == dtype) return static_cast<uint32_t>(value);
    }
    const auto from = static_cast<uint32_t>(draw(dtypes_.size()));
    add({TENON_OP_cast, nullptr, {from}, dtype});
    return static_cast<uint32_t>(dtypes_.size() - 1);
  }

  void add(Instruction instruction) {
    dtypes_.push_back(instruction.dtype);
    instructions.push_back(std::move(instruction));
  }

  void add_instruction() {
    const tenon_dtype floats[] = {TENON_FLOAT32, TENON_FLOAT32, TENON_FLOAT64, TENON_BFLOAT16};
    const tenon_dtype dtype = floats[draw(std::size(floats))];
    constexpr uint32_t kUnary[] = {TENON_OP_tanh, TENON_OP_neg, TENON_OP_exp, TENON_OP_abs};
    constexpr uint32_t kBinary[] = {TENON_OP_add, TENON_OP_mul, TENON_OP_sub, TENON_OP_maximum};
    switch (draw(has_attrs_ ? 7 : 6)) {
      case 6:
        return add({TENON_OP_leaky_relu, &kSlopes[draw(2)], {value_of(dtype)}, dtype});
      case 0:
        return add({kUnary[draw(4)], nullptr, {value_of(dtype)}, dtype});
      case 1: {
        const uint32_t a = value_of(dtype), b = value_of(dtype);
        return add({TENON_OP_less, nullptr, {a, b}, TENON_BOOL});
      }
      case 2: {
        const uint32_t condition = value_of(TENON_BOOL), a = value_of(dtype), b = value_of(dtype);
        return add({TENON_OP_where, nullptr, {condition, a, b}, dtype});
      }
      case 3: {
        const uint32_t a = value_of(TENON_INT32), b = value_of(TENON_INT32);
        return add({TENON_OP_add, nullptr, {a, b}, TENON_INT32});
      }
      default: {
        const uint32_t a = value_of(dtype), b = value_of(dtype);
        return add({kBinary[draw(4)], nullptr, {a, b}, dtype});
      }
    }
  }

  static constexpr tenon_leaky_relu_attrs kSlopes[] = {{sizeof(tenon_leaky_relu_attrs), 0.25},
                                                       {sizeof(tenon_leaky_relu_attrs), -3}};

  std::mt19937_64 generator_;
  List sizes_;
  bool has_attrs_;
  std::vector<tenon_dtype> dtypes_;
};

void expect_equal(const Launched& got, const std::vector<Tensor>& want) {
  ASSERT_EQ(got.refusal, "");
  EXPECT_FALSE(got.overran);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(got[i].bytes, want[i].bytes) << "output " << i;
}

// Compares the loop's outputs with those of separate kernels. Also runs the loop with the first
// output in the memory of each input that it may alias. Returns the number of these inputs.
size_t expect_equal(const Plugin& plugin, const RandomLoop& loop) {
  const std::vector<Tensor> want = loop.expected(plugin);
  const auto run = [&](std::optional<size_t> in_place) {
    return plugin.run_loop(loop.instructions, loop.inputs, loop.given, loop.outputs, in_place);
  };
  const Launched got = run({});
  expect_equal(got, want);
  if (!(got.traits & (TENON_KERNEL_MAY_ALIAS | TENON_KERNEL_FIRST_MAY_ALIAS))) return 0;
  size_t n = 0;
  for (size_t i = 0; i < loop.inputs.size(); ++i) {
    const Tensor& x = loop.inputs[i];
    if (x.dtype != want[0].dtype || x.strides != want[0].strides || x.offset != 0) continue;
    SCOPED_TRACE(i);
    expect_equal(run(i), want);
    ++n;
  }
  return n;
}

TEST(CpuLoop, FusedLoopHasTheBitsOfSeparateKernels) {
  const List shapes[] = {{1},       {1, 3},    {3, 2, 5}, {2, 3, 4, 5}, {8, 64},
                         {5, 1000}, {1, 1024}, {3, 7001}, {4, 0}};
  size_t n_in_place = 0;
  for (uint64_t seed = 0; seed < 240; ++seed) {
    SCOPED_TRACE(seed);
    n_in_place += expect_equal(cpu(), RandomLoop(cpu(), seed, shapes[seed % std::size(shapes)]));
  }
  EXPECT_GT(n_in_place, 20u);
}

TEST(CpuLoop, FusedLoopHasTheBitsOfSeparateKernelsOnSeveralThreads) {
  const Plugin four(TENON_PLUGIN_FILE, 4);
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    expect_equal(four, RandomLoop(four, seed + 1000, {301, 1009}));
  }
}

TEST(RefLoop, FusedLoopHasTheBitsOfSeparateKernels) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    expect_equal(ref(), RandomLoop(ref(), seed, {3, 50}));
  }
}

// A `maximum` and the `minimum` of its result may run as one step.
TEST(CpuLoop, ClippingToTwoBoundsHasTheBitsOfSeparateKernels) {
  const double bounds[] = {0.0, -0.0, 6, -2.5, INFINITY, -INFINITY, NAN};
  for (const tenon_dtype dtype : {TENON_FLOAT32, TENON_FLOAT64, TENON_FLOAT16}) {
    const Tensor x = specials_first(dtype, 515, 1), y = zeros_of(dtype, {515});
    const auto uniform = [&](double bound) {
      return tenon_sdk::dispatch<tenon_sdk::Any>(dtype, [&]<class T>(tenon_sdk::Type<T>) {
        return tenon_sdk::testing::tensor<T>({1}, {bound}).as({515}, {0});
      });
    };
    const std::vector<Instruction> instructions = {{TENON_OP_maximum, nullptr, {0, 1}, dtype},
                                                   {TENON_OP_minimum, nullptr, {3, 2}, dtype}};
    for (const double low : bounds) {
      for (const double high : bounds) {
        const std::vector<Tensor> inputs = {x, uniform(low), uniform(high)};
        const Tensor above = cpu().run(TENON_OP_maximum, nullptr, {x, inputs[1]}, {y})[0];
        const Tensor want = cpu().run(TENON_OP_minimum, nullptr, {above, inputs[2]}, {y})[0];
        const Launched one = cpu().run_loop(instructions, inputs, {4}, {y});
        const Launched both = cpu().run_loop(instructions, inputs, {3, 4}, {y, y});
        EXPECT_TRUE(same_values(one[0], want)) << low << " to " << high;
        EXPECT_TRUE(same_values(both[0], above) && same_values(both[1], want));
      }
    }
  }
}

TEST(CpuLoop, LoopWithTooManyValuesIsRefused) {
  std::vector<Instruction> instructions;
  for (uint32_t i = 0; i < 200; ++i) {
    instructions.push_back({TENON_OP_neg, nullptr, {i}, TENON_FLOAT32});
  }
  const Tensor x = tenon_sdk::testing::f32({1, 2});
  const Launched got = cpu().run_loop(instructions, {x}, {200}, {x});
  EXPECT_EQ(got.refusal, "supports loops of at most 96 values");
}

TEST(CpuLoop, LoopWithTooManyLiveValuesIsRefused) {
  // 55 values of eight bytes are live at the same time.
  std::vector<Instruction> instructions;
  for (uint32_t i = 0; i < 55; ++i) {
    instructions.push_back({TENON_OP_neg, nullptr, {0}, TENON_FLOAT64});
  }
  for (uint32_t i = 0; i < 27; ++i) {
    const uint32_t sum = i == 0 ? 1 : 55 + i;
    instructions.push_back({TENON_OP_fma, nullptr, {sum, 2 + 2 * i, 3 + 2 * i}, TENON_FLOAT64});
  }
  const Tensor x = tenon_sdk::testing::f64({1, 2});
  EXPECT_EQ(cpu().run_loop(instructions, {x}, {82}, {x}).refusal,
            "supports loops with at most 384 bytes of live values per element");
  // A loop with 40 live values is accepted.
  instructions.erase(instructions.begin() + 40, instructions.begin() + 55);
  for (size_t i = 40; i < instructions.size(); ++i) instructions[i].inputs = {0, 1, 2};
  EXPECT_EQ(cpu().run_loop(instructions, {x}, {67}, {x}).refusal, "");
}

}  // namespace
}  // namespace tenon_simd
