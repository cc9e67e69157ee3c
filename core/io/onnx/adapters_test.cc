// Tests what ONNX's own node tests do not cover: other versions of ops, and rejected attributes.

#include "core/io/onnx/adapters.h"

#include <cmath>

#include "core/testing/onnx_run.h"

namespace tenon::onnx {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.

class OnnxAdapters : public OnnxRun {};

// ---- operator sets before 13, in which axes, bounds and others were attributes

TEST_F(OnnxAdapters, OldVersionsTakeAttributesWhereNewOnesTakeInputs) {
  const Tensor x = f32({2, 1, 2}, {1, 2, 3, 4});

  EXPECT_TENSOR(run_node(node("Clip", {"x"}, {"y"}, {float_attribute("max", 2)}), {x}, 6),
                f32({2, 1, 2}, {1, 2, 2, 2}));
  EXPECT_TENSOR(run_node(node("Squeeze", {"x"}, {"y"}, {ints_attribute("axes", {1})}), {x}, 11),
                f32({2, 2}, {1, 2, 3, 4}));
  EXPECT_TENSOR(
      run_node(node("Unsqueeze", {"x"}, {"y"}, {ints_attribute("axes", {0})}), {f32({1})}, 11),
      f32({1, 1}, {1}));
  EXPECT_TENSOR(run_node(node("ReduceSum", {"x"}, {"y"},
                              {ints_attribute("axes", {2}), int_attribute("keepdims", 0)}),
                         {x}, 11),
                f32({2, 1}, {3, 7}));
  EXPECT_TENSOR(run_node(node("Slice", {"x"}, {"y"},
                              {ints_attribute("starts", {1}), ints_attribute("ends", {9})}),
                         {x}, 9),
                f32({1, 1, 2}, {3, 4}));
  EXPECT_TENSOR(run_node(node("Pad", {"x"}, {"y"},
                              {ints_attribute("pads", {1, 0}), float_attribute("value", 9)}),
                         {f32({1})}, 10),
                f32({9, 1}));
  EXPECT_TENSOR(run_node(node("Split", {"x"}, {"y", "z"}, {ints_attribute("split", {1, 2})}),
                         {f32({1, 2, 3})}, 11),
                f32({1}));
  EXPECT_TENSOR(run_node(node("Dropout", {"x"}, {"y"}, {float_attribute("ratio", 0.5)}), {x}, 10),
                x);
}

TEST_F(OnnxAdapters, NewVersionsTakeInputsWhereOldOnesTakeAttributes) {
  const Tensor x = f32({2, 2}, {1, 2, 3, 4});

  EXPECT_TENSOR(
      run_node(node("ReduceMax", {"x", "axes"}, {"y"}), {x}, 18, {int_tensor("axes", {0})}),
      f32({1, 2}, {3, 4}));
  EXPECT_TENSOR(
      run_node(node("ReduceMax", {"x", ""}, {"y"}, {int_attribute("noop_with_empty_axes", 1)}), {x},
               18),
      x);
  EXPECT_TENSOR(run_node(node("Pad", {"x", "pads", "", "axes"}, {"y"}), {x}, 18,
                         {int_tensor("pads", {1, 0}), int_tensor("axes", {-1})}),
                f32({2, 3}, {0, 1, 2, 0, 3, 4}));
  EXPECT_TENSOR(run_node(node("Split", {"x"}, {"y", "z"}, {int_attribute("num_outputs", 2)}),
                         {f32({1, 2, 3})}, 18),
                f32({1, 2}));
}

TEST_F(OnnxAdapters, SoftmaxFlattensTheAxesBeforeVersion13) {
  const Tensor x = f32({1, 2, 2}, {0, 0, 0, 0});

  EXPECT_TENSOR(run_node(node("Softmax", {"x"}, {"y"}), {x}, 11),
                f32({1, 2, 2}, {0.25, 0.25, 0.25, 0.25}));
  EXPECT_TENSOR(run_node(node("Softmax", {"x"}, {"y"}), {x}, 13),
                f32({1, 2, 2}, {0.5, 0.5, 0.5, 0.5}));
}

TEST_F(OnnxAdapters, ReshapeReplacesZerosByTheSizesOfTheInput) {
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});

  EXPECT_EQ(run_node(node("Reshape", {"x", "to"}, {"y"}), {x}, 14, {int_tensor("to", {0, 1, -1})})
                ->shape(),
            (Dims{2, 1, 3}));
  EXPECT_ERROR(
      run_node(node("Reshape", {"x", "to"}, {"y"}), {x}, 14, {int_tensor("to", {6, 1, 0})}),
      Code::kInvalidArgument, "size 2 of the shape is 0, but f32[2,3] has no axis 2");
}

