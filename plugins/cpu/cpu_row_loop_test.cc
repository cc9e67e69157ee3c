// Tests that a loop over rows returns the same bits as separate kernels for its instructions.

#include <gtest/gtest.h>

#include <bit>

#include "plugins/cpu/cpu_testing.h"

namespace tenon_simd {
namespace {

using tenon_sdk::testing::f32;
using tenon_sdk::testing::Launched;
using Instruction = Plugin::Instruction;

constexpr uint32_t kReduces = TENON_LOOP_PER_ROW | TENON_LOOP_REDUCES;

// Builds a loop over rows. Stores the dtype of each value, and whether the loop has one such value
// per row or per element.
class RowLoop {
 public:
  RowLoop(List sizes, uint32_t row_axes) : sizes_(std::move(sizes)), row_sizes_(sizes_) {
    rows_.axes = row_axes;
    for (size_t axis = 0; axis < sizes_.size(); ++axis) {
      if ((row_axes >> axis & 1) == 0) continue;
      row_sizes_[axis] = 1;
      axes_.push_back(static_cast<int64_t>(axis));
    }
    attrs_ = {sizeof attrs_, axes_.data(), axes_.size(), true};
    arg_attrs_ = {sizeof arg_attrs_, axes_[0], true};
  }
  RowLoop(const RowLoop&) = delete;

  uint32_t row_axes() const { return rows_.axes; }
  bool has_elements() const { return tenon_sdk::count(sizes_.size(), sizes_.data()) > 0; }
  const List& row_sizes() const { return row_sizes_; }

  uint32_t input(const Tensor& x) { return add_input(x, false); }
  // Adds an input with one element per row. Must be called after all inputs with one element per
  // loop element are added.
  uint32_t row_input(const Tensor& x) {
    ++rows_.n_inputs;
    return add_input(x, true);
  }
  uint32_t reduce(uint32_t op, uint32_t x) {
    return add({op, &attrs_, {x}, values_[x].dtype, kReduces});
  }
  // Adds argmax or argmin. A row must have only one axis.
  uint32_t find(uint32_t op, uint32_t x) {
    return add({op, &arg_attrs_, {x}, TENON_INT64, kReduces});
  }
  uint32_t on_rows(uint32_t op, std::vector<uint32_t> inputs) {
    const tenon_dtype dtype = values_[inputs[0]].dtype;
    return add({op, nullptr, std::move(inputs), dtype, TENON_LOOP_PER_ROW});
  }
  uint32_t call(uint32_t op, std::vector<uint32_t> inputs, tenon_dtype dtype = TENON_DTYPE_NONE) {
    if (dtype == TENON_DTYPE_NONE) dtype = values_[inputs[0]].dtype;
    return add({op, nullptr, std::move(inputs), dtype, 0});
  }
  void give(uint32_t value) { given_.push_back(value); }

  tenon_dtype dtype(uint32_t value) const { return values_[value].dtype; }
  bool is_per_row(uint32_t value) const { return values_[value].per_row; }
  uint32_t n_values() const { return static_cast<uint32_t>(values_.size()); }

  // Returns the outputs, computed by separate kernels.
  std::vector<Tensor> expected(const Plugin& plugin) const {
    std::vector<Tensor> values = inputs_, wanted;
    for (const Instruction& each : instructions_) {
      const bool is_on_rows = each.flags == TENON_LOOP_PER_ROW;
      std::vector<Tensor> operands;
      for (const uint32_t value : each.inputs) {
        const bool repeats = !is_on_rows && values_[value].per_row;
        operands.push_back(repeats ? along_rows(values[value]) : values[value]);
      }
      const bool per_row = (each.flags & TENON_LOOP_PER_ROW) != 0;
      const Tensor out = zeros_of(each.dtype, per_row ? row_sizes_ : sizes_);
      values.push_back(plugin.run(each.op, each.attrs, operands, {out}).outputs.at(0));
    }
    for (const uint32_t value : given_) wanted.push_back(values[value]);
    return wanted;
  }

