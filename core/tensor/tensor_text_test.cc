// The expected texts are NumPy's (1.26), copied from str(array).

#include "core/tensor/tensor_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "core/tensor/tensor.h"

namespace tenon {
namespace {

template <class T>
std::string text(DType dtype, const Dims& shape, const std::vector<T>& values,
                 const TextOptions& options = {}) {
  return to_text(TensorType(dtype, shape), values.data(), options);
}

std::string f32_text(const Dims& shape, const std::vector<float>& values) {
  return text(DType::kF32, shape, values);
}

TEST(Text, AlignsAMatrix) {
  EXPECT_EQ(f32_text({2, 2}, {1, -2.5f, 3, 40}), "[[ 1.  -2.5]\n [ 3.  40. ]]");
}

TEST(Text, ShowsTheShortestDigits) {
  EXPECT_EQ(f32_text({3}, {0.1f, 0.2f, 1 / 3.0f}), "[0.1        0.2        0.33333334]");
  EXPECT_EQ(text<double>(DType::kF64, {2}, {0.1, 2.0 / 3}), "[0.1        0.66666667]");
}

TEST(Text, UsesExponentsIfTheLargestAndSmallestDifferByAFactorOfAThousand) {
  EXPECT_EQ(f32_text({2}, {1, 1000}), "[   1. 1000.]");
  EXPECT_EQ(f32_text({2}, {1, 1001}), "[1.000e+00 1.001e+03]");
  EXPECT_EQ(f32_text({2}, {0.1f, 1e-9f}), "[1.e-01 1.e-09]");
  EXPECT_EQ(f32_text({2}, {1e8f, 2e8f}), "[1.e+08 2.e+08]");
  EXPECT_EQ(text<double>(DType::kF64, {2}, {1, 1e300}), "[1.e+000 1.e+300]");
}

TEST(Text, ShowsNanAndInfinity) {
  EXPECT_EQ(f32_text({4}, {NAN, INFINITY, -INFINITY, 1.5f}), "[ nan  inf -inf  1.5]");
  EXPECT_EQ(f32_text({2}, {NAN, INFINITY}), "[nan inf]");
}

TEST(Text, ShowsScalarsWithoutBrackets) {
  EXPECT_EQ(f32_text({}, {2.5f}), "2.5");
  EXPECT_EQ(f32_text({}, {3}), "3.0");
  EXPECT_EQ(f32_text({}, {1e-5f}), "1e-05");
  EXPECT_EQ(text<double>(DType::kF64, {}, {1e16}), "1e+16");
  EXPECT_EQ(text<int32_t>(DType::kI32, {}, {-7}), "-7");
  EXPECT_EQ(text<uint8_t>(DType::kBool, {}, {1}), "True");
}

TEST(Text, ShowsEmptyTensorsAsBrackets) {
  EXPECT_EQ(f32_text({0}, {}), "[]");
  EXPECT_EQ(f32_text({2, 0, 3}, {}), "[]");
}

TEST(Text, AlignsIntegersAndBooleans) {
  EXPECT_EQ(text<int64_t>(DType::kI64, {3}, {1, -20, 300}), "[  1 -20 300]");
  EXPECT_EQ(text<uint64_t>(DType::kU64, {1}, {~uint64_t{0}}), "[18446744073709551615]");
  EXPECT_EQ(text<uint8_t>(DType::kBool, {2}, {1, 0}), "[ True False]");
}

TEST(Text, SeparatesBlocksByEmptyLines) {
  EXPECT_EQ(text<int32_t>(DType::kI32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
            "[[[1 2]\n  [3 4]]\n\n [[5 6]\n  [7 8]]]");
}

TEST(Text, BreaksLongLines) {
  std::vector<int32_t> values(30);
  std::iota(values.begin(), values.end(), 0);

  EXPECT_EQ(text(DType::kI32, {30}, values),
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
            " 24 25 26 27 28 29]");
}

TEST(Text, SummarisesMoreThanAThousandElements) {
  std::vector<int32_t> values(1001);
  std::iota(values.begin(), values.end(), 0);

  EXPECT_EQ(text(DType::kI32, {1001}, values), "[   0    1    2 ...  998  999 1000]");
  EXPECT_EQ(text(DType::kI32, {7, 143}, values),
            "[[   0    1    2 ...  140  141  142]\n"
            " [ 143  144  145 ...  283  284  285]\n"
            " [ 286  287  288 ...  426  427  428]\n"
            " ...\n"
            " [ 572  573  574 ...  712  713  714]\n"
            " [ 715  716  717 ...  855  856  857]\n"
            " [ 858  859  860 ...  998  999 1000]]");
}

TEST(Text, ShowsTheShortestDigitsOfHalfTypes) {
  EXPECT_EQ(text<uint16_t>(DType::kF16, {2}, {float_to_half(0.1f), float_to_half(65504)}),
            "[1.00e-01 6.55e+04]");
  EXPECT_EQ(text<uint16_t>(DType::kF16, {}, {float_to_half(0.015625f)}), "0.01563");
  EXPECT_EQ(text<uint16_t>(DType::kBF16, {}, {float_to_bfloat16(3.14159f)}), "3.14");
}

TEST(Half, RoundsTiesToEvenAndOverflowsToInfinity) {
  EXPECT_EQ(float_to_half(1.0f), 0x3c00);
  EXPECT_EQ(float_to_half(2049), 0x6800);
  EXPECT_EQ(float_to_half(2051), 0x6802);
  EXPECT_EQ(float_to_half(65519), 0x7bff);
  EXPECT_EQ(float_to_half(65520), 0x7c00);
  EXPECT_EQ(float_to_half(-5.9604645e-08f), 0x8001);
  EXPECT_EQ(float_to_bfloat16(1.00390625f), 0x3f80);
}

TEST(Half, RoundsADoubleOnce) {
  const double above_a_tie = 2049 + 1e-9;  // As a float, it is exactly the tie.
  EXPECT_EQ(double_to_half(above_a_tie), 0x6801);
}

TEST(Half, ConvertsEveryValueToFloatAndBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if (std::isnan(half_to_float(half))) continue;
    EXPECT_EQ(float_to_half(half_to_float(half)), half);
  }
}

}  // namespace
}  // namespace tenon