TEST_F(OnnxAdapters, AutoPadDeterminesThePositionOfWindows) {
  const Tensor x = f32({1, 1, 4}, {1, 2, 3, 4});
  const auto pool = [&](const std::string& auto_pad) {
    return run_node(
        node("MaxPool", {"x"}, {"y"},
             {ints_attribute("kernel_shape", {2}), text_attribute("auto_pad", auto_pad)}),
        {x});
  };

  EXPECT_TENSOR(pool("SAME_UPPER"), f32({1, 1, 4}, {2, 3, 4, 4}));
  EXPECT_TENSOR(pool("SAME_LOWER"), f32({1, 1, 4}, {1, 2, 3, 4}));
  EXPECT_TENSOR(pool("VALID"), f32({1, 1, 3}, {2, 3, 4}));
  EXPECT_ERROR(pool("SAME"), Code::kInvalidArgument, "but is \"SAME\"");
}

TEST_F(OnnxAdapters, ArgMaxSelectsTheLastIndexOnRequest) {
  const Tensor x = f32({3, 7, 7, 1});

  EXPECT_TENSOR(
      run_node(node("ArgMax", {"x"}, {"y"}, {int_attribute("select_last_index", 1)}), {x}),
      i64({2}));
  EXPECT_TENSOR(run_node(node("ArgMax", {"x"}, {"y"}), {x}), i64({1}));
}

TEST_F(OnnxAdapters, APowerHasTheDtypeOfItsBase) {
  EXPECT_TENSOR(run_node(node("Pow", {"x", "x1"}, {"y"}), {i64({4, 9}), f32({0.5, 0.5})}),
                i64({2, 3}));
  EXPECT_TENSOR(run_node(node("Pow", {"x", "x1"}, {"y"}), {f32({2, 3}), i64({3, 2})}), f32({8, 9}));
}

TEST_F(OnnxAdapters, RangesMayBeEmpty) {
  const auto range = [&](const Tensor& start, const Tensor& limit, const Tensor& delta) {
    return run_node(node("Range", {"x", "x1", "x2"}, {"y"}), {start, limit, delta});
  };
  const auto number = [](double value) { return make(DType::kF32, {}, {value}); };

  EXPECT_TENSOR(range(number(1), number(2), number(0.25)), f32({1, 1.25, 1.5, 1.75}));
  EXPECT_TENSOR(range(number(3), number(3), number(1)), f32({}));
  EXPECT_ERROR(range(number(0), number(1), number(0)), Code::kInvalidArgument,
               "delta must not be 0");
  EXPECT_ERROR(range(number(0), number(1), number(-0.0)), Code::kInvalidArgument,
               "delta must not be 0");
  EXPECT_ERROR(range(number(0), number(INFINITY), number(1)), Code::kInvalidArgument,
               "has too many elements");
}

TEST_F(OnnxAdapters, GeluIsExactByDefault) {
  const Tensor one = f32({1});

  EXPECT_TENSOR_NEAR(run_node(node("Gelu", {"x"}, {"y"}), {one}, 20), f32({0.8413447}), 1e-6, 0);
  EXPECT_TENSOR_NEAR(
      run_node(node("Gelu", {"x"}, {"y"}, {text_attribute("approximate", "tanh")}), {one}, 20),
      f32({0.8411920}), 1e-6, 0);
}

TEST_F(OnnxAdapters, LpNormalizationDividesByTheNorm) {
  const Tensor x = f32({3, -4});

  EXPECT_TENSOR_NEAR(run_node(node("LpNormalization", {"x"}, {"y"}), {x}), f32({0.6, -0.8}), 1e-6,
                     0);
  EXPECT_TENSOR_NEAR(run_node(node("LpNormalization", {"x"}, {"y"}, {int_attribute("p", 1)}), {x}),
                     f32({3.0 / 7, -4.0 / 7}), 1e-6, 0);
}

TEST_F(OnnxAdapters, LpNormalizationKeepsZeroRows) {
  const Tensor x = f32({2, 2}, {0, -0.0, 1, 3});

  for (const int64_t p : {1, 2}) {
    const Tensor y = run_node(node("LpNormalization", {"x"}, {"y"}, {int_attribute("p", p)}), {x});
    EXPECT_TENSOR(slice(y, {.starts = {0}, .ends = {1}}), f32({1, 2}, {0, -0.0}));
  }
}

