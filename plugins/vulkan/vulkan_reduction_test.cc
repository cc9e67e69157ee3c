// Tests of reductions of rows of any length and layout, which an invocation or a group reduces,
// whole or in parts. Kernels and fused loops must return the same bits.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {
namespace {

// Row lengths, mainly just below, at and above those where the algorithm changes.
constexpr int64_t kLengths[] = {1,    2,    31,    32,    33,    63,    64,
                                65,   1023, 1024,  1025,  2049,  4095,  4096,
                                4097, 8200, 32767, 32768, 32769, 36865, 65537};

// The memory layout of a matrix of rows.
enum class Layout {
  kRows,     // The elements of a row are contiguous.
  kColumns,  // Neighbouring rows are contiguous; the elements of a row are not.
  kTwoAxes   // The elements of a row are along the first and the last axis; the rows are along the
             // axis between them.
};

struct Shape {
  std::vector<int64_t> sizes;
  uint32_t row_axes;
};

Shape shape_of(Layout lie, int64_t n_rows, int64_t length) {
  switch (lie) {
    case Layout::kRows:
      return {{n_rows, length}, 2};
    case Layout::kColumns:
      return {{length, n_rows}, 1};
    default:
      break;
  }
  int64_t outer = 1;
  for (int64_t d = 2; d * d <= length; ++d) outer = length % d == 0 ? d : outer;
  return {{outer, n_rows, length / outer}, 5};
}

// Returns the offset of element `i` of a row.
size_t place_of(Layout lie, const Shape& shape, int64_t row, int64_t i) {
  const std::vector<int64_t>& sizes = shape.sizes;
  switch (lie) {
    case Layout::kRows:
      return static_cast<size_t>(row * sizes[1] + i);
    case Layout::kColumns:
      return static_cast<size_t>(i * sizes[1] + row);
    default:
      return static_cast<size_t>((i / sizes[2] * sizes[1] + row) * sizes[2] + i % sizes[2]);
  }
}

class VulkanReduction : public OnDriver {
 protected:
  // A dense view with these sizes.
  struct View {
    View(const Memory& memory, tenon_dtype dtype, std::vector<int64_t> of) : sizes(std::move(of)) {
      strides.resize(sizes.size());
      int64_t n = 1;
      for (size_t axis = sizes.size(); axis-- > 0; n *= sizes[axis]) strides[axis] = n;
      view.buffer = memory.get();
      view.dtype = dtype;
      view.rank = static_cast<uint16_t>(sizes.size());
      view.sizes = sizes.data();
      view.strides = strides.data();
      view.strides_class = TENON_STRIDES_DENSE;
      operand.dtype = dtype;
      operand.rank = view.rank;
      operand.strides = TENON_STRIDES_DENSE;
      operand.sizes = sizes.data();
    }
    std::vector<int64_t> sizes, strides;
    tenon_view view = {};
    tenon_operand operand = {};
  };

  // Attributes of a reduction along the rows.
  struct Attrs {
    explicit Attrs(const Shape& shape) {
      for (int64_t axis = 0; axis < 3; ++axis) {
        if ((shape.row_axes >> axis & 1) != 0) axes.push_back(axis);
      }
      sum.axes = axes.data();
      sum.n_axes = axes.size();
      sum.keepdims = true;
    }
    Attrs(const Attrs&) = delete;
    std::vector<int64_t> axes;
    tenon_sum_attrs sum = TENON_SUM_ATTRS_DEFAULT;
  };

  void SetUp() override {
    OnDriver::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    stream_ = std::make_unique<Queue>(bench());
  }
  void TearDown() override {
    stream_.reset();
    OnDriver::TearDown();
  }

  // Returns the result of the reduction `op` of each row, as words.
  Words reduced(uint32_t op, const Shape& shape, const std::vector<float>& x, int64_t n_rows) {
    const Attrs attrs(shape);
    const Memory from(bench(), x.size() * sizeof(float)), to(bench(), n_words(n_rows) * 4);
    stream_->write(from, 0, x.data(), x.size() * sizeof(float));
    const View in(from, TENON_FLOAT32, shape.sizes), out(to, TENON_FLOAT32, kept(shape));
    const PreparedKernel kernel(bench(), op, &attrs.sum, {&in.operand, 1}, out.operand);
    launch(kernel.handle(), in, {&out.view, 1});
    return stream_->words(to, n_words(n_rows));
  }

