#include <cmath>

#include "core/testing/onnx_program.h"

namespace tenon::onnx {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.

class OnnxRandom : public ModelProgram {
 protected:
  // Returns a function of one node with the inputs x and y = op(x).
  Ref<Function> of_node(const WireWriter& node, uint64_t out = kOnnxFloat,
                        std::vector<WireWriter> initializers = {}) {
    return function(model(graph({.nodes = {node},
                                 .initializers = std::move(initializers),
                                 .inputs = {value("x", {"N", "M"})},
                                 .outputs = {value_info("y", out)}}),
                          22));
  }
  std::vector<float> floats(const Tensor& x) {
    std::vector<float> values(static_cast<size_t>(count(x->shape())));
    to_host(scope(), x, values.data(), values.size() * sizeof(float));
    return values;
  }
  Tensor zeros_of(int64_t rows, int64_t columns) {
    return make(DType::kF32, {rows, columns},
                std::vector<double>(static_cast<size_t>(rows * columns), 0));
  }
};

TEST_F(OnnxRandom, CallsDrawOtherNumbersAndReopenedModelsRepeatThem) {
  const WireWriter uniform = node("RandomUniformLike", {"x"}, {"y"},
                                  {float_attribute("low", 2), float_attribute("high", 3)});
  const auto f = of_node(uniform), again = of_node(uniform);
  const std::vector<float> first = floats(call_one(f, {zeros_of(4, 5)}));
  const std::vector<float> second = floats(call_one(f, {zeros_of(4, 5)}));

  for (const float value : first) EXPECT_TRUE(value >= 2 && value < 3) << value;
  EXPECT_NE(first, second);
  EXPECT_EQ(floats(call_one(again, {zeros_of(4, 5)})), first);
}

TEST_F(OnnxRandom, SeedsSelectTheNumbers) {
  const auto with_seed = [&](float seed) {
    return floats(
        call_one(of_node(node("RandomNormalLike", {"x"}, {"y"}, {float_attribute("seed", seed)})),
                 {zeros_of(2, 3)}));
  };

  EXPECT_EQ(with_seed(7), with_seed(7));
  EXPECT_NE(with_seed(7), with_seed(8));
}

TEST_F(OnnxRandom, NormalNumbersHaveTheirMeanAndScale) {
  const auto f = of_node(node("RandomNormalLike", {"x"}, {"y"},
                              {float_attribute("mean", 10), float_attribute("scale", 0.5)}));
  double sum = 0, squares = 0;
  for (const float value : floats(call_one(f, {zeros_of(100, 100)}))) {
    sum += value - 10;
    squares += (value - 10.0) * (value - 10.0);
  }

  EXPECT_NEAR(sum / 1e4, 0, 0.02);  // Four standard deviations of the mean.
  EXPECT_NEAR(std::sqrt(squares / 1e4), 0.5, 0.02);
}

TEST_F(OnnxRandom, CertainOutcomesAreDrawn) {
  const Tensor p = f32({2, 2}, {0, 1, 1, 0});
  EXPECT_TENSOR(call_one(of_node(node("Bernoulli", {"x"}, {"y"})), {p}), p);

  const double never = -INFINITY;
  EXPECT_TENSOR(call_one(of_node(node("Multinomial", {"x"}, {"y"},
                                      {int_attribute("sample_size", 3), int_attribute("dtype", 7)}),
                                 kOnnxInt64),
                         {f32({2, 3}, {never, 0, never, never, never, 5})}),
                make(DType::kI64, {2, 3}, {1, 1, 1, 2, 2, 2}));
}

TEST_F(OnnxRandom, DropoutInTrainingScalesWhatItKeeps) {
  const std::vector<WireWriter> inputs = {
      float_tensor("ratio", {}, {0.75}),
      WireWriter().number(2, kOnnxBool).number(5, 1).text(8, "training")};
  const auto f = of_node(node("Dropout", {"x", "ratio", "training"}, {"y"}), kOnnxFloat, inputs);
  const Tensor ones = make(DType::kF32, {50, 80}, std::vector<double>(4000, 1));
  size_t n_kept = 0;
  for (const float value : floats(call_one(f, {ones}))) {
    EXPECT_TRUE(value == 0 || value == 4) << value;
    n_kept += value == 4;
  }

  EXPECT_NEAR(static_cast<double>(n_kept) / 4000, 0.25, 0.03);
}

}  // namespace
}  // namespace tenon::onnx
