// Compares linear algebra with ref, and checks that layouts and threads do not change bits.

#include <gtest/gtest.h>

#include "plugins/cpu/cpu_testing.h"

namespace tenon_simd {
namespace {

using namespace tenon_sdk::testing;

const tenon_dtype kDtypes[] = {TENON_FLOAT32, TENON_FLOAT64};
const int64_t kSides[] = {0, 1, 2, 3, 7, 16, 33, 65, 130};

// Tolerance for a few operations on numbers of magnitude 1.
double bound_of(tenon_dtype dtype, int64_t n) {
  return (dtype == TENON_FLOAT32 ? 0x1p-23 : 0x1p-52) * 8 * static_cast<double>(n + 1);
}

// Three random matrices with `shift` added to their diagonals, which makes them well conditioned.
Tensor matrices(tenon_dtype dtype, int64_t m, int64_t n, double shift = 0, bool symmetric = false) {
  return tenon_sdk::dispatch<tenon_sdk::Types<float, double>>(
      dtype, [&]<class T>(tenon_sdk::Type<T>) {
        std::vector<T> elements = random_elements<T>(static_cast<size_t>(3 * m * n), -1, 1);
        const auto at = [&](int64_t b, int64_t i, int64_t j) -> T& {
          return elements[static_cast<size_t>((b * m + i) * n + j)];
        };
        for (int64_t b = 0; b < 3; ++b) {
          for (int64_t i = 0; i < std::min(m, n); ++i) {
            at(b, i, i) += static_cast<T>(shift);
            for (int64_t j = 0; symmetric && j < i; ++j) at(b, j, i) = at(b, i, j);
          }
        }
        return tensor_of(elements, {3, m, n});
      });
}

void expect_like_ref(uint32_t op, const void* attrs, const std::vector<Tensor>& inputs,
                     const std::vector<Tensor>& outputs, double bound) {
  const Launched want = ref().run(op, attrs, inputs, outputs);
  const Launched got = cpu().run(op, attrs, inputs, outputs);
  ASSERT_EQ(got.refusal, "");
  EXPECT_FALSE(got.overran);
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_TRUE(close(got[i], want[i], bound)) << "output " << i;
  }
}

TEST(CpuLinalg, TriangularSystemsAgreeWithRef) {
  for (const tenon_dtype dtype : kDtypes) {
    for (const int64_t n : kSides) {
      const Tensor a = matrices(dtype, n, n, static_cast<double>(n + 2));
      for (int flags = 0; flags < 16; ++flags) {
        const bool left = (flags & 8) != 0;
        const Tensor b = matrices(dtype, left ? n : 4, left ? 4 : n);
        tenon_triangular_solve_attrs attrs = TENON_TRIANGULAR_SOLVE_ATTRS_DEFAULT;
        attrs.lower = (flags & 1) != 0;
        attrs.transpose = (flags & 2) != 0;
        // Otherwise the solutions grow without bound.
        attrs.unit_diagonal = (flags & 4) != 0 && n <= 7;
        attrs.left = left;
        expect_like_ref(TENON_OP_triangular_solve, &attrs, {a, b}, {zeros_of(dtype, b.sizes)},
                        bound_of(dtype, n));
      }
    }
  }
}

TEST(CpuLinalg, CholeskyAndEliminationAgreeWithRef) {
  for (const tenon_dtype dtype : kDtypes) {
    for (const int64_t n : kSides) {
      const Tensor x = matrices(dtype, n, n, static_cast<double>(n), true);
      const Tensor y = zeros_of(dtype, x.sizes), b = matrices(dtype, n, 5);
      const Tensor each = zeros_of(dtype, {3});
      const double bound = bound_of(dtype, n);
      for (const bool upper : {false, true}) {
        const tenon_cholesky_attrs attrs = {sizeof(tenon_cholesky_attrs), upper};
        expect_like_ref(TENON_OP_cholesky, &attrs, {x}, {y}, bound);
      }
      expect_like_ref(TENON_OP_solve, nullptr, {x, b}, {zeros_of(dtype, b.sizes)}, bound);
      expect_like_ref(TENON_OP_slogdet, nullptr, {x}, {each, each}, bound);
      if (n <= 16) expect_like_ref(TENON_OP_det, nullptr, {x}, {each}, bound);
    }
  }
}

TEST(CpuLinalg, DecompositionsAgreeWithRef) {
  for (const tenon_dtype dtype : kDtypes) {
    for (const int64_t n : kSides) {
      // The diagonal separates the eigenvalues, so that vectors keep their order.
      Tensor x = matrices(dtype, n, n, 0, true);
      tenon_sdk::dispatch<tenon_sdk::Types<float, double>>(dtype, [&]<class T>(tenon_sdk::Type<T>) {
        std::vector<T> elements = x.elements<T>();
        for (size_t i = 0; i < elements.size(); ++i) {
          const auto row = static_cast<int64_t>(i) / n % n, column = static_cast<int64_t>(i) % n;
          elements[i] =
              row == column ? static_cast<T>(3 * row + 2) : elements[i] / static_cast<T>(n);
        }
        x = tensor_of(elements, {3, n, n});
        return 0;
      });
      const Tensor square = zeros_of(dtype, {3, n, n}), values = zeros_of(dtype, {3, n});
      // The error of vectors is the size of the matrix over the distance of values, which is n.
      const double bound = bound_of(dtype, n) * static_cast<double>(n + 1);
      expect_like_ref(TENON_OP_eigh, nullptr, {x}, {values, square}, bound);
      expect_like_ref(TENON_OP_svd, nullptr, {x}, {square, values, square}, bound);
      expect_like_ref(TENON_OP_qr, nullptr, {x}, {square, square}, bound);
    }
    for (const List& shape : {List{9, 4}, List{4, 9}, List{70, 3}, List{3, 70}}) {
      const int64_t m = shape[0], n = shape[1], k = std::min(m, n);
      const Tensor x = matrices(dtype, m, n, 2);
      const Tensor left = zeros_of(dtype, {3, m, k}), right = zeros_of(dtype, {3, k, n});
      expect_like_ref(TENON_OP_qr, nullptr, {x}, {left, right}, bound_of(dtype, 70));
      expect_like_ref(TENON_OP_svd, nullptr, {x}, {left, zeros_of(dtype, {3, k}), right},
                      bound_of(dtype, 70));
    }
  }
}

TEST(CpuLinalg, ExtremeSizesNeitherOverflowNorVanish) {
  const Tensor values = zeros_of(TENON_FLOAT32, {1}), one = zeros_of(TENON_FLOAT32, {1, 1});
  for (const float size : {1e-44f, 1e-30f, 1e30f, 3e38f}) {
    const Tensor x = f32({1, 1}, {size});
    EXPECT_EQ(cpu().run(TENON_OP_svd, nullptr, {x}, {one, values, one})[1].numbers(), x.numbers());
    EXPECT_EQ(cpu().run(TENON_OP_eigh, nullptr, {x}, {values, one})[0].numbers(), x.numbers());
    EXPECT_EQ(cpu().run(TENON_OP_qr, nullptr, {x}, {one, one})[1].numbers(), x.numbers());
  }
}

// The bits of all outputs, concatenated.
std::vector<std::byte> bits_of(const Plugin& plugin, uint32_t op, const std::vector<Tensor>& inputs,
                               const std::vector<Tensor>& outputs) {
  std::vector<std::byte> bits;
  for (const Tensor& y : plugin.run(op, nullptr, inputs, outputs).outputs) {
    bits.insert(bits.end(), y.bytes.begin(), y.bytes.end());
  }
  return bits;
}

// OpenBLAS takes its buffers from one global table.
TEST(CpuLinalg, ConcurrentSmallMatricesDoNotInterfere) {
  const Plugin one(TENON_PLUGIN_FILE, 1), four(TENON_PLUGIN_FILE, 4);
  constexpr int64_t kMany = 20000, kSide = 10;
  const Tensor a = random_tensor(TENON_FLOAT32, {kMany, kSide, kSide}, 1, 2);
  const Tensor b = random_tensor(TENON_FLOAT32, {kMany, kSide, kSide}, -1, 1);
  for (const uint32_t op : {TENON_OP_triangular_solve, TENON_OP_solve}) {
    const std::vector<Tensor> inputs = {a, b}, outputs = {zeros_of(TENON_FLOAT32, b.sizes)};
    const auto bits = bits_of(one, op, inputs, outputs);
    for (int round = 0; round < 5; ++round) {
      EXPECT_TRUE(bits_of(four, op, inputs, outputs) == bits) << "op " << op;
    }
  }
}

TEST(CpuLinalg, BitsDependNeitherOnLayoutNorOnThreads) {
  const Plugin one(TENON_PLUGIN_FILE, 1), four(TENON_PLUGIN_FILE, 4);
  constexpr int64_t kSide = 40;
  const Tensor x = random_tensor(TENON_FLOAT32, {20, kSide, kSide}, -1, 1);
  const Tensor swapped = x.as({20, kSide, kSide}, {kSide * kSide, 1, kSide});
  const std::vector<float> from = x.elements<float>();
  std::vector<float> to(from.size());
  for (int64_t i = 0; i < 20 * kSide * kSide; ++i) {
    const int64_t batch = i / (kSide * kSide), row = i / kSide % kSide, column = i % kSide;
    to[static_cast<size_t>(i)] = from[static_cast<size_t>((batch * kSide + column) * kSide + row)];
  }
  const Tensor packed = tensor_of(to, x.sizes);  // The elements of `swapped`, dense.
  const Tensor square = zeros_of(TENON_FLOAT32, x.sizes),
               values = zeros_of(TENON_FLOAT32, {20, kSide});
  const auto expect_same = [&](uint32_t op, bool two, const std::vector<Tensor>& outputs) {
    const auto inputs = [&](const Tensor& first) {
      return two ? std::vector<Tensor>{first, x} : std::vector<Tensor>{first};
    };
    const auto bits = bits_of(one, op, inputs(packed), outputs);
    EXPECT_TRUE(bits_of(four, op, inputs(packed), outputs) == bits) << "threads, op " << op;
    EXPECT_TRUE(bits_of(four, op, inputs(swapped), outputs) == bits) << "layout, op " << op;
  };
  expect_same(TENON_OP_svd, false, {square, values, square});
  expect_same(TENON_OP_eigh, false, {values, square});
  expect_same(TENON_OP_qr, false, {square, square});
  expect_same(TENON_OP_solve, true, {square});
  expect_same(TENON_OP_triangular_solve, true, {square});
}

}  // namespace
}  // namespace tenon_simd
