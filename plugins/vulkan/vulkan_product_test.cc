// Products of matrices: whichever way sizes choose, each element has the bits of the sum of its
// products in their order, every step rounded. A loop on the host says what these are.

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>

#include "plugins/vulkan/kernels/tiled_product.h"
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
  uint64_t bytes() const { return static_cast<uint64_t>(count()) * tenon_sdk::size_of(dtype_); }
  tenon_view view(const Memory& memory, int64_t offset) const {
    tenon_view view = {};
    view.buffer = memory.get();
    view.byte_offset = static_cast<uint64_t>(offset) * tenon_sdk::size_of(dtype_);
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
// every so many. Sums are of parts that have so many steps, or of one.
template <class T>
std::vector<std::pair<size_t, T>> expected(const Product& p, const std::vector<T>& a,
                                           const std::vector<T>& b, int64_t steps = 0) {
  if (steps == 0) steps = p.deep;
  std::vector<std::pair<size_t, T>> some;
  const int64_t n = p.matrices * p.rows * p.columns, step = std::max<int64_t>(1, n / 2000);
  for (int64_t i = 0; i < n; i = i == n - 1 ? n : std::min(i + step, n - 1)) {
    const int64_t column = i % p.columns, row = i / p.columns % p.rows,
                  matrix = i / p.columns / p.rows;
    const T* const of_a = a.data() + p.offset + matrix * p.rows * p.deep;
    const T* const of_b = b.data() + matrix * p.deep * p.columns;
    T sum = 0, of_part = 0;
    for (int64_t k = 0; k < p.deep; ++k) {
      const T left = of_a[p.transpose_a ? k * p.rows + row : row * p.deep + k];
      const T right = of_b[p.transpose_b ? column * p.deep + k : k * p.columns + column];
      const T product = left * right;
      of_part += product;
      if ((k + 1) % steps != 0 && k + 1 != p.deep) continue;
      sum = k < steps ? of_part : sum + of_part;
      of_part = 0;
    }
    some.emplace_back(static_cast<size_t>(i), sum);
  }
  return some;
}

tenon_matmul_attrs attrs_of(const Product& product) {
  return {.struct_size = sizeof(tenon_matmul_attrs),
          .transpose_a = product.transpose_a,
          .transpose_b = product.transpose_b};
}

tenon_operand operand_of(const Product& product, tenon_stride_class strides = TENON_STRIDES_DENSE) {
  return {.dtype = product.dtype, .rank = 3, .strides = strides};
}

PreparedKernel matmul_kernel(const Bench& bench, const Product& product) {
  const tenon_matmul_attrs attrs = attrs_of(product);
  const tenon_operand operands[] = {operand_of(product), operand_of(product)};
  return {bench, TENON_OP_matmul, &attrs, operands, operand_of(product)};
}

tenon_launch launch_of(std::span<const tenon_view> inputs, std::span<const tenon_view> outputs) {
  tenon_launch launch = {};
  launch.struct_size = sizeof launch;
  launch.n_inputs = static_cast<uint32_t>(inputs.size());
  launch.n_outputs = static_cast<uint32_t>(outputs.size());
  launch.inputs = inputs.data();
  launch.outputs = outputs.data();
  return launch;
}

// With as much workspace as it asks for. Whether that is any.
bool run(const Bench& bench, const Queue& queue, const PreparedKernel& kernel,
         std::span<const tenon_view> inputs, std::span<const tenon_view> outputs) {
  tenon_launch launch = launch_of(inputs, outputs);
  std::optional<Memory> workspace;
  launch.workspace_size = Bench::calls().workspace(kernel.handle(), &launch);
  if (launch.workspace_size > 0) {
    launch.workspace.buffer = workspace.emplace(bench, launch.workspace_size).get();
    launch.workspace.dtype = TENON_UINT8;
  }
  EXPECT_SUCCESS(Bench::calls().launch(kernel.handle(), queue.get(), &launch));
  queue.wait();
  return workspace.has_value();
}

// s = z + c and s s, of a product z and a row c that all of its rows meet, by three launches, and z
// and (z + c) s as a loop behind the product: what both give is the same.
void expect_same_behind(const Bench& bench, const Queue& queue, const Product& product,
                        std::span<const tenon_view> factors, const Matrices& of_y) {
  const uint64_t size = of_y.bytes();
  const Memory memory[] = {
      {bench, size}, {bench, size}, {bench, size}, {bench, size}, {bench, size}};
  const auto view = [&](size_t i) { return of_y.view(memory[i], 0); };
  const auto bytes = [&](size_t i) { return queue.bytes(memory[i], size); };
  const tenon_view z = view(0), s = view(1), want = view(2), z_of_loop = view(3), y = view(4);
  tenon_view c = factors[0];  // Any numbers do.
  const int64_t by_columns[] = {0, 0, 1};
  c.byte_offset = 0;
  c.sizes = y.sizes;
  c.strides = by_columns;
  c.strides_class = TENON_STRIDES_STRIDED;

  const tenon_operand dense = operand_of(product), row = operand_of(product, TENON_STRIDES_STRIDED);
  const tenon_operand sides[] = {dense, row}, both[] = {dense, dense};
  const PreparedKernel matmul = matmul_kernel(bench, product),
                       add(bench, TENON_OP_add, nullptr, sides, dense),
                       mul(bench, TENON_OP_mul, nullptr, both, dense);
  const tenon_view z_and_c[] = {z, c}, s_and_s[] = {s, s};
  run(bench, queue, matmul, factors, {&z, 1});
  run(bench, queue, add, z_and_c, {&s, 1});
  run(bench, queue, mul, s_and_s, {&want, 1});

  const tenon_matmul_attrs attrs = attrs_of(product);
  const tenon_kernel_request head = {.struct_size = sizeof head,
                                     .line = PreparedKernel::line_of(TENON_OP_matmul),
                                     .attrs = &attrs,
                                     .n_inputs = 2,
                                     .n_outputs = 1,
                                     .inputs = both,
                                     .outputs = &dense};
  const tenon_operand inputs[] = {row, dense};
  const uint32_t of_sum[] = {2, 0}, of_product[] = {3, 1}, outputs[] = {2, 4};
  const tenon_loop_instruction instructions[] = {
      {PreparedKernel::line_of(TENON_OP_add), nullptr, of_sum, 2, product.dtype, 0, 0},
      {PreparedKernel::line_of(TENON_OP_mul), nullptr, of_product, 2, product.dtype, 0, 0}};
  const tenon_loop_request request = {.struct_size = sizeof request,
                                      .n_inputs = 2,
                                      .n_instructions = 2,
                                      .n_outputs = 2,
                                      .inputs = inputs,
                                      .instructions = instructions,
                                      .outputs = outputs,
                                      .head = &head};
  const PreparedKernel loop(bench, request);
  ASSERT_NE(loop.handle(), nullptr);
  const tenon_view all[] = {factors[0], factors[1], c, s}, results[] = {z_of_loop, y};
  run(bench, queue, loop, all, results);
  EXPECT_TRUE(bytes(3) == bytes(0)) << "the product";
  EXPECT_TRUE(bytes(4) == bytes(2)) << "what is made of it";
}

// What a device computes, and whether it packed the factors.
struct Result {
  Bytes bytes;
  bool is_packed = false;
};

Result multiplied(const Bench& bench, const Product& product, const Bytes& a, const Bytes& b) {
  const Queue queue(bench);
  const Matrices of_a(product, product.rows, product.deep, product.transpose_a),
      of_b(product, product.deep, product.columns, product.transpose_b),
      of_y(product, product.rows, product.columns, false);
  const uint64_t size = of_y.bytes();
  const Memory memory_a(bench, a.size()), memory_b(bench, b.size()), memory_y(bench, size);
  queue.write(memory_a, 0, a.data(), a.size());
  queue.write(memory_b, 0, b.data(), b.size());

  const PreparedKernel kernel = matmul_kernel(bench, product);
  EXPECT_NE(kernel.handle(), nullptr);
  if (kernel.handle() == nullptr) return {};
  const tenon_view inputs[] = {of_a.view(memory_a, product.offset), of_b.view(memory_b, 0)};
  const tenon_view output = of_y.view(memory_y, 0);
  const bool is_packed = run(bench, queue, kernel, inputs, {&output, 1});
  expect_same_behind(bench, queue, product, inputs, of_y);
  return {queue.bytes(memory_y, size), is_packed};
}

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto* const first = reinterpret_cast<const uint8_t*>(values.data());
  return Bytes(first, first + values.size() * sizeof(T));
}

