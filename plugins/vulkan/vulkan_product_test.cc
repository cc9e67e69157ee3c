// Tests that every algorithm for matrix products returns the same bits. An element is the sum of
// its products in order of k, rounded after every step. A long sum is the sum of chains. A loop on
// the host computes the expected bits.

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <numeric>
#include <random>

#include "plugins/vulkan/kernels/product.h"
#include "plugins/vulkan/testing/products.h"

namespace tenon_vulkan::testing {
namespace {

// Tests of matrix products. The validation layer must report nothing.
class VulkanProducts : public ExpectsNoReportsTest {};

void expect_bits(const Product& product) {
  const TestDevice bench({{"validate", "1"}, {"cache", ""}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const Matrices of_a(product, product.rows, product.deep, product.transpose_a),
      of_b(product, product.deep, product.columns, product.transpose_b);
  const std::vector<float> a = random_values(product.offset + of_a.count(), 1),
                           b = random_values(of_b.count(), 2);
  const Result y = run_product(bench, product, bytes_of(a), bytes_of(b));
  expect_elements(y.bytes, expected(product, a, b, chunk_length(bench, product)));
}

TEST_F(VulkanProducts, ProductOfOneTileIsBitExact) {
  expect_bits({.matrices = 1, .rows = 3, .deep = 5, .columns = 2});
}

TEST_F(VulkanProducts, ProductOfManyTilesIsBitExact) {
  expect_bits({.matrices = 1, .rows = 65, .deep = 67, .columns = 131});
}

TEST_F(VulkanProducts, VectorisedProductIsBitExact) {
  expect_bits({.matrices = 2, .rows = 48, .deep = 64, .columns = 132});
}

TEST_F(VulkanProducts, UnalignedProductIsBitExact) {
  expect_bits({.matrices = 2, .rows = 48, .deep = 64, .columns = 132, .offset = 3});
}

TEST_F(VulkanProducts, ProductOfTransposedFactorsIsBitExact) {
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

// The packed factors of all matrices exceed the packing limit, so a dispatch computes several of
// them.
TEST_F(VulkanProducts, ProductPackedInGroupsOfMatricesIsBitExact) {
  expect_bits({.matrices = 40, .rows = 128, .deep = 512, .columns = 512});
}

// The packed factors of one matrix exceed the packing limit, so a dispatch computes several
// columns.
TEST_F(VulkanProducts, ProductPackedInGroupsOfColumnsIsBitExact) {
  expect_bits({.matrices = 1, .rows = 16, .deep = 8192, .columns = 1400});
}

TEST_F(VulkanProducts, ProductWithLongSumsIsBitExact) {
  expect_bits({.matrices = 1, .rows = 1, .deep = 100003, .columns = 2});
}

// The sums exceed the loop iterations of one dispatch, so partial sums are stored in the workspace.
TEST_F(VulkanProducts, ProductWithSumsSplitOverDispatchesIsBitExact) {
  expect_bits({.matrices = 1, .rows = 3, .deep = 600011, .columns = 2});
  expect_bits({.matrices = 2, .rows = 17, .deep = 270001, .columns = 33});
}

// ---- the GPU variants

// Computes a product on two devices. `unmodified` packs float factors on software drivers.
// `directly` uses the GPU variants, with tiles and panels of 8 values of k.
struct PackedAndTiled {
  const TestDevice unmodified{Settings{{"validate", "1"}, {"cache", ""}}};
  const TestDevice directly{Settings{{"validate", "1"}, {"cache", ""}, {"gpu_ways", "1"}}};

  // Returns the result of the GPU variant, and checks that the other device returns the same bits.
  Bytes multiply(const Product& product, const Bytes& a, const Bytes& b) const {
    const Result one = run_product(unmodified, product, a, b);
    const Result other = run_product(directly, product, a, b);
    const bool has_packed_way = product.dtype != TENON_INT32;
    EXPECT_EQ(one.is_packed, has_packed_way && capabilities_of(unmodified.device()).runs_on_host);
    EXPECT_FALSE(other.is_packed);
    EXPECT_TRUE(one.bytes == other.bytes);
    return other.bytes;
  }
};

// No size is a multiple of a tile or a panel, and there are several tiles in each direction.
constexpr Product kTiles = {.matrices = 2, .rows = 70, .deep = 45, .columns = 101, .offset = 3};
constexpr int64_t kCountA = 3 + 2 * 70 * 45, kCountB = 2 * 45 * 101;

std::vector<Product> transposed(Product product, tenon_dtype dtype) {
  product.dtype = dtype;
  std::vector<Product> all;
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      product.transpose_a = transpose_a;
      product.transpose_b = transpose_b;
      all.push_back(product);
    }
  }
  return all;
}

// Returns random 16-bit floats of both signs, with magnitudes from 1/16 to 1.
std::vector<uint16_t> random_half_floats(int64_t n, tenon_dtype dtype, uint32_t seed) {
  std::minstd_rand random(seed);
  const int bits = dtype == TENON_FLOAT16 ? 10 : 7, least = dtype == TENON_FLOAT16 ? 11 : 123;
  std::vector<uint16_t> halves(static_cast<size_t>(n));
  for (uint16_t& half : halves) {
    const auto word = static_cast<uint32_t>(random() >> 8);
    const uint32_t sign = word & 0x8000, fraction = word & ((1u << bits) - 1);
    const uint32_t exponent = static_cast<uint32_t>(least) + (word >> 16) % 4;
    half = static_cast<uint16_t>(sign | exponent << bits | fraction);
  }
  return halves;
}

std::vector<float> floats_of_bfloat16(const std::vector<uint16_t>& halves) {
  std::vector<float> floats;
  for (const uint16_t half : halves) floats.push_back(std::bit_cast<float>(uint32_t{half} << 16));
  return floats;
}
// Rounds to nearest, ties to even.
uint16_t bfloat16_of(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

TEST_F(VulkanProducts, PackedAndTiledKernelsGiveEqualBitsForFloatProducts) {
  const PackedAndTiled variants;
  if (!variants.unmodified.is_open()) GTEST_SKIP() << variants.unmodified.failure().message;
  const std::vector<float> a = random_values(kCountA, 1), b = random_values(kCountB, 2);
  for (const Product& product : transposed(kTiles, TENON_FLOAT32)) {
    const Bytes y = variants.multiply(product, bytes_of(a), bytes_of(b));
    expect_elements(y, expected(product, a, b));
  }
}

// The product exceeds the work limit of one dispatch, so its tiles are split over several
// dispatches.
TEST_F(VulkanProducts, PackedAndTiledKernelsGiveEqualBitsForASplitProduct) {
  const PackedAndTiled variants;
  if (!variants.unmodified.is_open()) GTEST_SKIP() << variants.unmodified.failure().message;
  const Product product = {.matrices = 2, .rows = 600, .deep = 110, .columns = 700};
  const auto n_products =
      static_cast<uint64_t>(product.matrices * product.rows * product.deep * product.columns);
  if (n_products <= capabilities_of(variants.directly.device()).max_products_per_submission) {
    GTEST_SKIP() << "this device takes it at once";
  }
  const std::vector<float> a = random_values(2 * 600 * 110, 1), b = random_values(2 * 110 * 700, 2);
  const Bytes y = variants.multiply(product, bytes_of(a), bytes_of(b));
  expect_elements(y, expected(product, a, b));
}

TEST_F(VulkanProducts, PackedAndTiledKernelsGiveEqualBitsForHalfTypeProducts) {
  const PackedAndTiled variants;
  if (!variants.unmodified.is_open()) GTEST_SKIP() << variants.unmodified.failure().message;
  for (const tenon_dtype dtype : {TENON_FLOAT16, TENON_BFLOAT16}) {
    const std::vector<uint16_t> a = random_half_floats(kCountA, dtype, 1),
                                b = random_half_floats(kCountB, dtype, 2);
    for (const Product& product : transposed(kTiles, dtype)) {
      const Bytes y = variants.multiply(product, bytes_of(a), bytes_of(b));
      if (dtype == TENON_FLOAT16) continue;  // The test has no function that rounds to float16.
      std::vector<std::pair<size_t, uint16_t>> rounded;
      for (const auto& [i, sum] : expected(product, floats_of_bfloat16(a), floats_of_bfloat16(b))) {
        rounded.emplace_back(i, bfloat16_of(sum));
      }
      expect_elements(y, rounded);
    }
  }
}

// Products of integers always use the tiled variant. Their sums wrap.
TEST_F(VulkanProducts, IntegerProductsWrapAround) {
  const PackedAndTiled variants;
  if (!variants.unmodified.is_open()) GTEST_SKIP() << variants.unmodified.failure().message;
  std::minstd_rand random(1);
  std::vector<uint32_t> a(kCountA), b(kCountB);
  for (uint32_t& word : a) word = static_cast<uint32_t>(random()) * 2 + 1;
  for (uint32_t& word : b) word = static_cast<uint32_t>(random()) * 2 + 1;
  for (const Product& product : transposed(kTiles, TENON_INT32)) {
    const Bytes y = variants.multiply(product, bytes_of(a), bytes_of(b));
    expect_elements(y, expected(product, a, b));
  }
}

// Rows and matrices have negative strides; neighbours in a row are still contiguous.
TEST_F(VulkanProducts, ProductOfReversedRowsIsBitExact) {
  const PackedAndTiled variants;
  if (!variants.unmodified.is_open()) GTEST_SKIP() << variants.unmodified.failure().message;
  const Product product = {.matrices = 2, .rows = 64, .deep = 64, .columns = 64};
  const int64_t n = 2 * 64 * 64, row = 64, sizes[] = {2, 64, 64}, strides[] = {-64 * 64, -64, 1};
  const std::vector<float> a = random_values(n, 1), b = random_values(n, 2);
  std::vector<float> from_behind(a.size());
  for (int64_t i = 0; i < n; ++i) {
    const int64_t there = (n / row - 1 - i / row) * row + i % row;
    from_behind[static_cast<size_t>(there)] = a[static_cast<size_t>(i)];
  }
  for (const TestDevice* const bench : {&variants.unmodified, &variants.directly}) {
    const Queue queue(*bench);
    const uint64_t size = static_cast<uint64_t>(n) * sizeof(float);
    const Memory memory_a(*bench, size), memory_b(*bench, size), memory_y(*bench, size);
    queue.write(memory_a, 0, from_behind.data(), size);
    queue.write(memory_b, 0, b.data(), size);
    const Matrices of_b(product, 64, 64, false);
    tenon_view x = of_b.view(memory_a, n - row);
    x.sizes = sizes;
    x.strides = strides;
    x.strides_class = TENON_STRIDES_STRIDED;
    const tenon_view inputs[] = {x, of_b.view(memory_b, 0)}, y = of_b.view(memory_y, 0);
    const tenon_matmul_attrs attrs = attrs_of(product);
    const tenon_operand operands[] = {operand_of(product, TENON_STRIDES_STRIDED),
                                      operand_of(product)};
    const PreparedKernel kernel(*bench, TENON_OP_matmul, &attrs, operands, operand_of(product));
    run(*bench, queue, kernel, inputs, {&y, 1});
    expect_elements(queue.bytes(memory_y, size), expected(product, a, b));
  }
}

// The packed rows of one block would exceed a binding on lavapipe.
TEST_F(VulkanProducts, ProductWithTooManyRowsForABindingIsNotPacked) {
  const TestDevice bench(Settings{{"cache", ""}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const Queue queue(bench);
  const Product product = {.matrices = 1, .rows = 2'900'000, .deep = 9, .columns = 8};
  const std::vector<float> a = random_values(product.rows * 9, 1), b = random_values(9 * 8, 2);
  const Matrices of_a(product, product.rows, 9, false), of_b(product, 9, 8, false),
      of_y(product, product.rows, 8, false);
  const Memory memory_a(bench, of_a.bytes()), memory_b(bench, of_b.bytes()),
      memory_y(bench, of_y.bytes());
  queue.write(memory_a, 0, a.data(), of_a.bytes());
  queue.write(memory_b, 0, b.data(), of_b.bytes());
  const tenon_view inputs[] = {of_a.view(memory_a, 0), of_b.view(memory_b, 0)},
                   y = of_y.view(memory_y, 0);
  const bool is_packed = run(bench, queue, matmul_kernel(bench, product), inputs, {&y, 1});
  const auto packed_bytes = static_cast<uint64_t>(product.rows) * 16 * sizeof(float);
  if (capabilities_of(bench.device()).max_operand_bytes < packed_bytes) {
    EXPECT_FALSE(is_packed);
  }
  expect_elements(queue.bytes(memory_y, of_y.bytes()), expected(product, a, b));
}

TEST_F(VulkanProducts, ProductWithoutElementsSucceeds) {
  const PackedAndTiled variants;
  if (!variants.unmodified.is_open()) GTEST_SKIP() << variants.unmodified.failure().message;
  const std::array<int64_t, 3> all_sizes[] = {{1, 0, 10}, {1, 10, 0}, {0, 10, 10}};
  for (const auto& [matrices, rows, columns] : all_sizes) {
    const Product product = {.matrices = matrices, .rows = rows, .deep = 20000, .columns = columns};
    const Bytes factor = bytes_of(random_values(10 * 20000, 1));
    for (const TestDevice* const bench : {&variants.unmodified, &variants.directly}) {
      run_product(*bench, product, factor, factor);
    }
  }
}

// If there are few results, long sums are split into chunks. The partial sums of different
// matrices must not overlap in the workspace.
TEST_F(VulkanProducts, LongSumsAreSplitAlongKOnGpus) {
  const TestDevice bench({{"validate", "1"}, {"cache", ""}, {"gpu_ways", "1"}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const Product products[] = {{.matrices = 1, .rows = 3, .deep = 5003, .columns = 2, .offset = 1},
                              {.matrices = 3, .rows = 17, .deep = 1300, .columns = 37},
                              {.matrices = 2, .rows = 70, .deep = 300, .columns = 33}};
  for (const Product& p : products) {
    for (Product product : transposed(p, TENON_FLOAT32)) {
      const int64_t steps = chunk_length(bench, product);
      EXPECT_LT(steps, product.deep);
      const std::vector<float> a =
          random_values(product.offset + product.matrices * product.rows * product.deep, 1);
      const std::vector<float> b =
          random_values(product.matrices * product.deep * product.columns, 2);
      const Result y = run_product(bench, product, bytes_of(a), bytes_of(b));
      expect_elements(y.bytes, expected(product, a, b, steps));
      product.dtype = TENON_FLOAT64;
      if (!capabilities_of(bench.device()).float64) continue;
      const std::vector<double> wide_a(a.begin(), a.end()), wide_b(b.begin(), b.end());
      const Result wide = run_product(bench, product, bytes_of(wide_a), bytes_of(wide_b));
      expect_elements(wide.bytes, expected(product, wide_a, wide_b, steps));
    }
  }
}

// The partial sums of all chunks exceed the limit, so several dispatches accumulate them.
TEST_F(VulkanProducts, PartialSumsAreAccumulatedIfTheyExceedTheLimit) {
  const TestDevice bench({{"validate", "1"}, {"cache", ""}, {"gpu_ways", "1"}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const Product product = {.matrices = 1, .rows = 1030, .deep = 4100, .columns = 512};
  const ProductSizes sizes = {product.matrices, product.rows, product.columns, product.deep};
  EXPECT_EQ(choose_split_k(capabilities_of(bench.device()), TENON_FLOAT32, sizes).at_once, 1);
  const std::vector<float> a = random_values(product.matrices * product.rows * product.deep, 1);
  const std::vector<float> b = random_values(product.matrices * product.deep * product.columns, 2);
  const Result y = run_product(bench, product, bytes_of(a), bytes_of(b));
  expect_elements(y.bytes, expected(product, a, b, 4096));
}

// The result is large enough that large tiles are selected.
TEST_F(VulkanProducts, ProductWithLargeTilesIsBitExact) {
  const PackedAndTiled variants;
  if (!variants.unmodified.is_open()) GTEST_SKIP() << variants.unmodified.failure().message;
  const Product large = {.matrices = 9, .rows = 230, .deep = 21, .columns = 205};
  const std::vector<float> a = random_values(9 * 230 * 21, 1), b = random_values(9 * 21 * 205, 2);
  for (const Product& product : transposed(large, TENON_FLOAT32)) {
    const Bytes y = variants.multiply(product, bytes_of(a), bytes_of(b));
    expect_elements(y, expected(product, a, b));
  }
}

// The launch must fail instead of returning a wrong sum.
TEST_F(VulkanProducts, ProductThatExceedsTheDriversLoopLimitFails) {
  const TestDevice bench(Settings{{"cache", ""}});
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
  tenon_launch launch = launch_of(inputs, {&output, 1});
  const Failure failure = take(TestDevice::calls().launch(kernel.handle(), queue.get(), &launch));
  queue.wait();
  const bool ends_loops = capabilities_of(bench.device()).max_iterations < UINT64_MAX;
  EXPECT_EQ(failure.code, ends_loops ? TENON_UNIMPLEMENTED : TENON_OK) << failure.message;
}

}  // namespace
}  // namespace tenon_vulkan::testing
