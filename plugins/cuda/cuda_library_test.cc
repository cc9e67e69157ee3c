// Tests of matrix products through cuBLASLt, which an emulated library replaces.

#include "plugins/cuda/testing/operands.h"

namespace tenon_cuda::testing {
namespace {

constexpr int64_t kSide = 64;  // The minimum size for which the plugin uses cuBLASLt.

// Returns the product of matrices [n, m, k] and [n, k, columns], whose elements are a(...) and
// b(...).
Numbers product(int64_t n, int64_t m, int64_t columns, int64_t k,
                const std::function<int64_t(int64_t, int64_t, int64_t)>& a,
                const std::function<int64_t(int64_t, int64_t, int64_t)>& b) {
  Numbers result;
  for (int64_t i = 0; i < n * m * columns; ++i) {
    const int64_t matrix = i / (m * columns), row = i / columns % m, column = i % columns;
    int64_t sum = 0;
    for (int64_t d = 0; d < k; ++d) sum += a(matrix, row, d) * b(matrix, d, column);
    result.push_back(static_cast<double>(sum));
  }
  return result;
}

// Runs an op twice. `is_used` specifies whether the op must use cuBLASLt. In the first run,
// cuBLASLt fails, so the op must fail exactly if `is_used` is true. Returns the result of the
// second run, which has no fault.
Result expect_library(const Bench& bench, bool is_used, uint32_t op, const void* attrs,
                      const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  {
    const Fault fault("cublasLtMatmul:1");
    const Result failed = bench.run(op, attrs, inputs, outputs);
    // If a part of the launch was already enqueued, the failure is reported to the host and not
    // returned.
    std::string message = failed.failure.message;
    std::lock_guard guard(reported_failures().mutex);
    for (const auto& [ticket, each] : reported_failures().failed) message += each.message;
    reported_failures().failed.clear();
    EXPECT_EQ(message.find("cublasLtMatmul") != std::string::npos, is_used) << message;
  }
  const Result result = bench.run(op, attrs, inputs, outputs);
  EXPECT_EQ(result.failure.message + result.refusal, "");
  EXPECT_FALSE(result.overran);
  return result;
}

class CudaLibrary : public ::testing::TestWithParam<tenon_dtype> {};

TEST_P(CudaLibrary, MultipliesLargeMatrices) {
  const Bench bench;
  const int64_t m = 66, n = 65, k = kSide;
  const tenon_dtype dtype = GetParam();
  const Result result = expect_library(bench, true, TENON_OP_matmul, nullptr,
                                       {operand(dtype, {m, k}), operand(dtype, {k, n})},
                                       {zero_tensor(dtype, {m, n})});
  EXPECT_EQ(result[0].numbers(),
            product(
                1, m, n, k, [&](int64_t, int64_t row, int64_t d) { return element(row * k + d); },
                [&](int64_t, int64_t d, int64_t column) { return element(d * n + column); }));
}

// Sums of 64 products of at most 4 are integers that the half types represent exactly.
INSTANTIATE_TEST_SUITE_P(Dtypes, CudaLibrary,
                         ::testing::Values(TENON_FLOAT32, TENON_FLOAT64, TENON_FLOAT16,
                                           TENON_BFLOAT16));

// Both factors are transposed by attributes. `a` is broadcast over the batch and begins at an
// element with an odd index, so it is not aligned to 16 bytes; `b` is strided.
TEST(CudaLibraryProducts, PacksFactorsThatTheLibraryCannotRead) {
  const Bench bench;
  const int64_t n = 2, side = kSide;
  const tenon_matmul_attrs attrs = {
      .struct_size = sizeof attrs, .transpose_a = true, .transpose_b = true};
  const Tensor a = operand(TENON_FLOAT32, {side * side + 1}).as({n, side, side}, {0, side, 1}, 1);
  const Tensor b =
      operand(TENON_FLOAT32, {n, side, side}).as({n, side, side}, {side * side, 1, side});
  const Result result =
      expect_library(bench, true, TENON_OP_matmul, &attrs, {a, b}, {f32({n, side, side}, {})});
  EXPECT_EQ(result[0].numbers(),
            product(
                n, side, side, side,
                [&](int64_t, int64_t row, int64_t d) { return element(1 + d * side + row); },
                [&](int64_t matrix, int64_t d, int64_t column) {
                  return element(matrix * side * side + d * side + column);
                }));
}

TEST(CudaLibraryProducts, BroadcastsARightMatrixOverTheBatch) {
  const Bench bench;
  const int64_t n = 3, side = kSide;
  const Tensor b = operand(TENON_FLOAT32, {side, side}).as({n, side, side}, {0, side, 1});
  const Result result =
      expect_library(bench, true, TENON_OP_matmul, nullptr,
                     {operand(TENON_FLOAT32, {n, side, side}), b}, {f32({n, side, side}, {})});
  EXPECT_EQ(result[0].numbers(),
            product(
                n, side, side, side,
                [&](int64_t matrix, int64_t row, int64_t d) {
                  return element((matrix * side + row) * side + d);
                },
                [&](int64_t, int64_t d, int64_t column) { return element(d * side + column); }));
}

TEST(CudaLibraryProducts, GemmScalesAndAddsAfterTheLibraryProduct) {
  const Bench bench;
  const int64_t side = kSide;
  const tenon_gemm_attrs attrs = {.struct_size = sizeof attrs, .alpha = 2, .beta = -3};
  const Result result =
      expect_library(bench, true, TENON_OP_gemm, &attrs,
                     {operand(TENON_FLOAT32, {side, side}), operand(TENON_FLOAT32, {side, side}),
                      operand(TENON_FLOAT32, {side})},
                     {f32({side, side}, {})});
  Numbers expected = product(
      1, side, side, side, [&](int64_t, int64_t row, int64_t d) { return element(row * side + d); },
      [&](int64_t, int64_t d, int64_t column) { return element(d * side + column); });
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] =
        2 * expected[i] - 3 * static_cast<double>(element(static_cast<int64_t>(i) % side));
  }
  EXPECT_EQ(result[0].numbers(), expected);
}

