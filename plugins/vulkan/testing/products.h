// Helpers of tests that compare matrix products of a device with a loop on the host.

#pragma once

#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {

struct Product {
  int64_t matrices, rows, deep, columns;
  bool transpose_a = false, transpose_b = false;
  int64_t offset =
      0;  // Offset of the first element of `a`. Vectorised accesses require a multiple of four.
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

// Returns `n` random numbers between -1 and 1.
std::vector<float> random_values(int64_t n, uint32_t seed);

// Returns the expected values of some elements as pairs of index and value: the first element, the
// last element, and at most about 2000 samples in between. Sums are split into chunks of `steps`
// values of k; 0: not split.
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

// Return the attributes and the operands of a matmul, and prepare its kernel.
tenon_matmul_attrs attrs_of(const Product& product);
tenon_operand operand_of(const Product& product, tenon_stride_class strides = TENON_STRIDES_DENSE);
PreparedKernel matmul_kernel(const TestDevice& bench, const Product& product);
// Returns a launch with these inputs and outputs.
tenon_launch launch_of(std::span<const tenon_view> inputs, std::span<const tenon_view> outputs);

// Runs the kernel with the workspace that it requests. Returns whether it requests a workspace.
bool run(const TestDevice& bench, const Queue& queue, const PreparedKernel& kernel,
         std::span<const tenon_view> inputs, std::span<const tenon_view> outputs);

// The bytes of a product, and whether the device packed its factors.
struct Result {
  Bytes bytes;
  bool is_packed = false;
};

// Computes the product on the device. Also checks that a fused epilogue returns the same bits as
// separate launches.
Result run_product(const TestDevice& bench, const Product& product, const Bytes& a, const Bytes& b);

// Returns the bytes of the values.
template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto* const first = reinterpret_cast<const uint8_t*>(values.data());
  return Bytes(first, first + values.size() * sizeof(T));
}

// Expects that the elements with these indices have these values, bit by bit.
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

// Returns the number of values of k per chunk of a sum on the device.
int64_t chunk_length(const TestDevice& bench, const Product& p);

}  // namespace tenon_vulkan::testing