template <class T>
void expect_elements(const Bytes& bytes, const std::vector<std::pair<size_t, T>>& some) {
  for (const auto& [i, value] : some) {
    ASSERT_LE((i + 1) * sizeof(T), bytes.size());
    T found;
    std::memcpy(&found, &bytes[i * sizeof(T)], sizeof found);
    ASSERT_EQ(std::memcmp(&found, &value, sizeof value), 0)
        << "element " << i << " is " << found << ", not " << value;
  }
}

// How many steps a part of a sum has on that device.
int64_t steps_of(const Bench& bench, const Product& p) {
  const ProductSizes sizes = {
      .matrices = p.matrices, .rows = p.rows, .columns = p.columns, .deep = p.deep};
  return parts_of_sums(capabilities_of(bench.device()), sizes).steps;
}

// The layer has nothing to say to what is done here.
class VulkanProducts : public InSilence {};

void expect_bits(const Product& product) {
  const Bench bench({{"validate", "1"}, {"cache", ""}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const Matrices of_a(product, product.rows, product.deep, product.transpose_a),
      of_b(product, product.deep, product.columns, product.transpose_b);
  const std::vector<float> a = drawn(product.offset + of_a.count(), 1), b = drawn(of_b.count(), 2);
  const Result y = multiplied(bench, product, bytes_of(a), bytes_of(b));
  expect_elements(y.bytes, expected(product, a, b, steps_of(bench, product)));
}

TEST_F(VulkanProducts, HaveTheirBitsInOneTile) {
  expect_bits({.matrices = 1, .rows = 3, .deep = 5, .columns = 2});
}

TEST_F(VulkanProducts, HaveTheirBitsInManyTiles) {
  expect_bits({.matrices = 1, .rows = 65, .deep = 67, .columns = 131});
}

TEST_F(VulkanProducts, HaveTheirBitsInVectorsOfFour) {
  expect_bits({.matrices = 2, .rows = 48, .deep = 64, .columns = 132});
}

TEST_F(VulkanProducts, HaveTheirBitsWhereVectorsCannotBe) {
  expect_bits({.matrices = 2, .rows = 48, .deep = 64, .columns = 132, .offset = 3});
}

TEST_F(VulkanProducts, HaveTheirBitsTransposed) {
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
TEST_F(VulkanProducts, HaveTheirBitsInPartsOfMatrices) {
  expect_bits({.matrices = 40, .rows = 128, .deep = 512, .columns = 512});
}

// ... and of one matrix, some columns.
TEST_F(VulkanProducts, HaveTheirBitsInPartsOfColumns) {
  expect_bits({.matrices = 1, .rows = 16, .deep = 8192, .columns = 1400});
}

TEST_F(VulkanProducts, HaveTheirBitsAlongManySteps) {
  expect_bits({.matrices = 1, .rows = 1, .deep = 100003, .columns = 2});
}

// More than the loops of one dispatch may go through: sums wait in the workspace.
TEST_F(VulkanProducts, HaveTheirBitsInPartsOfTheirSteps) {
  expect_bits({.matrices = 1, .rows = 3, .deep = 600011, .columns = 2});
  expect_bits({.matrices = 2, .rows = 17, .deep = 270001, .columns = 33});
}

// ---- the ways of GPUs

// The product on two devices: as it is, which packs factors of floats if the host's processor runs
// its shaders, and going the ways of GPUs, by tiles and panels of 8 steps.
struct BothWays {
  const Bench as_it_is{Settings{{"validate", "1"}, {"cache", ""}}};
  const Bench directly{Settings{{"validate", "1"}, {"cache", ""}, {"gpu_ways", "1"}}};

  // The bytes of the direct way, of which the other has the same.
  Bytes multiply(const Product& product, const Bytes& a, const Bytes& b) const {
    const Result one = multiplied(as_it_is, product, a, b);
    const Result other = multiplied(directly, product, a, b);
    const bool has_packed_way = product.dtype != TENON_INT32;
    EXPECT_EQ(one.is_packed, has_packed_way && capabilities_of(as_it_is.device()).runs_on_host);
    EXPECT_FALSE(other.is_packed);
    EXPECT_TRUE(one.bytes == other.bytes);
    return other.bytes;
  }
};

// No size is a multiple of a tile's or a panel's, and there are several tiles in each direction.
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

// Of 16 bits: random numbers of either sign and of 1/16 to 1.
std::vector<uint16_t> drawn_halves(int64_t n, tenon_dtype dtype, uint32_t seed) {
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
// To the nearest, and to even between two.
uint16_t bfloat16_of(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

TEST_F(VulkanProducts, OfFloatsHaveTheSameBitsEitherWay) {
  const BothWays ways;
  if (!ways.as_it_is.is_open()) GTEST_SKIP() << ways.as_it_is.failure().message;
  const std::vector<float> a = drawn(kCountA, 1), b = drawn(kCountB, 2);
  for (const Product& product : transposed(kTiles, TENON_FLOAT32)) {
    const Bytes y = ways.multiply(product, bytes_of(a), bytes_of(b));
    expect_elements(y, expected(product, a, b));
  }
}

// More than a driver takes at once: some tiles after the other.
TEST_F(VulkanProducts, InPartsHaveTheSameBitsEitherWay) {
  const BothWays ways;
  if (!ways.as_it_is.is_open()) GTEST_SKIP() << ways.as_it_is.failure().message;
  const Product product = {.matrices = 2, .rows = 600, .deep = 110, .columns = 700};
  const auto n_products =
      static_cast<uint64_t>(product.matrices * product.rows * product.deep * product.columns);
  if (n_products <= capabilities_of(ways.directly.device()).products_at_once) {
    GTEST_SKIP() << "this device takes it at once";
  }
  const std::vector<float> a = drawn(2 * 600 * 110, 1), b = drawn(2 * 110 * 700, 2);
  const Bytes y = ways.multiply(product, bytes_of(a), bytes_of(b));
  expect_elements(y, expected(product, a, b));
}

TEST_F(VulkanProducts, OfHalvesHaveTheSameBitsEitherWay) {
  const BothWays ways;
  if (!ways.as_it_is.is_open()) GTEST_SKIP() << ways.as_it_is.failure().message;
  for (const tenon_dtype dtype : {TENON_FLOAT16, TENON_BFLOAT16}) {
    const std::vector<uint16_t> a = drawn_halves(kCountA, dtype, 1),
                                b = drawn_halves(kCountB, dtype, 2);
    for (const Product& product : transposed(kTiles, dtype)) {
      const Bytes y = ways.multiply(product, bytes_of(a), bytes_of(b));
      if (dtype == TENON_FLOAT16) continue;  // Which the host cannot round so simply.
      std::vector<std::pair<size_t, uint16_t>> rounded;
      for (const auto& [i, sum] : expected(product, floats_of_bfloat16(a), floats_of_bfloat16(b))) {
        rounded.emplace_back(i, bfloat16_of(sum));
      }
      expect_elements(y, rounded);
    }
  }
}

// They have no way but the direct one, and wrap around.
TEST_F(VulkanProducts, OfIntegersHaveTheSameBitsEitherWay) {
  const BothWays ways;
  if (!ways.as_it_is.is_open()) GTEST_SKIP() << ways.as_it_is.failure().message;
  std::minstd_rand random(1);
  std::vector<uint32_t> a(kCountA), b(kCountB);
  for (uint32_t& word : a) word = static_cast<uint32_t>(random()) * 2 + 1;
  for (uint32_t& word : b) word = static_cast<uint32_t>(random()) * 2 + 1;
  for (const Product& product : transposed(kTiles, TENON_INT32)) {
    const Bytes y = ways.multiply(product, bytes_of(a), bytes_of(b));
    expect_elements(y, expected(product, a, b));
  }
}

// Long sums with few results are sums of parts, and of several matrices' results none is another's.
TEST_F(VulkanProducts, OfManyStepsAreSumsOfPartsOnGpus) {
  const Bench bench({{"validate", "1"}, {"cache", ""}, {"gpu_ways", "1"}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  const Product products[] = {{.matrices = 1, .rows = 3, .deep = 5003, .columns = 2, .offset = 1},
                              {.matrices = 3, .rows = 17, .deep = 1300, .columns = 37},
                              {.matrices = 2, .rows = 70, .deep = 300, .columns = 33}};
  for (const Product& p : products) {
    for (Product product : transposed(p, TENON_FLOAT32)) {
      const int64_t steps = steps_of(bench, product);
      EXPECT_LT(steps, product.deep);
      const std::vector<float> a =
          drawn(product.offset + product.matrices * product.rows * product.deep, 1);
      const std::vector<float> b = drawn(product.matrices * product.deep * product.columns, 2);
      const Result y = multiplied(bench, product, bytes_of(a), bytes_of(b));
      expect_elements(y.bytes, expected(product, a, b, steps));
      product.dtype = TENON_FLOAT64;
      if (!capabilities_of(bench.device()).float64) continue;
      const std::vector<double> wide_a(a.begin(), a.end()), wide_b(b.begin(), b.end());
      const Result wide = multiplied(bench, product, bytes_of(wide_a), bytes_of(wide_b));
      expect_elements(wide.bytes, expected(product, wide_a, wide_b, steps));
    }
  }
}

// As many tiles as large ones need.
TEST_F(VulkanProducts, OfLargeTilesHaveTheSameBits) {
  const BothWays ways;
  if (!ways.as_it_is.is_open()) GTEST_SKIP() << ways.as_it_is.failure().message;
  const Product large = {.matrices = 9, .rows = 230, .deep = 21, .columns = 205};
  const std::vector<float> a = drawn(9 * 230 * 21, 1), b = drawn(9 * 21 * 205, 2);
  for (const Product& product : transposed(large, TENON_FLOAT32)) {
    const Bytes y = ways.multiply(product, bytes_of(a), bytes_of(b));
    expect_elements(y, expected(product, a, b));
  }
}

// Rather than a wrong sum.
TEST_F(VulkanProducts, SayThatTheDriverEndsLoopsThatAreThatLong) {
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
  tenon_launch launch = launch_of(inputs, {&output, 1});
  const Failure failure = take(Bench::calls().launch(kernel.handle(), queue.get(), &launch));
  queue.wait();
  const bool ends_loops = capabilities_of(bench.device()).max_iterations < UINT64_MAX;
  EXPECT_EQ(failure.code, ends_loops ? TENON_UNIMPLEMENTED : TENON_OK) << failure.message;
}

}  // namespace
}  // namespace tenon_vulkan::testing
