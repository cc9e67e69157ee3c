#include "plugins/vulkan/testing/products.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "plugins/vulkan/kernels/product.h"

namespace tenon_vulkan::testing {

std::vector<float> random_values(int64_t n, uint32_t seed) {
  std::minstd_rand random(seed);
  std::uniform_real_distribution<float> draw(-1, 1);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = draw(random);
  return values;
}

tenon_matmul_attrs attrs_of(const Product& product) {
  return {.struct_size = sizeof(tenon_matmul_attrs),
          .transpose_a = product.transpose_a,
          .transpose_b = product.transpose_b};
}

// Returns the operand of a matmul with this layout: matrices in the dtype of the product.
tenon_operand operand_of(const Product& product, tenon_stride_class strides) {
  return {.dtype = product.dtype, .rank = 3, .strides = strides};
}

PreparedKernel matmul_kernel(const TestDevice& bench, const Product& product) {
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

// Runs the kernel with the workspace that it requests. Returns whether it requests a workspace.
bool run(const TestDevice& bench, const Queue& queue, const PreparedKernel& kernel,
         std::span<const tenon_view> inputs, std::span<const tenon_view> outputs) {
  tenon_launch launch = launch_of(inputs, outputs);
  std::optional<Memory> workspace;
  launch.workspace_size = TestDevice::calls().workspace(kernel.handle(), &launch);
  if (launch.workspace_size > 0) {
    launch.workspace.buffer = workspace.emplace(bench, launch.workspace_size).get();
    launch.workspace.dtype = TENON_UINT8;
  }
  EXPECT_SUCCESS(TestDevice::calls().launch(kernel.handle(), queue.get(), &launch));
  queue.wait();
  return workspace.has_value();
}

namespace {

// For a product z and a row c that is broadcast to all rows, computes s = z + c and s * s by three
// launches. Then computes the same values by one launch with an epilogue. Both must return the same
// bits.
void expect_same_as_epilogue(const TestDevice& bench, const Queue& queue, const Product& product,
                             std::span<const tenon_view> factors, const Matrices& of_y) {
  const uint64_t size = of_y.bytes();
  const Memory memory[] = {
      {bench, size}, {bench, size}, {bench, size}, {bench, size}, {bench, size}};
  const auto view = [&](size_t i) { return of_y.view(memory[i], 0); };
  const auto bytes = [&](size_t i) { return queue.bytes(memory[i], size); };
  const tenon_view z = view(0), s = view(1), want = view(2), z_of_loop = view(3), y = view(4);
  tenon_view c = factors[0];  // The values are arbitrary.
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
  const tenon_kernel_request anchor = {.struct_size = sizeof anchor,
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
                                      .anchor = &anchor};
  const PreparedKernel loop(bench, request);
  ASSERT_NE(loop.handle(), nullptr);
  const tenon_view all[] = {factors[0], factors[1], c, s}, results[] = {z_of_loop, y};
  run(bench, queue, loop, all, results);
  EXPECT_TRUE(bytes(3) == bytes(0)) << "the product";
  EXPECT_TRUE(bytes(4) == bytes(2)) << "epilogue";
}

}  // namespace

// Computes the product on the device, and checks that a fused epilogue returns the same bits.
Result run_product(const TestDevice& bench, const Product& product, const Bytes& a,
                   const Bytes& b) {
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
  expect_same_as_epilogue(bench, queue, product, inputs, of_y);
  return {queue.bytes(memory_y, size), is_packed};
}

// Returns the number of values of k per chunk of a sum on the device.
int64_t chunk_length(const TestDevice& bench, const Product& p) {
  const ProductSizes sizes = {
      .matrices = p.matrices, .rows = p.rows, .columns = p.columns, .deep = p.deep};
  return choose_split_k(capabilities_of(bench.device()), product_dtype(p.dtype), sizes).steps;
}

}  // namespace tenon_vulkan::testing