  // Runs a fused loop that returns the sum of each row, and the result of `op` on each element and
  // its row's sum. Returns empty vectors if the plugin refuses the loop.
  std::pair<Words, Words> by_loop(uint32_t op, const Shape& shape, const std::vector<float>& x,
                                  int64_t n_rows) {
    const Attrs attrs(shape);
    const Memory from(bench(), x.size() * 4), sums(bench(), n_words(n_rows) * 4),
        rest(bench(), x.size() * 4);
    stream_->write(from, 0, x.data(), x.size() * sizeof(float));
    const View in(from, TENON_FLOAT32, shape.sizes), sum(sums, TENON_FLOAT32, kept(shape)),
        left(rest, TENON_FLOAT32, shape.sizes);
    const uint32_t of_sum[] = {0}, of_rest[] = {0, 1}, outputs[] = {1, 2};
    tenon_loop_instruction instructions[2] = {};
    instructions[0] = {&line_of(TENON_OP_sum),
                       &attrs,
                       of_sum,
                       1,
                       TENON_FLOAT32,
                       TENON_LOOP_PER_ROW | TENON_LOOP_REDUCES,
                       0};
    instructions[1] = {&line_of(op), nullptr, of_rest, 2, TENON_FLOAT32, 0, 0};
    tenon_loop_request request = {};
    request.struct_size = sizeof request;
    request.inputs = &in.operand;
    request.n_inputs = 1;
    request.instructions = instructions;
    request.n_instructions = 2;
    request.outputs = outputs;
    request.n_outputs = 2;
    request.row_axes = shape.row_axes;
    tenon_kernel_p* kernel = nullptr;
    tenon_kernel_traits traits = {};
    traits.struct_size = sizeof traits;
    tenon_string reason = {};
    EXPECT_SUCCESS(calls().prepare_loop(bench().device(), &request, &kernel, &traits, &reason));
    if (kernel == nullptr) return {};
    const tenon_view views[] = {sum.view, left.view};
    launch(kernel, in, views);
    const std::pair<Words, Words> all = {stream_->words(sums, n_words(n_rows)),
                                         stream_->words(rest, x.size())};
    calls().release_kernel(kernel);
    return all;
  }

  static size_t n_words(int64_t n) { return static_cast<size_t>(n); }
  static float number(uint32_t word) {
    float number;
    std::memcpy(&number, &word, sizeof number);
    return number;
  }

 private:
  static std::vector<int64_t> kept(const Shape& shape) {
    std::vector<int64_t> sizes = shape.sizes;
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      if ((shape.row_axes >> axis & 1) != 0) sizes[axis] = 1;
    }
    return sizes;
  }
  static const tenon_kernel& line_of(uint32_t op) {
    const std::span lines(TestDevice::plugin().kernels, TestDevice::plugin().n_kernels);
    return *std::find_if(lines.begin(), lines.end(),
                         [&](const tenon_kernel& each) { return each.op == op; });
  }
  void launch(tenon_kernel_p* kernel, const View& in, std::span<const tenon_view> out) {
    ASSERT_NE(kernel, nullptr);
    tenon_launch launch = {};
    launch.struct_size = sizeof launch;
    launch.n_inputs = 1;
    launch.n_outputs = static_cast<uint32_t>(out.size());
    launch.inputs = &in.view;
    launch.outputs = out.data();
    launch.workspace_size = calls().workspace(kernel, &launch);
    const Memory workspace(bench(), launch.workspace_size);
    launch.workspace.buffer = workspace.get();
    launch.workspace.dtype = TENON_UINT8;
    EXPECT_SUCCESS(calls().launch(kernel, stream_->get(), &launch));
    stream_->wait();
  }

  std::unique_ptr<Queue> stream_;
};

