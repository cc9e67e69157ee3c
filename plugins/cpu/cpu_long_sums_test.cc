// Tests sums of a million equal terms. In a serial float32 sum, many consecutive rounding errors
// have the same sign, so its error is 1 %. Ops must be more accurate.

#include <gtest/gtest.h>

#include <numeric>

#include "plugins/cpu/cpu_testing.h"

namespace tenon_simd {
namespace {

using namespace tenon_sdk::testing;

constexpr int64_t kMillion = 1 << 20;
constexpr float kTerm = 0.1f;
constexpr double kSum = static_cast<double>(kTerm) * kMillion;
// The error that docs/numerics.md allows for sums of this many terms.
constexpr double kBound = (4096 + 2 * 1024) * 0x1p-24;

Tensor terms(const List& sizes) {
  const auto n = static_cast<size_t>(tenon_sdk::count(sizes.size(), sizes.data()));
  return tensor_of(std::vector<float>(n, kTerm), sizes);
}
Tensor ones(const List& sizes) {
  const auto n = static_cast<size_t>(tenon_sdk::count(sizes.size(), sizes.data()));
  return tensor_of(std::vector<float>(n, 1.0f), sizes);
}
Tensor index_zeros(const List& sizes) { return zeros_of(TENON_INT64, sizes); }

void expect_sums(const Tensor& y, double want = kSum) {
  for (const double sum : y.numbers()) ASSERT_NEAR(sum, want, kBound * want);
}

TEST(CpuLongSums, ReductionsStayWithinTheBound) {
  const int64_t first[] = {0};
  const tenon_sum_attrs all{sizeof all, nullptr, 0, false}, along{sizeof along, first, 1, false};
  const Tensor row = terms({kMillion}), columns = terms({kMillion, 3});

  expect_sums(cpu().run(TENON_OP_sum, &all, {row}, {terms({})})[0]);
  expect_sums(cpu().run(TENON_OP_mean, &all, {row}, {terms({})})[0], kTerm);
  expect_sums(cpu().run(TENON_OP_sum, &along, {columns}, {terms({3})})[0]);
  expect_sums(cpu().run(TENON_OP_sum, &along, {scattered(columns)}, {terms({3})})[0]);
}

TEST(CpuLongSums, ScansStayWithinTheBound) {
  for (const bool is_reverse : {false, true}) {
    const tenon_cumsum_attrs attrs{sizeof attrs, 0, false, is_reverse};
    const Tensor x = terms({kMillion});
    const Numbers y = cpu().run(TENON_OP_cumsum, &attrs, {x}, {x})[0].numbers();
    for (size_t i = 0; i < y.size(); i += 4097) {
      const double n = static_cast<double>(is_reverse ? y.size() - i : i + 1);
      ASSERT_NEAR(y[i], n * kTerm, kBound * n * kTerm);
    }
  }
}

// Products of one row, of few columns, in tiles, and a large product that a BLAS may compute.
TEST(CpuLongSums, ProductsStayWithinTheBound) {
  const tenon_matmul_attrs attrs{sizeof attrs, false, false};
  const int64_t sizes[][2] = {{1, 1}, {1, 5}, {5, 1}, {13, 33}};
  for (const auto& [m, n] : sizes) {
    const Tensor a = terms({m, kMillion}), b = ones({kMillion, n});
    expect_sums(cpu().run(TENON_OP_matmul, &attrs, {a, b}, {terms({m, n})})[0]);
  }
  constexpr int64_t kDeep = 16384;
  const Tensor a = terms({512, kDeep}), b = ones({kDeep, 64});
  expect_sums(cpu().run(TENON_OP_matmul, &attrs, {a, b}, {terms({512, 64})})[0],
              static_cast<double>(kTerm) * kDeep);
}

TEST(CpuLongSums, ConvolutionsAndFilterGradientsStayWithinTheBound) {
  const tenon_conv_attrs conv{.struct_size = sizeof conv, .group = 1};
  const List image{1, 1, 1024, 1024}, one{1, 1, 1, 1};
  expect_sums(cpu().run(TENON_OP_conv, &conv, {terms(image), ones(image)}, {terms(one)})[0]);

  for (const List& sizes : {image, List{4096, 1, 16, 16}}) {
    const tenon_conv_backward_filter_attrs filter{
        .struct_size = sizeof filter, .shape = one.data(), .n_shape = one.size(), .group = 1};
    expect_sums(cpu().run(TENON_OP_conv_backward_filter, &filter, {terms(sizes), ones(sizes)},
                          {terms(one)})[0]);
  }
}

TEST(CpuLongSums, WindowSumsStayWithinTheBound) {
  for (const List& kernel : {List{1, kMillion}, List{kMillion, 1}, List{1024, 1024}}) {
    const tenon_window_sum_attrs attrs{.struct_size = sizeof attrs,
                                       .kernel_shape = kernel.data(),
                                       .n_kernel_shape = kernel.size()};
    expect_sums(cpu().run(TENON_OP_window_sum, &attrs, {terms({1, 1, kernel[0], kernel[1]})},
                          {terms({1, 1, 1, 1})})[0]);
  }
}

// One element gets a million updates; the other elements get few.
TEST(CpuLongSums, ScattersStayWithinTheBound) {
  const auto indices = [](List sizes) {
    std::vector<int64_t> at(kMillion, 1);
    at[5] = at[6] = at[kMillion - 1] = 0;
    return tensor_of(at, std::move(sizes));
  };
  const tenon_scatter_elements_attrs elements{sizeof elements, 0, TENON_SCATTER_REDUCTION_ADD};
  const Numbers y = cpu()
                        .run(TENON_OP_scatter_elements, &elements,
                             {terms({3}), indices({kMillion}), terms({kMillion})}, {terms({3})})[0]
                        .numbers();
  EXPECT_NEAR(y[0], 4 * kTerm, 1e-6);
  EXPECT_NEAR(y[1], kSum - 2 * kTerm, kBound * kSum);
  EXPECT_EQ(y[2], kTerm);

  const tenon_scatter_nd_attrs nd{sizeof nd, TENON_SCATTER_REDUCTION_ADD};
  const Numbers rows =
      cpu()
          .run(TENON_OP_scatter_nd, &nd,
               {terms({3, 2}), indices({kMillion, 1}), terms({kMillion, 2})}, {terms({3, 2})})[0]
          .numbers();
  for (const size_t column : {0, 1}) {
    EXPECT_NEAR(rows[column], 4 * kTerm, 1e-6);
    EXPECT_NEAR(rows[2 + column], kSum - 2 * kTerm, kBound * kSum);
    EXPECT_EQ(rows[4 + column], kTerm);
  }
}

// In a half type, a serial sum of ones stops growing at 256.
TEST(CpuLongSums, SumsOfHalfTypesAreRoundedOnce) {
  using tenon_sdk::BFloat16;
  const tenon_scatter_elements_attrs attrs{sizeof attrs, 0, TENON_SCATTER_REDUCTION_ADD};
  const Tensor updates = tensor_of(std::vector<BFloat16>(1000, BFloat16(1.0f)), {1000});
  const Tensor y = tensor_of(std::vector<BFloat16>(1, BFloat16(0.0f)), {1});
  for (const Plugin* plugin : {&cpu(), &ref()}) {
    const Launched got =
        plugin->run(TENON_OP_scatter_elements, &attrs, {y, index_zeros({1000}), updates}, {y});
    EXPECT_EQ(got[0].numbers(), (Numbers{1000}));
  }
}

TEST(CpuLongSums, AttentionOverManyKeysStaysWithinTheBound) {
  constexpr int64_t kKeys = kMillion / 4;
  const tenon_attention_attrs attrs{.struct_size = sizeof attrs};
  const Launched y =
      cpu().run(TENON_OP_attention, &attrs,
                {terms({1, 1, 1, 2}), ones({1, 1, kKeys, 2}), terms({1, 1, kKeys, 2})},
                {terms({1, 1, 1, 2})});
  expect_sums(y[0], kTerm);
}

}  // namespace
}  // namespace tenon_simd