  Launched run(const Plugin& plugin, std::optional<size_t> in_place = {}) const {
    std::vector<Tensor> outputs;
    for (const uint32_t value : given_) {
      outputs.push_back(
          zeros_of(values_[value].dtype, values_[value].per_row ? row_sizes_ : sizes_));
    }
    return plugin.run_loop(instructions_, inputs_, given_, outputs, in_place, rows_);
  }

  // Compares the loop's outputs with those of separate kernels. Also runs the loop with the first
  // output in the memory of each input that it may alias. Returns the number of these inputs.
  size_t expect_equal(const Plugin& plugin) const {
    const std::vector<Tensor> want = expected(plugin);
    const Launched got = run(plugin);
    expect_equal(got, want);
    if (!(got.traits & (TENON_KERNEL_MAY_ALIAS | TENON_KERNEL_FIRST_MAY_ALIAS))) return 0;
    size_t n = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Tensor &x = inputs_[i], &y = want[0];
      if (x.dtype != y.dtype || x.sizes != y.sizes || x.strides != y.strides || x.offset != 0) {
        continue;
      }
      SCOPED_TRACE(i);
      expect_equal(run(plugin, i), want);
      ++n;
    }
    return n;
  }

 private:
  struct Value {
    tenon_dtype dtype;
    bool per_row;
  };

  uint32_t add_input(const Tensor& x, bool per_row) {
    inputs_.push_back(x);
    values_.push_back({x.dtype, per_row});
    return n_values() - 1;
  }
  uint32_t add(Instruction instruction) {
    values_.push_back({instruction.dtype, (instruction.flags & TENON_LOOP_PER_ROW) != 0});
    instructions_.push_back(std::move(instruction));
    return n_values() - 1;
  }
  Tensor along_rows(const Tensor& x) const {
    List strides = x.strides;
    for (const int64_t axis : axes_) strides[static_cast<size_t>(axis)] = 0;
    return x.as(sizes_, strides, x.offset);
  }
  static void expect_equal(const Launched& got, const std::vector<Tensor>& want) {
    ASSERT_EQ(got.refusal, "");
    EXPECT_FALSE(got.overran);
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(got[i].bytes, want[i].bytes) << "output " << i;
    }
  }

  List sizes_, row_sizes_, axes_;
  tenon_sum_attrs attrs_;
  tenon_argmax_attrs arg_attrs_;
  tenon_sdk::testing::Rows rows_;
  std::vector<Tensor> inputs_;
  std::vector<Instruction> instructions_;
  std::vector<uint32_t> given_;
  std::vector<Value> values_;
};

// A random loop: inputs with various memory layouts, and random instructions.
class Drawn {
 public:
  Drawn(uint64_t seed, const List& sizes, uint32_t row_axes)
      : generator_(seed), loop(sizes, row_axes) {
    const size_t n = 1 + draw(3), n_rows = draw(3);
    for (size_t i = 0; i < n; ++i) loop.input(drawn_input(i == 0, sizes));
    for (size_t i = 0; i < n_rows; ++i) loop.row_input(drawn_input(false, loop.row_sizes()));
    while (loop.n_values() < n + n_rows + 3 + seed % 16) add_instruction();
    const auto last = loop.n_values() - 1;
    loop.give(last);
    for (auto v = static_cast<uint32_t>(n + n_rows); v < last; ++v) {
      if (draw(4) == 0) loop.give(v);
    }
  }

 private:
  std::mt19937_64 generator_;
  size_t draw(size_t below) { return generator_() % below; }

