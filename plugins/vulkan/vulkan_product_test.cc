// Products of matrices: whichever way sizes choose, each element has the bits of the sum of its
// products in their order, every step rounded. A loop on the host says what these are.

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <optional>
#include <random>

#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {
namespace {

struct Product {
  int64_t matrices, rows, deep, columns;
  bool transpose_a = false, transpose_b = false;
  int64_t offset = 0;  // Of a's first element; vectors of four need it to be a multiple.
  tenon_dtype dtype = TENON_FLOAT32;
};

class Matrices {
 public:
  Matrices(const Product& product, int64_t rows, int64_t columns, bool is_transposed)
      : sizes_{product.matrices, is_transposed ? columns : rows, is_transposed ? rows : columns},
        strides_{rows * columns, sizes_[2], 1},
        dtype_(product.dtype) {}

  int64_t count() const { return sizes_[0] * strides_[0]; }
  tenon_view view(const Memory& memory, int64_t offset) const {
    tenon_view view = {};
    view.buffer = memory.get();
    view.byte_offset = static_cast<uint64_t>(offset) * sizeof(float);
    view.sizes = sizes_;
    view.strides = strides_;
    view.dtype = dtype_;
    view.rank = 3;
    view.strides_class = TENON_STRIDES_DENSE;
    return view;
  }

 private:
  int64_t sizes_[3], strides_[3];
  tenon_dtype dtype_;
};

std::vector<float> drawn(int64_t n, uint32_t seed) {
  std::minstd_rand random(seed);
  std::uniform_real_distribution<float> draw(-1, 1);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = draw(random);
  return values;
}

// Some of the elements, as pairs of number and value: the first and the last of each matrix, and
// every so many.
std::vector<std::pair<size_t, float>> expected(const Product& p, const std::vector<float>& a,
                                               const std::vector<float>& b) {
  std::vector<std::pair<size_t, float>> some;
  const int64_t n = p.matrices * p.rows * p.columns, step = std::max<int64_t>(1, n / 2000);
  for (int64_t i = 0; i < n; i = i == n - 1 ? n : std::min(i + step, n - 1)) {
    const int64_t column = i % p.columns, row = i / p.columns % p.rows,
                  matrix = i / p.columns / p.rows;
    const float* const of_a = a.data() + p.offset + matrix * p.rows * p.deep;
    const float* const of_b = b.data() + matrix * p.deep * p.columns;
    float sum = 0;
    for (int64_t k = 0; k < p.deep; ++k) {
      const float left = of_a[p.transpose_a ? k * p.rows + row : row * p.deep + k];
      const float right = of_b[p.transpose_b ? column * p.deep + k : k * p.columns + column];
      const float product = left * right;
      sum += product;
    }
    some.emplace_back(static_cast<size_t>(i), sum);
  }
  return some;
}

PreparedKernel matmul_kernel(const Bench& bench, const Product& product) {
  const tenon_matmul_attrs attrs = {.struct_size = sizeof attrs,
                                    .transpose_a = product.transpose_a,
                                    .transpose_b = product.transpose_b};
  tenon_operand operands[3] = {};
  for (tenon_operand& operand : operands) {
    operand.dtype = product.dtype;
    operand.rank = 3;
    operand.strides = TENON_STRIDES_DENSE;
  }
  return {bench, TENON_OP_matmul, &attrs, {operands, 2}, operands[2]};
}

tenon_launch launch_of(const tenon_view (&inputs)[2], const tenon_view& output) {
  tenon_launch launch = {};
  launch.struct_size = sizeof launch;
  launch.n_inputs = 2;
  launch.n_outputs = 1;
  launch.inputs = inputs;
  launch.outputs = &output;
  return launch;
}

void expect_bits(const Product& product) {
  const Bench bench({{"validate", "1"}, {"cache", ""}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const Queue queue(bench);
  const Matrices of_a(product, product.rows, product.deep, product.transpose_a),
      of_b(product, product.deep, product.columns, product.transpose_b),
      of_y(product, product.rows, product.columns, false);
  const std::vector<float> a = drawn(product.offset + of_a.count(), 1), b = drawn(of_b.count(), 2);
  std::vector<float> y(static_cast<size_t>(of_y.count()));
  const Memory memory_a(bench, a.size() * 4), memory_b(bench, b.size() * 4),
      memory_y(bench, y.size() * 4);
  queue.write(memory_a, 0, a.data(), a.size() * 4);
  queue.write(memory_b, 0, b.data(), b.size() * 4);

  const PreparedKernel kernel = matmul_kernel(bench, product);
  ASSERT_NE(kernel.handle(), nullptr);
  const tenon_view inputs[] = {of_a.view(memory_a, product.offset), of_b.view(memory_b, 0)};
  const tenon_view output = of_y.view(memory_y, 0);
  tenon_launch launch = launch_of(inputs, output);
  std::optional<Memory> workspace;
  launch.workspace_size = Bench::calls().workspace(kernel.handle(), &launch);
  if (launch.workspace_size > 0) {
    launch.workspace.buffer = workspace.emplace(bench, launch.workspace_size).get();
    launch.workspace.dtype = TENON_UINT8;
  }
  EXPECT_SUCCESS(Bench::calls().launch(kernel.handle(), queue.get(), &launch));
  queue.read(memory_y, 0, y.data(), y.size() * 4);
  queue.wait();
  for (const auto& [i, value] : expected(product, a, b)) {
    ASSERT_EQ(std::memcmp(&y[i], &value, sizeof value), 0)
        << "element " << i << " is " << y[i] << ", not " << value;
  }
}

TEST(VulkanProducts, HaveTheirBitsInOneTile) {
  expect_bits({.matrices = 1, .rows = 3, .deep = 5, .columns = 2});
}

TEST(VulkanProducts, HaveTheirBitsInManyTiles) {
  expect_bits({.matrices = 1, .rows = 65, .deep = 67, .columns = 131});
}

TEST(VulkanProducts, HaveTheirBitsInVectorsOfFour) {
  expect_bits({.matrices = 2, .rows = 48, .deep = 64, .columns = 132});
}

TEST(VulkanProducts, HaveTheirBitsWhereVectorsCannotBe) {
  expect_bits({.matrices = 2, .rows = 48, .deep = 64, .columns = 132, .offset = 3});
}

TEST(VulkanProducts, HaveTheirBitsTransposed) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      expect_bits({.matrices = 3,
                   .rows = 36,
                   .deep = 40,
                   .columns = 68,
                   .transpose_a = transpose_a,
                   .transpose_b = transpose_b});
    }
  }
}