TEST_F(OnnxAdapters, GroupNormalizationHasAScalePerGroupBeforeVersion21) {
  const Tensor x = f32({1, 2, 2}, {1, 3, 10, 30});
  const WireWriter normalize =
      node("GroupNormalization", {"x", "scale", "bias"}, {"y"},
           {int_attribute("num_groups", 1), float_attribute("epsilon", 0)});
  const Tensor one_group = run_node(
      normalize, {x}, 18, {float_tensor("scale", {1}, {2}), float_tensor("bias", {1}, {1})});

  EXPECT_TENSOR(one_group,
                run_node(normalize, {x}, 21,
                         {float_tensor("scale", {2}, {2, 2}), float_tensor("bias", {2}, {1, 1})}));
  EXPECT_ERROR(run_node(normalize, {x}, 21,
                        {float_tensor("scale", {1}, {2}), float_tensor("bias", {1}, {1})}),
               Code::kInvalidArgument, "group_norm: C");
}

TEST_F(OnnxAdapters, ResizeKeepsTheAspectRatioOnRequest) {
  const Tensor x = f32({1, 1, 2, 2}, {1, 2, 3, 4});
  const auto resized = [&](const std::string& policy) {
    return run_node(node("Resize", {"x", "", "", "sizes"}, {"y"},
                         {ints_attribute("axes", {2, 3}),
                          text_attribute("keep_aspect_ratio_policy", policy)}),
                    {x}, 18, {int_tensor("sizes", {4, 6})})
        ->shape();
  };

  EXPECT_EQ(resized("stretch"), (Dims{1, 1, 4, 6}));
  EXPECT_EQ(resized("not_larger"), (Dims{1, 1, 4, 4}));
  EXPECT_EQ(resized("not_smaller"), (Dims{1, 1, 6, 6}));
}

TEST_F(OnnxAdapters, ResizeWithKeptAspectRatioUsesOneScaleForAllAxes) {
  const Tensor x = f32({1, 1, 1, 3}, {0, 7, 14});
  const auto resized = [&](const std::string& mode) {
    return run_node(node("Resize", {"x", "", "", "sizes"}, {"y"},
                         {ints_attribute("axes", {2, 3}), text_attribute("mode", mode),
                          text_attribute("coordinate_transformation_mode", "asymmetric"),
                          text_attribute("keep_aspect_ratio_policy", "not_larger")}),
                    {x}, 18, {int_tensor("sizes", {9, 7})});
  };

  // Both axes are scaled by 7 / 3, so 1 row becomes 2 rows.
  EXPECT_TENSOR_NEAR(resized("linear"),
                     f32({1, 1, 2, 7}, {0, 3, 6, 9, 12, 14, 14, 0, 3, 6, 9, 12, 14, 14}), 1e-6,
                     1e-6);
  // With scale 5 / 3, 2 elements become 3, sampled at 0, 0.6 and 1.2. With scale 3 / 2, they would
  // be sampled at 0, 2 / 3 and 4 / 3.
  const Tensor y = run_node(node("Resize", {"x", "", "", "sizes"}, {"y"},
                                 {text_attribute("mode", "linear"),
                                  text_attribute("coordinate_transformation_mode", "asymmetric"),
                                  text_attribute("keep_aspect_ratio_policy", "not_larger")}),
                            {f32({3, 2}, {0, 1, 0, 1, 0, 1})}, 18, {int_tensor("sizes", {5, 9})});
  EXPECT_TENSOR_NEAR(slice(y, {.starts = {0}, .ends = {1}}), f32({1, 3}, {0, 0.6, 1}), 1e-6, 1e-6);
}

TEST_F(OnnxAdapters, MaxAndMinOfEmptyTensorsReturnTheIdentity) {
  constexpr uint64_t kOnnxInt8 = 3, kOnnxUint64 = 13;
  const auto reduced = [&](const char* op, const Tensor& x, uint64_t element) {
    const WireWriter reduce = node(op, {"x", "axes"}, {"y"}, {int_attribute("keepdims", 0)});
    return run(model(graph({.nodes = {reduce},
                            .initializers = {int_tensor("axes", {1})},
                            .inputs = {value_info("x", element)},
                            .outputs = {value_info("y", element)}}),
                     20),
               {x});
  };
  const Tensor x = fill(number(0), Dims{2, 0, 1}, DType::kF32);

  EXPECT_TENSOR(reduced("ReduceMax", x, kOnnxFloat), f32({2, 1}, {-INFINITY, -INFINITY}));
  EXPECT_TENSOR(reduced("ReduceMin", x, kOnnxFloat), f32({2, 1}, {INFINITY, INFINITY}));
  const auto extremes = [&](DType dtype, uint64_t element) {
    const Tensor none = cast(x, dtype);
    const Tensor both[] = {reduced("ReduceMax", none, element),
                           reduced("ReduceMin", none, element)};
    return values_of(concat(both, 1));
  };
  EXPECT_EQ(extremes(DType::kI8, kOnnxInt8), (std::vector<double>{-128, 127, -128, 127}));
  EXPECT_EQ(extremes(DType::kI64, kOnnxInt64),
            (std::vector<double>{-0x1p63, 0x1p63, -0x1p63, 0x1p63}));
  EXPECT_EQ(extremes(DType::kU64, kOnnxUint64), (std::vector<double>{0, 0x1p64, 0, 0x1p64}));
}