  Tensor drawn_input(bool is_plain, const List& sizes) {
    const tenon_dtype kinds[] = {TENON_FLOAT32, TENON_FLOAT32, TENON_FLOAT64, TENON_FLOAT16,
                                 TENON_INT32};
    const tenon_dtype dtype = is_plain ? TENON_FLOAT32 : kinds[draw(std::size(kinds))];
    const Tensor x = random_tensor(dtype, sizes, -3, 3, generator_());
    List strides = x.strides;
    switch (is_plain ? 3 : draw(4)) {
      case 0:
        std::fill(strides.begin(), strides.end(), 0);
        return x.as(sizes, strides);
      case 1:
        strides[0] = 0;
        return x.as(sizes, strides);
      case 2:
        return x.bytes.empty() ? x : scattered(x);
      default:
        return x;
    }
  }

  bool is_floating(uint32_t v) const {
    return loop.dtype(v) == TENON_FLOAT32 || loop.dtype(v) == TENON_FLOAT64 ||
           loop.dtype(v) == TENON_FLOAT16;
  }
  // Returns a random value for which is(value) is true, preferring recent values.
  template <class Is>
  std::optional<uint32_t> some(const Is& is) {
    for (size_t tries = 0; tries < 4 * loop.n_values(); ++tries) {
      const auto v = static_cast<uint32_t>(loop.n_values() - 1 - draw(1 + draw(loop.n_values())));
      if (is(v)) return v;
    }
    for (uint32_t v = 0; v < loop.n_values(); ++v) {
      if (is(v)) return v;
    }
    return std::nullopt;
  }

  void add_instruction() {
    constexpr uint32_t kReductions[] = {TENON_OP_sum, TENON_OP_prod, TENON_OP_max, TENON_OP_min};
    constexpr uint32_t kUnary[] = {TENON_OP_tanh, TENON_OP_neg, TENON_OP_exp, TENON_OP_abs};
    constexpr uint32_t kBinary[] = {TENON_OP_add, TENON_OP_mul, TENON_OP_sub, TENON_OP_maximum};
    const auto per_row = [&](uint32_t v) { return loop.is_per_row(v); };
    const auto floating = [&](uint32_t v) { return is_floating(v); };
    const auto floating_row = [&](uint32_t v) { return per_row(v) && is_floating(v); };
    switch (draw(6)) {
      case 0:  // A reduction, also of integers.
        if (const auto x = some([&](uint32_t v) { return !per_row(v); })) {
          const bool can_find = std::has_single_bit(loop.row_axes()) && loop.has_elements();
          can_find&& draw(4) == 0 ? loop.find(draw(2) != 0 ? TENON_OP_argmax : TENON_OP_argmin, *x)
                                  : loop.reduce(kReductions[draw(4)], *x);
        }
        break;
      case 1:
        if (const auto x = some(floating_row)) {
          const auto y =
              some([&](uint32_t v) { return floating_row(v) && loop.dtype(v) == loop.dtype(*x); });
          loop.on_rows(kBinary[draw(4)], {*x, *y});
        }
        break;
      case 2:
        if (const auto x = some(floating_row)) loop.on_rows(kUnary[draw(4)], {*x});
        break;
      case 3:
        loop.call(TENON_OP_cast, {*some([](uint32_t) { return true; })},
                  draw(2) != 0 ? TENON_FLOAT32 : TENON_BFLOAT16);
        break;
      case 4:
        loop.call(kUnary[draw(4)], {*some(floating)});
        break;
      default: {
        const uint32_t x = *some(floating);
        const auto y = some([&](uint32_t v) { return loop.dtype(v) == loop.dtype(x); });
        loop.call(kBinary[draw(4)], {x, *y});
      }
    }
  }

 public:
  RowLoop loop;
};

struct Shape {
  List sizes;
  uint32_t row_axes;
};