// Longer sums would exceed the error bound of strict numerics (docs/numerics.md).
TEST(CudaLibraryProducts, LongStrictSumsDoNotUseTheLibrary) {
  Bench bench;
  const Tensor a = by_value(f32({}, {1})).as({kSide, 4097}, {0, 0});
  const Tensor b = by_value(f32({}, {1})).as({4097, kSide}, {0, 0});
  const std::vector<Tensor> y = {f32({kSide, kSide}, {})};
  const Result strict = expect_library(bench, false, TENON_OP_matmul, nullptr, {a, b}, y);
  EXPECT_EQ(strict[0].numbers()[0], 4097);
  bench.request_flags = 0;
  expect_library(bench, true, TENON_OP_matmul, nullptr, {a, b}, y);
}

TEST(CudaLibraryProducts, OnlyFastNumericsUseTf32) {
  Bench bench;
  const double above_one = 1 + 1.0 / 4096;  // TF32 cannot represent this number.
  const Tensor a = by_value(f32({}, {static_cast<float>(above_one)})).as({kSide, kSide}, {0, 0});
  const Tensor b = by_value(f32({}, {1})).as({kSide, kSide}, {0, 0});
  const std::vector<Tensor> y = {f32({kSide, kSide}, {})};
  EXPECT_EQ(bench.run(TENON_OP_matmul, nullptr, {a, b}, y)[0].numbers()[0], 64 * above_one);
  bench.request_flags = 0;
  EXPECT_EQ(bench.run(TENON_OP_matmul, nullptr, {a, b}, y)[0].numbers()[0], 64);
}

TEST(CudaLibraryProducts, ProductsUseOwnKernelsIfTheLibraryIsMissing) {
  const Variable none("TENON_CUDA_CUBLASLT", "");
  const Bench bench;
  const Tensor one = by_value(f32({}, {1})).as({kSide, kSide}, {0, 0});
  const Result result = bench.run(TENON_OP_matmul, nullptr, {one, one}, {f32({kSide, kSide}, {})});
  ASSERT_EQ(result.failure.message, "");
  EXPECT_EQ(result[0].numbers()[0], 64);
}

TEST(CudaLibraryProducts, MissingLibraryNamedByTheEnvironmentVariableIsAnError) {
  const Variable missing("TENON_CUDA_CUBLASLT", "/none/libcublasLt.so.13");
  const Bench bench;
  const Tensor one = by_value(f32({}, {1})).as({kSide, kSide}, {0, 0});
  const Result result = bench.run(TENON_OP_matmul, nullptr, {one, one}, {f32({kSide, kSide}, {})});
  EXPECT_EQ(result.failure.code, TENON_UNAVAILABLE);
  EXPECT_NE(result.failure.message.find("/none/libcublasLt.so.13"), std::string::npos)
      << result.failure.message;
}

}  // namespace
}  // namespace tenon_cuda::testing