TEST_F(OnnxAdapters, UnsqueezeOfConstantsRefusesDuplicateAxes) {
  const WireWriter axes = int_tensor("axes", {0, -3});

  EXPECT_ERROR(run_node(node("Unsqueeze", {"x", "axes"}, {"y"}), {f32({1})}, 13, {axes}),
               Code::kInvalidArgument, "twice");
  EXPECT_ERROR(
      run_node(node("Unsqueeze", {"c", "axes"}, {"y"}), {}, 13, {int_tensor("c", {1}), axes}),
      Code::kInvalidArgument, "twice");
}

TEST_F(OnnxAdapters, UpsampleRepeatsElements) {
  const Tensor x = f32({1, 1, 1, 2}, {1, 2});
  const WireWriter scales = float_tensor("scales", {4}, {1, 1, 2, 1.5});

  EXPECT_TENSOR(run_node(node("Upsample", {"x", "scales"}, {"y"}), {x}, 9, {scales}),
                f32({1, 1, 2, 3}, {1, 1, 2, 1, 1, 2}));
}

TEST_F(OnnxAdapters, RecurrentLayersHaveDefaultActivations) {
  const Tensor x = f32({1, 1, 1}, {2});
  const std::vector<WireWriter> weights = {float_tensor("w", {1, 1, 1}, {-1}),
                                           float_tensor("r", {1, 1, 1}, {1})};
  const auto rnn = [&](const std::string& activation) {
    WireWriter activations = WireWriter().text(1, "activations").text(9, activation).number(20, 8);
    return run_node(node("RNN", {"x", "w", "r"}, {"", "y"}, {activations}), {x}, 14, weights);
  };

  EXPECT_TENSOR(rnn("Relu"), f32({1, 1, 1}, {0}));
  EXPECT_TENSOR_NEAR(rnn("Tanh"), f32({1, 1, 1}, {-0.9640276}), 1e-6, 0);
  EXPECT_ERROR(rnn("Affine"), Code::kInvalidArgument,
               "rnn does not accept this value for its attribute activation");
}

TEST_F(OnnxAdapters, UniqueSlicesOfAnAxisAreSorted) {
  const Tensor x = f32({4, 2}, {2, 1, 1, 9, 2, 1, 1, 3});
  const auto unique = [&](int64_t sorted) {
    return run_node(
        node("Unique", {"x"}, {"y"}, {int_attribute("axis", 0), int_attribute("sorted", sorted)}),
        {x});
  };

  EXPECT_TENSOR(unique(1), f32({3, 2}, {1, 3, 1, 9, 2, 1}));
  EXPECT_TENSOR(unique(0), f32({3, 2}, {2, 1, 1, 9, 1, 3}));
}

TEST_F(OnnxAdapters, NGramsMatchTokensAtEqualDistances) {
  const auto counts = [&](int64_t max_skip) {
    return run_node(
        node("TfIdfVectorizer", {"x"}, {"y"},
             {text_attribute("mode", "TF"), int_attribute("min_gram_length", 1),
              int_attribute("max_gram_length", 2), int_attribute("max_skip_count", max_skip),
              ints_attribute("ngram_counts", {0, 1}), ints_attribute("ngram_indexes", {1, 0}),
              ints_attribute("pool_int64s", {7, 5, 6})}),
        {i64({7, 5, 6, 5, 9, 6, 7})});
  };

  EXPECT_TENSOR(counts(0), f32({1, 2}));
  EXPECT_TENSOR(counts(1), f32({2, 2}));
}

