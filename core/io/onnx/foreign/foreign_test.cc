// Tests ops of com.microsoft with expected values that were computed by hand.
// tools/onnxruntime/foreign.py compares such ops with onnxruntime.

#include "core/io/onnx/foreign/foreign.h"

#include <cmath>

#include "core/testing/onnx_run.h"

namespace tenon::onnx {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.

class OnnxForeign : public OnnxRun {
 protected:
  static WireWriter microsoft(const std::string& op, std::vector<std::string> inputs,
                              std::vector<WireWriter> attributes = {}) {
    WireWriter node = testing::node(op, std::move(inputs), {"y"}, std::move(attributes));
    node.text(7, "com.microsoft");
    return node;
  }
};

TEST_F(OnnxForeign, FusedProductsApplyTheirActivation) {
  const Tensor a = f32({1, 2}, {1, -2}), b = f32({2, 2}, {3, 4, 5, 6});

  EXPECT_TENSOR(run_node(microsoft("FusedMatMul", {"x", "x1"},
                                   {int_attribute("transB", 1), float_attribute("alpha", 0.5)}),
                         {a, b}),
                f32({1, 2}, {-2.5, -3.5}));
  EXPECT_TENSOR(run_node(microsoft("FusedGemm", {"x", "x1"},
                                   {text_attribute("activation", "LeakyRelu"),
                                    float_attribute("activation_alpha", 0.5)}),
                         {a, b}),
                f32({1, 2}, {-3.5, -4}));
  EXPECT_ERROR(
      run_node(microsoft("FusedGemm", {"x", "x1"}, {text_attribute("activation", "Sine")}), {a, b}),
      Code::kUnimplemented, "activation Sine is not supported");
}

TEST_F(OnnxForeign, SkipLayerNormalizationNormalisesTheSumOfItsInputs) {
  const Tensor y = run_node(
      microsoft("SkipLayerNormalization", {"x", "x1", "x2", "", "x3"}),
      {f32({1, 1, 2}, {1, 2}), f32({1, 1, 2}, {0, 3}), f32({2}, {2, 4}), f32({2}, {1, 1})});

  EXPECT_TENSOR_NEAR(y, f32({1, 1, 2}, {-2, 4}), 1e-5, 0);
}

TEST_F(OnnxForeign, FastGeluAddsABiasFirst) {
  EXPECT_TENSOR_NEAR(run_node(microsoft("FastGelu", {"x", "x1"}), {f32({0.5}), f32({0.5})}),
                     f32({0.8411920}), 1e-6, 0);
}

TEST_F(OnnxForeign, MaskedKeysGetNoWeight) {
  const Tensor q = f32({1, 1, 1}, {1}), k = f32({1, 2, 1}, {5, 5}), v = f32({1, 2, 1}, {3, 7});
  const std::vector<WireWriter> heads = {int_attribute("num_heads", 1)};

  EXPECT_TENSOR(run_node(microsoft("MultiHeadAttention", {"x", "x1", "x2"}, heads), {q, k, v}),
                f32({1, 1, 1}, {5}));
  EXPECT_TENSOR(run_node(microsoft("MultiHeadAttention", {"x", "x1", "x2", "", "x3"}, heads),
                         {q, k, v, make(DType::kI64, {1, 2}, {1, 0})}),
                f32({1, 1, 1}, {3}));
}

TEST_F(OnnxForeign, RowsOfNormZeroStayZero) {
  WireWriter normalizer = node("Normalizer", {"x"}, {"y"}, {text_attribute("norm", "L1")});
  normalizer.text(7, "ai.onnx.ml");

  EXPECT_TENSOR(run_node(normalizer, {f32({2, 2}, {0, 0, 1, -3})}),
                f32({2, 2}, {0, 0, 0.25, -0.75}));
}

// onnxruntime does not find NaN, although ONNX compares keys bit by bit.
TEST_F(OnnxForeign, LabelEncodersFindNaNKeys) {
  const auto floats = [](const char* name, const std::vector<float>& values) {
    WireWriter attribute;
    attribute.text(1, name);
    for (const float value : values) attribute.real(7, value);
    return attribute.number(20, 6);
  };
  WireWriter encoder = node("LabelEncoder", {"x"}, {"y"},
                            {floats("keys_floats", {NAN, 0.5}), floats("values_floats", {4, 5}),
                             float_attribute("default_float", 6)});
  encoder.text(7, "ai.onnx.ml");

  EXPECT_TENSOR(run_node(encoder, {f32({0.5, NAN, 7})}), f32({5, 4, 6}));
}

TEST_F(OnnxForeign, ForeignOpsAreUnknownInOtherDomains) {
  EXPECT_EQ(find_adapter("", "FastGelu"), nullptr);
  EXPECT_EQ(find_adapter("com.wool", "FastGelu"), nullptr);
}

}  // namespace
}  // namespace tenon::onnx