TEST(CpuRowLoop, RowLoopHasTheBitsOfSeparateKernels) {
  const Shape shapes[] = {{{3, 5}, 2},     {{1}, 1},        {{70, 64}, 2},      {{4, 0}, 2},
                          {{0, 4}, 2},     {{3, 1000}, 2},  {{2, 5000}, 2},     {{7, 1}, 2},
                          {{2, 3, 40}, 6}, {{5, 3, 40}, 4}, {{2, 3, 4}, 7},     {{600, 3}, 2},
                          {{2, 9001}, 2},  {{33, 257}, 2},  {{1, 4, 31}, 6},    {{100}, 1},
                          {{4, 3, 70}, 5}, {{9, 6, 1}, 5},  {{3, 2, 2, 30}, 10}};
  size_t n_in_place = 0;
  for (uint64_t seed = 0; seed < 320; ++seed) {
    SCOPED_TRACE(seed);
    const Shape& shape = shapes[seed % std::size(shapes)];
    n_in_place += Drawn(seed, shape.sizes, shape.row_axes).loop.expect_equal(cpu());
  }
  EXPECT_GT(n_in_place, 20u);
}

TEST(CpuRowLoop, RowLoopHasTheBitsOfSeparateKernelsOnSeveralThreads) {
  const Plugin four(TENON_PLUGIN_FILE, 4);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    Drawn(seed + 1000, {1009, 301}, 2).loop.expect_equal(four);
  }
}

// Unlike cpu, ref supports rows along any axes.
TEST(RefRowLoop, RowLoopHasTheBitsOfSeparateKernels) {
  const Shape shapes[] = {{{3, 5}, 2}, {{3, 5}, 1}, {{2, 3, 4}, 2}, {{2, 3, 4}, 5}, {{2, 0}, 2}};
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Shape& shape = shapes[seed % std::size(shapes)];
    Drawn(seed, shape.sizes, shape.row_axes).loop.expect_equal(ref());
  }
}

TEST(CpuRowLoop, PropagatesNanAndInfinity) {
  RowLoop loop({3, 70}, 2);
  std::vector<float> elements = random_elements<float>(210, -2, 2);
  elements[5] = NAN;
  elements[80] = INFINITY;
  elements[150] = -INFINITY;
  const uint32_t x = loop.input(tensor_of(elements, {3, 70}));
  const uint32_t e =
      loop.call(TENON_OP_exp, {loop.call(TENON_OP_sub, {x, loop.reduce(TENON_OP_max, x)})});
  loop.give(loop.call(TENON_OP_div, {e, loop.reduce(TENON_OP_sum, e)}));
  loop.expect_equal(cpu());
}

// An output may share memory with an input only if no later stage reads the input.
TEST(CpuRowLoop, AliasesAnInputOnlyIfNoLaterStageReadsIt) {
  RowLoop read_again({2, 3}, 2), read_before({2, 3}, 2);
  {
    const uint32_t x = read_again.input(f32({2, 3}, {1, 2, 3, 4, 5, 6}));
    const uint32_t y = read_again.call(TENON_OP_neg, {x});
    read_again.give(y);
    read_again.give(read_again.call(TENON_OP_mul, {x, read_again.reduce(TENON_OP_sum, y)}));
  }
  EXPECT_EQ(read_again.run(cpu()).traits & (TENON_KERNEL_MAY_ALIAS | TENON_KERNEL_FIRST_MAY_ALIAS),
            0u);
  {
    const uint32_t x = read_before.input(f32({2, 3}, {1, 2, 3, 4, 5, 6}));
    read_before.give(read_before.call(TENON_OP_mul, {x, read_before.reduce(TENON_OP_sum, x)}));
  }
  EXPECT_NE(read_before.run(cpu()).traits & TENON_KERNEL_MAY_ALIAS, 0u);
  EXPECT_EQ(read_before.expect_equal(cpu()), 1u);
}

TEST(CpuRowLoop, RowsThatExcludeTheLastAxisAreRefused) {
  RowLoop loop({2, 3}, 1);
  loop.give(loop.reduce(TENON_OP_sum, loop.input(f32({2, 3}, {1, 2, 3, 4, 5, 6}))));
  EXPECT_EQ(loop.run(cpu()).refusal, "supports fused loops only over rows along the last axis");
}

}  // namespace
}  // namespace tenon_simd