// The sums exceed 2^24, up to which float32 represents each integer.
TEST_F(OnnxAdapters, IntegerConvolutionsOfManyTermsAreExact) {
  for (const int64_t channels : {300, 5000, 10000, 20000}) {
    const auto bytes = [&](const std::string& name, std::string values) {
      WireWriter tensor;
      for (const int64_t size : {int64_t{1}, channels, int64_t{1}}) {
        tensor.number(1, static_cast<uint64_t>(size));
      }
      return tensor.number(2, 2).text(9, std::move(values)).text(8, name);
    };
    std::string image(static_cast<size_t>(channels), '\xff');
    const WireWriter w = bytes("w", image);
    image[0] = '\xfe';
    const double sum = 255.0 * 255 * static_cast<double>(channels) - 255;

    EXPECT_TENSOR(
        run_node(node("ConvInteger", {"image", "w"}, {"y"}), {}, 17, {bytes("image", image), w}),
        make(DType::kI32, {1, 1, 1}, {sum}))
        << channels;
  }
}

TEST_F(OnnxAdapters, TheMeanOfIntegersIsTruncated) {
  EXPECT_TENSOR(run_node(node("ReduceMean", {"x"}, {"y"}), {i64({-3, 0})}), i64({-1}));
  EXPECT_ERROR(run_node(node("ReduceMean", {"x"}, {"y"}), {i64({})}), Code::kInvalidArgument,
               "cannot compute the mean of an empty integer tensor");
}

TEST_F(OnnxAdapters, AScaleOfOneElementAppliesToTheWholeTensor) {
  const std::string file = model(graph({.nodes = {node("QuantizeLinear", {"x", "scale"}, {"q"}),
                                                  node("DequantizeLinear", {"q", "scale"}, {"y"})},
                                        .initializers = {float_tensor("scale", {1}, {0.5})},
                                        .inputs = {value_info("x")},
                                        .outputs = {value_info("y")}}));

  EXPECT_TENSOR(run(file, {f32({0.6, 3, -1})}), f32({0.5, 3, 0}));
}

TEST_F(OnnxAdapters, BlockwiseScalesApplyAlongAnAxis) {
  const std::string file =
      model(graph({.nodes = {node("QuantizeLinear", {"x", "scale"}, {"y1"},
                                  {int_attribute("axis", 0), int_attribute("block_size", 2)}),
                             node("DequantizeLinear", {"y1", "scale"}, {"y"},
                                  {int_attribute("axis", 0), int_attribute("block_size", 2)})},
                   .initializers = {float_tensor("scale", {2}, {1, 10})},
                   .inputs = {value_info("x")},
                   .outputs = {value_info("y")}}),
            21);

  EXPECT_TENSOR(run(file, {f32({1.4, 2, 33})}), f32({1, 2, 30}));
  EXPECT_ERROR(run(file, {f32({1, 2, 3, 4, 5})}), Code::kInvalidArgument,
               "must have one element for each block of 2 elements of f32[5] along axis 0");
}

TEST_F(OnnxAdapters, GridSampleReadsZerosAtNanPositions) {
  const Tensor x = f32({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor grid = f32({1, 1, 3, 2}, {NAN, 0, INFINITY, -INFINITY, 0, 0});

  EXPECT_TENSOR(run_node(node("GridSample", {"x", "x1"}, {"y"}), {x, grid}, 16),
                f32({1, 1, 1, 3}, {0, 0, 2.5}));
}

TEST_F(OnnxAdapters, NonMaxSuppressionIgnoresNanScores) {
  const Tensor boxes = f32({1, 3, 4}, {0, 0, 1, 1, 0, 0, 1, 1.1, 0, 5, 1, 6});
  const Tensor scores = f32({1, 1, 3}, {0.5, 0.9, NAN});
  const auto selected = [&](const Tensor& given) {
    return run_node(node("NonMaxSuppression", {"x", "x1", "most", "overlap"}, {"y"}),
                    {boxes, given}, 17,
                    {int_tensor("most", {5}), float_tensor("overlap", {1}, {0.5})});
  };

  EXPECT_TENSOR(selected(scores), make(DType::kI64, {1, 3}, {0, 0, 1}));
  EXPECT_TENSOR(selected(f32({1, 1, 3}, {0.5, 0.9, 0.1})),
                make(DType::kI64, {2, 3}, {0, 0, 1, 0, 0, 2}));
}

TEST_F(OnnxAdapters, FourierTransformsAboveTheMaximumLengthAreRefused) {
  EXPECT_ERROR(run_node(node("DFT", {"x", "length"}, {"y"}), {f32({1, 1, 1}, {1})}, 17,
                        {int_tensor("length", {5000})}),
               Code::kUnimplemented,
               "lengths of at most 4096 are supported, but the length is 5000");
}

}  // namespace
}  // namespace tenon::onnx
