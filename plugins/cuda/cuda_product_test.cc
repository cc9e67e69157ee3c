// Tests of matrix products, convolutions and attention of more than one tile. Elements are small
// integers, so that the order of a sum does not affect its result.

#include <cmath>

#include "plugins/cuda/testing/operands.h"

namespace tenon_cuda::testing {
namespace {

using namespace tenon_sdk::testing;

class CudaProduct : public ::testing::TestWithParam<tenon_dtype> {};

// The product has three tiles of rows, the last one with few rows, and k is split into three
// chunks, the last one shorter.
TEST_P(CudaProduct, SeveralTilesAndSplitsGiveTheExactSums) {
  const Bench bench;
  const int64_t m = 130, n = 9, k = 2100;
  // A transposed view of `a`, whose rows are not contiguous.
  const Tensor a = operand(GetParam(), {k, m}).as({m, k}, {1, m});
  const tenon_dtype dtype = GetParam();
  Tensor y = zero_tensor(dtype, {m, n});
  const Result result = bench.run(TENON_OP_matmul, nullptr, {a, operand(dtype, {k, n})}, {y});
  ASSERT_EQ(result.failure.message + result.refusal, "");
  Numbers expected;
  for (int64_t i = 0; i < m * n; ++i) {
    int64_t sum = 0;
    for (int64_t d = 0; d < k; ++d) sum += element(d * m + i / n) * element(d * n + i % n);
    expected.push_back(static_cast<double>(sum));
  }
  if (dtype == TENON_BFLOAT16 || dtype == TENON_FLOAT16) {
    const double relative = dtype == TENON_FLOAT16 ? 1.0 / 2048 : 1.0 / 256;
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(result[0].numbers()[i], expected[i], std::abs(expected[i]) * relative) << i;
    }
  } else {
    EXPECT_EQ(result[0].numbers(), expected);
  }
  EXPECT_FALSE(result.overran);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, CudaProduct,
                         ::testing::Values(TENON_FLOAT32, TENON_FLOAT64, TENON_INT32, TENON_FLOAT16,
                                           TENON_BFLOAT16));

// ---- convolutions of two dimensions, against loops over all indices

struct ConvCase {
  const char* name;
  int64_t n, channels, out_channels, group, step, dilation, pad, lhs_dilation;
  List x_sizes, taps;
};
void PrintTo(const ConvCase& each, std::ostream* out) { *out << each.name; }

class CudaConv : public ::testing::TestWithParam<ConvCase> {
 protected:
  List x_shape() const {
    const ConvCase& c = GetParam();
    return {c.n, c.channels, c.x_sizes[0], c.x_sizes[1]};
  }
  List w_shape() const {
    const ConvCase& c = GetParam();
    return {c.out_channels, c.channels / c.group, c.taps[0], c.taps[1]};
  }
  List y_shape() const {
    const ConvCase& c = GetParam();
    List shape = {c.n, c.out_channels};
    for (size_t i = 0; i < 2; ++i) {
      const int64_t room = (c.x_sizes[i] - 1) * c.lhs_dilation + 1 + 2 * c.pad;
      shape.push_back((room - (c.taps[i] - 1) * c.dilation - 1) / c.step + 1);
    }
    return shape;
  }
  // Calls f(index of x, of w and of y) for each product of the convolution.
  template <class F>
  void each_product(F&& f) const {
    const ConvCase& c = GetParam();
    const List x = x_shape(), w = w_shape(), y = y_shape();
    for (int64_t i = 0; i < tenon_sdk::count(4, y.data()); ++i) {
      const int64_t column = i % y[3], row = i / y[3] % y[2], out = i / (y[3] * y[2]) % y[1],
                    n = i / (y[3] * y[2] * y[1]);
      for (int64_t t = 0; t < w[1] * w[2] * w[3]; ++t) {
        const int64_t tap[] = {t / w[3] % w[2], t % w[3]}, channel = t / (w[3] * w[2]);
        const int64_t at[] = {row, column};
        int64_t found[2];
        bool is_there = true;
        for (size_t axis = 0; axis < 2; ++axis) {
          const int64_t place = at[axis] * c.step + tap[axis] * c.dilation - c.pad;
          is_there = is_there && place >= 0 && place % c.lhs_dilation == 0;
          found[axis] = place / c.lhs_dilation;
          is_there = is_there && found[axis] < x[axis + 2];
        }
        if (!is_there) continue;
        const int64_t in = out / (y[1] / c.group) * w[1] + channel;
        f(((n * x[1] + in) * x[2] + found[0]) * x[3] + found[1], (out * w[1] * w[2] * w[3]) + t, i);
      }
    }
  }
  template <class Attrs>
  Attrs attrs(Attrs made) const {
    const ConvCase& c = GetParam();
    lists_ = {{c.step, c.step},
              {c.pad, c.pad, c.pad, c.pad},
              {c.dilation, c.dilation},
              {c.lhs_dilation, c.lhs_dilation}};
    made.strides = lists_[0].data();
    made.pads = lists_[1].data();
    made.dilations = lists_[2].data();
    made.lhs_dilation = lists_[3].data();
    made.n_strides = made.n_dilations = made.n_lhs_dilation = 2;
    made.n_pads = 4;
    made.group = c.group;
    return made;
  }
  void expect(const Result& result, const Numbers& expected) const {
    ASSERT_EQ(result.failure.message + result.refusal, "");
    EXPECT_EQ(result[0].numbers(), expected);
    EXPECT_FALSE(result.overran);
  }
  static Numbers zeros(const List& shape) {
    return Numbers(static_cast<size_t>(tenon_sdk::count(4, shape.data())), 0);
  }
  mutable std::vector<List> lists_;
};

TEST_P(CudaConv, GivesTheExactSums) {
  const Bench bench;
  const auto with = attrs<tenon_conv_attrs>(TENON_CONV_ATTRS_DEFAULT);
  Numbers expected = zeros(y_shape());
  each_product([&](int64_t x, int64_t w, int64_t y) {
    expected[static_cast<size_t>(y)] += static_cast<double>(element(x) * element(w));
  });
  expect(bench.run(TENON_OP_conv, &with,
                   {operand(TENON_FLOAT32, x_shape()), operand(TENON_FLOAT32, w_shape())},
                   {f32(y_shape(), {})}),
         expected);
}

TEST_P(CudaConv, BackwardFilterGivesTheExactSums) {
  const Bench bench;
  auto with = attrs<tenon_conv_backward_filter_attrs>(TENON_CONV_BACKWARD_FILTER_ATTRS_DEFAULT);
  const List shape = w_shape();
  with.shape = shape.data();
  with.n_shape = 4;
  Numbers expected = zeros(shape);
  each_product([&](int64_t x, int64_t w, int64_t y) {
    expected[static_cast<size_t>(w)] += static_cast<double>(element(x) * element(y));
  });
  expect(bench.run(TENON_OP_conv_backward_filter, &with,
                   {operand(TENON_FLOAT32, x_shape()), operand(TENON_FLOAT32, y_shape())},
                   {f32(shape, {})}),
         expected);
}

TEST_P(CudaConv, BackwardInputGivesTheExactSums) {
  const Bench bench;
  auto with = attrs<tenon_conv_backward_input_attrs>(TENON_CONV_BACKWARD_INPUT_ATTRS_DEFAULT);
  const List shape = x_shape();
  with.shape = shape.data();
  with.n_shape = 4;
  Numbers expected = zeros(shape);
  each_product([&](int64_t x, int64_t w, int64_t y) {
    expected[static_cast<size_t>(x)] += static_cast<double>(element(y) * element(w));
  });
  expect(bench.run(TENON_OP_conv_backward_input, &with,
                   {operand(TENON_FLOAT32, y_shape()), operand(TENON_FLOAT32, w_shape())},
                   {f32(shape, {})}),
         expected);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, CudaConv,
    ::testing::Values(ConvCase{"Tiles", 2, 9, 10, 1, 1, 1, 1, 1, {7, 6}, {3, 3}},
                      ConvCase{"Steps", 1, 8, 8, 1, 2, 1, 1, 1, {9, 8}, {3, 2}},
                      ConvCase{"StepsAndDilation", 1, 16, 18, 2, 3, 2, 2, 1, {11, 10}, {2, 3}},
                      ConvCase{"DilatedInput", 1, 8, 9, 1, 2, 1, 2, 3, {5, 4}, {4, 3}},
                      ConvCase{"LongSteps", 1, 8, 8, 1, 11, 1, 3, 1, {13, 12}, {2, 2}},
                      ConvCase{"Depthwise", 2, 4, 4, 4, 1, 1, 1, 1, {5, 5}, {3, 3}}),
    [](const auto& info) { return info.param.name; });

// ---- epilogues

TEST(CudaEpilogue, StoresTheResultsOfTheFusedLoop) {
  const Bench bench;
  const int64_t m = 70, n = 10, k = 3;
  const tenon_operand f32_matrix = {TENON_FLOAT32, 2, TENON_STRIDES_DENSE};
  const tenon_operand bias = {TENON_FLOAT32, 2, TENON_STRIDES_STRIDED};
  const auto line_of = [&](uint32_t op) {
    const tenon_kernel* found = nullptr;
    for (size_t i = 0; i < bench.plugin().n_kernels; ++i) {
      if (bench.plugin().kernels[i].op == op) found = &bench.plugin().kernels[i];
    }
    return found;
  };
  const tenon_operand factors[] = {f32_matrix, f32_matrix};
  tenon_kernel_request anchor = {};
  anchor.struct_size = sizeof anchor;
  anchor.line = line_of(TENON_OP_matmul);
  anchor.n_inputs = 2;
  anchor.n_outputs = 1;
  anchor.inputs = factors;
  anchor.outputs = &f32_matrix;
  // Value 0: the bias of a row; 1: the product; 2: their sum; 3: its absolute value.
  const uint32_t of_add[] = {1, 0}, of_abs[] = {2}, outputs[] = {1, 3};
  tenon_loop_instruction instructions[2] = {};
  instructions[0] = {line_of(TENON_OP_add), nullptr, of_add, 2, TENON_FLOAT32, 0, 0};
  instructions[1] = {line_of(TENON_OP_abs), nullptr, of_abs, 1, TENON_FLOAT32, 0, 0};
  tenon_loop_request request = {};
  request.struct_size = sizeof request;
  request.n_inputs = 1;
  request.n_instructions = 2;
  request.n_outputs = 2;
  request.inputs = &bias;
  request.instructions = instructions;
  request.outputs = outputs;
  request.anchor = &anchor;
  const Tensor a = operand(TENON_FLOAT32, {m, k}), b = operand(TENON_FLOAT32, {k, n});
  const Result result =
      bench.run_loop(request, {a, b, operand(TENON_FLOAT32, {m}).as({m, n}, {1, 0})},
                     {f32({m, n}, {}), f32({m, n}, {})});
  ASSERT_EQ(result.failure.message + result.refusal, "");
  Numbers product, shown;
  for (int64_t i = 0; i < m * n; ++i) {
    int64_t sum = 0;
    for (int64_t d = 0; d < k; ++d) sum += element(i / n * k + d) * element(d * n + i % n);
    product.push_back(static_cast<double>(sum));
    shown.push_back(static_cast<double>(std::abs(sum + element(i / n))));
  }
  EXPECT_EQ(result[0].numbers(), product);
  EXPECT_EQ(result[1].numbers(), shown);
  EXPECT_FALSE(result.overran);
}

// ---- attention over several tiles of keys, against the formula in double

class CudaAttention : public ::testing::TestWithParam<tenon_dtype> {};

TEST_P(CudaAttention, GivesTheWeightedMeans) {
  const Bench bench;
  const int64_t heads = 2, queries = 67, keys = 70, size = 5, columns = 66;
  const tenon_attention_attrs attrs = {
      .struct_size = sizeof attrs, .is_causal = true, .scale = 0, .softcap = 3};
  const tenon_dtype dtype = GetParam();
  // All keys are masked for the first query, so its result is zero. The other queries have only the
  // first key masked.
  const Tensor mask =
      filled(TENON_FLOAT32, {1, keys}, [](int64_t i) { return i == 0 ? -INFINITY : 0; });
  Tensor shown_mask = mask;
  if (dtype == TENON_FLOAT64) {
    shown_mask = filled(dtype, {1, keys}, [](int64_t i) { return i == 0 ? -INFINITY : 0; });
  } else if (dtype != TENON_FLOAT32) {
    shown_mask = boolean({1, keys}, {});
    for (size_t i = 0; i < shown_mask.bytes.size(); ++i) shown_mask.bytes[i] = std::byte{i > 0};
  }
  // Both query heads share one key head.
  const Result result =
      bench.run(TENON_OP_attention, &attrs,
                {operand(dtype, {1, heads, queries, size}), operand(dtype, {1, 1, keys, size}),
                 operand(dtype, {1, 1, keys, columns}), shown_mask},
                {zero_tensor(dtype, {1, heads, queries, columns})});
  ASSERT_EQ(result.failure.message + result.refusal, "");
  const double tolerance = dtype == TENON_FLOAT64   ? 1e-14
                           : dtype == TENON_FLOAT32 ? 2e-6
                           : dtype == TENON_FLOAT16 ? 1.0 / 1024
                                                    : 1.0 / 128;
  for (int64_t q = 0; q < heads * queries; ++q) {
    std::vector<double> weights(static_cast<size_t>(keys), 0);
    double sum = 0;
    for (int64_t key = 1; key < keys && key <= q % queries; ++key) {
      int64_t product = 0;
      for (int64_t d = 0; d < size; ++d) product += element(q * size + d) * element(key * size + d);
      const double score = std::tanh(static_cast<double>(product) / std::sqrt(5.0) / 3) * 3;
      sum += weights[static_cast<size_t>(key)] = std::exp(score);
    }
    for (int64_t c = 0; c < columns; ++c) {
      double mean = 0;
      for (int64_t key = 1; key < keys && sum > 0; ++key) {
        mean += weights[static_cast<size_t>(key)] / sum *
                static_cast<double>(element(key * columns + c));
      }
      ASSERT_NEAR(result[0].numbers()[static_cast<size_t>(q * columns + c)], mean, 2 * tolerance)
          << "query " << q << ", column " << c;
    }
  }
  EXPECT_FALSE(result.overran);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, CudaAttention,
                         ::testing::Values(TENON_FLOAT32, TENON_FLOAT64, TENON_FLOAT16,
                                           TENON_BFLOAT16));

}  // namespace
}  // namespace tenon_cuda::testing