// The elements are small integers, whose sum is exact in any order.
TEST_P(VulkanReduction, SumsOfSmallIntegersAreExactForRowsOfAnyLength) {
  for (const Layout lie : {Layout::kRows, Layout::kColumns, Layout::kTwoAxes}) {
    for (const int64_t length : kLengths) {
      const int64_t n_rows = length < 5000 ? 70 : 3;
      const Shape shape = shape_of(lie, n_rows, length);
      std::vector<float> x(static_cast<size_t>(n_rows * length));
      std::vector<float> sums, maxima;
      for (int64_t row = 0; row < n_rows; ++row) {
        float sum = 0, most = -100;
        for (int64_t i = 0; i < length; ++i) {
          const auto value = static_cast<float>((i * 7 + row * 5 + i / 13) % 23 - 9);
          x[place_of(lie, shape, row, i)] = value;
          sum += value;
          most = std::max(most, value);
        }
        sums.push_back(sum);
        maxima.push_back(most);
      }
      for (const bool is_sum : {true, false}) {
        const Words found = reduced(is_sum ? TENON_OP_sum : TENON_OP_max, shape, x, n_rows);
        for (int64_t row = 0; row < n_rows; ++row) {
          const auto at = static_cast<size_t>(row);
          ASSERT_EQ(number(found[at]), is_sum ? sums[at] : maxima[at])
              << "row " << row << " of " << length << ", lying " << static_cast<int>(lie);
        }
      }
    }
  }
}

TEST_P(VulkanReduction, FusedLoopReturnsTheBitsOfTheReductionKernel) {
  for (const Layout lie : {Layout::kRows, Layout::kColumns, Layout::kTwoAxes}) {
    for (const int64_t length : kLengths) {
      if (length > 32768) continue;  // The host does not request loops over longer rows.
      const int64_t n_rows = 3;
      const Shape shape = shape_of(lie, n_rows, length);
      std::vector<float> x(static_cast<size_t>(n_rows * length));
      std::vector<double> sums(3, 0);
      for (int64_t row = 0; row < n_rows; ++row) {
        for (int64_t i = 0; i < length; ++i) {
          const auto value = static_cast<float>(std::sin(static_cast<double>(i * 3 + row)) + 0.5);
          x[place_of(lie, shape, row, i)] = value;
          sums[static_cast<size_t>(row)] += value;
        }
      }
      const Words alone = reduced(TENON_OP_sum, shape, x, n_rows);
      const auto [in_loop, left] = by_loop(TENON_OP_sub, shape, x, n_rows);
      ASSERT_EQ(alone, in_loop) << length << ", lying " << static_cast<int>(lie);
      for (int64_t row = 0; row < n_rows; ++row) {
        const auto at = static_cast<size_t>(row);
        const float sum = number(alone[at]);
        // The error bound of a sum that is computed in runs of 1024 elements.
        EXPECT_NEAR(sum, sums[at], 1024 * 0x1p-24 * std::abs(sums[at]) + 1e-4) << length;
        const int64_t last = length - 1;
        const size_t place = place_of(lie, shape, row, last);
        EXPECT_EQ(number(left[place]), x[place] - sum) << length;
      }
    }
  }
}

// floor_div of floats takes as many loop iterations as the difference of their exponents, and a
// driver may end loops after a limit.
TEST_P(VulkanReduction, LoopThatExceedsTheDriversIterationLimitIsRefused) {
  constexpr int64_t kLength = 4096;
  std::vector<float> x(kLength);
  for (size_t i = 0; i < kLength; ++i) x[i] = i / 64 % 2 == 0 ? 0x1p60f : -0x1p60f;
  x[kLength - 65] = 0, x[kLength - 1] = 1;  // The sum of the row is 1 in any order.
  const auto [sums, found] = by_loop(TENON_OP_floor_div, shape_of(Layout::kRows, 1, kLength), x, 1);
  EXPECT_EQ(sums.empty(), capabilities_of(bench().device()).max_iterations < UINT64_MAX);
  for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(number(found[i]), x[i]) << i;
}

INSTANTIATE_TEST_SUITE_P(, VulkanReduction,
                         ::testing::Values(Settings{}, Settings{{"gpu_ways", "1"}}),
                         [](const auto& info) {
                           return info.param.empty() ? "AsItIs" : "AsOnGpus";
                         });

}  // namespace
}  // namespace tenon_vulkan::testing