// Their packed factors need more room than there is at once: some matrices come first, ...
TEST(VulkanProducts, HaveTheirBitsInPartsOfMatrices) {
  expect_bits({.matrices = 40, .rows = 128, .deep = 512, .columns = 512});
}

// ... and of one matrix, some columns.
TEST(VulkanProducts, HaveTheirBitsInPartsOfColumns) {
  expect_bits({.matrices = 1, .rows = 16, .deep = 8192, .columns = 1400});
}

TEST(VulkanProducts, HaveTheirBitsAlongManySteps) {
  expect_bits({.matrices = 1, .rows = 1, .deep = 100003, .columns = 2});
}

// More than the loops of one dispatch may go through: sums wait in the workspace.
TEST(VulkanProducts, HaveTheirBitsInPartsOfTheirSteps) {
  expect_bits({.matrices = 1, .rows = 3, .deep = 600011, .columns = 2});
  expect_bits({.matrices = 2, .rows = 17, .deep = 270001, .columns = 33});
}

// Rather than a wrong sum.
TEST(VulkanProducts, SayThatTheDriverEndsLoopsThatAreThatLong) {
  const Bench bench(Settings{{"cache", ""}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const Queue queue(bench);
  const Product product = {
      .matrices = 1, .rows = 1, .deep = 131065, .columns = 1, .dtype = TENON_INT32};
  const Memory a(bench, 4 * 131065), y(bench, 4);
  const Matrices row(product, 1, product.deep, false), column(product, product.deep, 1, false),
      sum(product, 1, 1, false);
  const tenon_view inputs[] = {row.view(a, 0), column.view(a, 0)}, output = sum.view(y, 0);
  const PreparedKernel kernel = matmul_kernel(bench, product);
  ASSERT_NE(kernel.handle(), nullptr);
  tenon_launch launch = launch_of(inputs, output);
  const Failure failure = take(Bench::calls().launch(kernel.handle(), queue.get(), &launch));
  queue.wait();
  const bool ends_loops = capabilities_of(bench.device()).max_iterations < UINT64_MAX;
  EXPECT_EQ(failure.code, ends_loops ? TENON_UNIMPLEMENTED : TENON_OK) << failure.message;
}

}  // namespace
}  // namespace tenon_vulkan::testing
