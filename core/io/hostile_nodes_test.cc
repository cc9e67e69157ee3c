// ONNX files whose nodes have invalid attributes or inputs, or ask for more memory than there is.
// hostile_test.cc tests malformed files.

#include "core/testing/hostile_files.h"

namespace tenon {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.

constexpr int64_t kMany = int64_t{1} << 61, kLarge = int64_t{1} << 40;
using Nodes = std::vector<WireWriter>;

// Returns a model of one node whose inputs are p and others. p is x as an image [1, 1, 1, 2].
std::string of_image(const std::string& op, std::vector<std::string> others = {},
                     Nodes attributes = {}, Nodes initializers = {}) {
  others.insert(others.begin(), "p");
  initializers.push_back(int_tensor("image", {1, 1, 1, 2}));
  return model_of({node("Reshape", {"x", "image"}, {"p"}), node(op, others, {"y"}, attributes)},
                  std::move(initializers));
}
std::string of_x(const std::string& op, Nodes attributes, const std::string& domain = "") {
  return model_of({node(op, {"x"}, {"y"}, attributes).text(7, domain)});
}
WireWriter filter(const std::vector<int64_t>& shape = {1, 1, 1, 1}) {
  return float_tensor("w", shape, {1});
}
std::string conv(Nodes attributes, const WireWriter& w = filter(), const char* op = "Conv") {
  return of_image(op, {"w"}, std::move(attributes), {w});
}
// Returns a model of one node whose inputs are scalar int64 constants.
std::string of_ints(const std::string& op, const std::vector<int64_t>& values,
                    Nodes attributes = {}) {
  Nodes constants;
  std::vector<std::string> names;
  for (const int64_t value : values) {
    names.push_back("c" + std::to_string(names.size()));
    constants.push_back(WireWriter()
                            .number(2, kOnnxInt64)
                            .number(7, static_cast<uint64_t>(value))
                            .text(8, names.back()));
  }
  return model_of({node(op, names, {"y"}, attributes)}, std::move(constants), 20);
}

// ---- windows and images

std::vector<Bad> windows() {
  return {
      {"groups that are none", conv({int_attribute("group", 0)}),
       "C4: group must be positive and divide 1"},
      {"a negative number of groups", conv({int_attribute("group", -1)}),
       "C4: group must be positive and divide 1"},
      {"groups that do not divide the channels", conv({int_attribute("group", 3)}),
       "C4: group must be positive and divide 1"},
      {"a kernel_shape that is not the filter's", conv({ints_attribute("kernel_shape", {2, 2})}),
       "attribute kernel_shape must equal the"},
      {"a convolution with pads of 2^61", conv({ints_attribute("pads", {kMany, 0, 0, 0})}),
       "pads must be in (-2^30, 2^30), but contain"},
      {"a convolution with too few pads", conv({ints_attribute("pads", {1})}),
       "a list of window parameters must have 4"},
      {"a dilation of 2^61", conv({ints_attribute("dilations", {kMany, kMany})}),
       "kernel_shape, strides and dilations must be"},
      {"a dilation of 0", conv({ints_attribute("dilations", {0, 0})}),
       "kernel_shape, strides and dilations must be"},
      {"an auto_pad of no name", conv({text_attribute("auto_pad", "SOME")}),
       "attribute auto_pad must be"},
      {"a filter of three axes", conv({}, filter({1, 1, 1})),
       "x must have 3 axes, two more than the"},
      {"a filter larger than the image", conv({}, float_tensor("w", {1, 1, 1, 3}, {1, 2, 3})),
       "C5: a window that covers 3 elements does"},
      {"a transposed convolution padded to 2^61",
       conv({ints_attribute("output_padding", {kMany, kMany})}, filter(), "ConvTranspose"),
       "output_shape and output_padding must be in"},
      {"a transposed convolution of a negative size",
       conv({ints_attribute("output_shape", {-4, -4})}, filter(), "ConvTranspose"),
       "output_shape and output_padding must be in"},
      {"a transposed convolution of 2^40 columns",
       conv({ints_attribute("output_shape", {1, kLarge})}, filter(), "ConvTranspose"),
       "output_shape and output_padding must be in"},
      {"an average over negative pads",
       of_image("AveragePool", {},
                {ints_attribute("kernel_shape", {1, 1}), ints_attribute("pads", {-1, 0, 0, 0})}),
       "C3: pads must be from 0 to 2^31"},
      {"a window of one axis for an image",
       of_image("AveragePool", {}, {ints_attribute("kernel_shape", {1})}),
       "x must have 3 axes, two more than the"},
      {"a window without a kernel_shape", of_image("MaxPool"),
       "x must have 2 axes, two more than the"},
      {"a norm of order 0",
       of_image("LpPool", {}, {ints_attribute("kernel_shape", {1, 1}), int_attribute("p", 0)}),
       "C5: p must be from 1 to 1024, but is 0"},
      {"unpooling to 2^61 elements",
       of_image("MaxUnpool", {"k", "s"}, {ints_attribute("kernel_shape", {1, 1})},
                {WireWriter()
                     .number(1, 1)
                     .number(1, 1)
                     .number(1, 1)
                     .number(1, 2)
                     .number(2, kOnnxInt64)
                     .number(7, 0)
                     .number(7, 1)
                     .text(8, "k"),
                 int_tensor("s", {1, 1, kMany, kMany})}),
       "C2: pads 0 and 2305843009213693951 give a"},
      {"a normalisation over no neighbours", of_image("LRN", {}, {int_attribute("size", 0)}),
       "C3: size must be from 1 to 2^31, but is 0"},
      {"groups of channels that are none",
       of_image("GroupNormalization", {"w", "w"}, {int_attribute("num_groups", 0)}, {filter({1})}),
       "C5: num_groups 0 does not divide the"},
      {"a scale for another number of channels",
       of_image("InstanceNormalization", {"w", "w"}, {}, {float_tensor("w", {3}, {1, 2, 3})}),
       "C3: scale must have one element for each of"},
      {"statistics for another number of channels",
       of_image("BatchNormalization", {"w", "w", "w", "w"}, {},
                {float_tensor("w", {3}, {1, 2, 3})}),
       "C3: scale must have one element for each of"},
      {"a grid with a mode of no name",
       of_image("GridSample", {"p"}, {text_attribute("mode", "wavy")}), "attribute mode must be"},
      {"a grid of two axes", of_image("GridSample", {"w"}, {}, {filter({1, 1})}),
       "x and grid must have the same number of"},
      {"blocks of a negative size", of_image("SpaceToDepth", {}, {int_attribute("blocksize", -2)}),
       "C2: blocksize must be from 1 to 2^30, but"},
      {"blocks larger than the image",
       of_image("SpaceToDepth", {}, {int_attribute("blocksize", kLarge)}),
       "C2: blocksize must be from 1 to 2^30, but"},
      {"a crop to 2^61 elements",
       of_image("CenterCropPad", {"i"}, {}, {int_tensor("i", {1, 1, kMany, kMany})}),
       "C2: pads 1152921504606846975 and"},
      {"an affine grid of 2^61 points",
       model_of({node("AffineGrid", {"t", "i"}, {"y"})},
                {float_tensor("t", {1, 2, 3}, {1, 0, 0, 0, 1, 0}),
                 int_tensor("i", {1, 1, kMany, kMany})},
                20),
       "f32[2305843009213693952,2305843009213693952"},
      {"regions of 2^40 rows",
       of_image("RoiAlign", {"r", "b"}, {int_attribute("output_height", kLarge)},
                {float_tensor("r", {1, 4}, {0, 0, 1, 1}), int_tensor("b", {0})}),
       "too many samples: 1 by 1 in each of"},
      {"boxes with three corners",
       model_of({node("NonMaxSuppression", {"b", "b"}, {"y"})},
                {float_tensor("b", {1, 1, 3}, {0, 0, 1})}),
       "boxes must be [batch,boxes,4] and scores"},
      {"Resize by scales and to sizes",
       of_image("Resize", {"", "s", "i"}, {},
                {float_tensor("s", {4}, {1, 1, 1, 1}), int_tensor("i", {1, 1, 1, 2})}),
       "either scales or sizes must have one"},
      {"Resize to 2^61 columns",
       of_image("Resize", {"", "", "i"}, {}, {int_tensor("i", {1, 1, 1, kMany})}),
       "C6: the product of 2305843009213693952 and"},
      {"Resize with coordinates of no name",
       of_image("Resize", {"", "s"}, {text_attribute("coordinate_transformation_mode", "sideways")},
                {float_tensor("s", {4}, {1, 1, 1, 2})}),
       "resize_nearest does not accept this value"},
      {"an image of columns that do not fit",
       of_image("Col2Im", {"i", "b"}, {},
                {int_tensor("i", {kMany, kMany}), int_tensor("b", {1, 1})}),
       "C5: x must have axes for batch, window"},
  };
}

// ---- shapes and indices

std::vector<Bad> shapes() {
  const auto ints = [](const char* op, std::vector<std::vector<int64_t>> inputs,
                       Nodes attributes = {}) {
    Nodes constants;
    std::vector<std::string> names = {"x"};
    for (const auto& values : inputs) {
      names.push_back("c" + std::to_string(names.size()));
      constants.push_back(int_tensor(names.back(), values));
    }
    return model_of({node(op, names, {"y"}, attributes)}, std::move(constants), 20);
  };
  return {
      {"a negative size of a constant",
       model_of({node("ConstantOfShape", {"i"}, {"y"})}, {int_tensor("i", {-3})}),
       "C2: size -3 of shape [-3] is negative"},
      {"a Slice with steps of 0", ints("Slice", {{0}, {2}, {0}, {0}}),
       "C3: the step of axis 0 is 0"},
      {"a Slice along one axis twice", ints("Slice", {{0, 0}, {1, 1}, {0, 0}}),
       "C2: there are 2 starts, more than the axes"},
      {"a Slice with fewer ends than starts", ints("Slice", {{0, 0}, {1}}),
       "C1: starts has 2 entries, but ends has 1"},
      {"a Squeeze of two elements", ints("Squeeze", {{0}}),
       "C2: axis 0 of f32[2] must have size 1"},
      {"an Unsqueeze at one axis twice", ints("Unsqueeze", {{0, 0}}), "C2: axis 0 is listed twice"},
      {"an Unsqueeze to 42 axes",
       ints("Unsqueeze",
            {{1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
              22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41}}),
       "rank 17 exceeds the maximum rank of a"},
      {"a Flatten at axis 9", of_x("Flatten", {int_attribute("axis", 9)}),
       "C1: axis 9 is outside [-1, 1] for x: f32[2]"},
      {"a Split into no parts", of_x("Split", {int_attribute("num_outputs", 0)}),
       "attribute num_outputs must be the number of"},
      {"a Split into 2^40 parts",
       model_of({node("Split", {"x"}, {"y"}, {int_attribute("num_outputs", kLarge)})}, {}, 20),
       "attribute num_outputs must be the number of"},
      {"an index below the range", with_ints("Gather", {-1000}),
       "C2: index -1000 is outside [-2, 0)"},
      {"indices with batches that are not there",
       ints("GatherND", {{0}}, {int_attribute("batch_dims", kLarge)}),
       "C3: batch_dims 1099511627776 must be less"},
      {"an update beyond the end",
       model_of(
           {node("ScatterND", {"x", "i", "u"}, {"y"})},
           {WireWriter().number(1, 1).number(1, 1).number(2, kOnnxInt64).number(7, 77).text(8, "i"),
            float_tensor("u", {1}, {5})}),
       "C2: index 77 is outside [0, 2)"},
      {"an update by a reduction of no name",
       model_of(
           {node("ScatterElements", {"x", "i", "x"}, {"y"}, {text_attribute("reduction", "most")})},
           {int_tensor("i", {0, 1})}, 18),
       "scatter_elements does not accept this value"},
      {"an update at more indices than values",
       model_of({node("ScatterElements", {"x", "i", "u"}, {"y"})},
                {int_tensor("i", {0, 1, 0}), float_tensor("u", {1}, {5})}),
       "C5: updates must be f32[3], but are f32[1]"},
      {"2^61 classes",
       model_of({node("OneHot", {"i", "d", "v"}, {"y"})},
                {int_tensor("i", {0}), int_tensor("d", {kMany}), float_tensor("v", {2}, {0, 1})}),
       "i64[1,2305843009213693952] has a size in"},
      {"a negative number of classes",
       model_of({node("OneHot", {"i", "d", "v"}, {"y"})},
                {int_tensor("i", {0}), int_tensor("d", {-7}), float_tensor("v", {2}, {0, 1})}),
       "depth must not be negative, but is -7"},
      {"classes at axis 9",
       model_of({node("OneHot", {"i", "d", "v"}, {"y"}, {int_attribute("axis", 9)})},
                {int_tensor("i", {0}), int_tensor("d", {3}), float_tensor("v", {2}, {0, 1})}),
       "C3: axis 9 is outside [-2, 2)"},
      {"sums along axis 9", ints("ReduceSum", {{9}}),
       "C2: axis 9 is outside [-1, 1) for x: f32[2]"},
      {"running sums along axis 9", ints("CumSum", {{9}}),
       "C2: axis 9 is outside [-1, 1) for x: f32[2]"},
      {"sequences longer than they are",
       ints("ReverseSequence", {{9, 9}},
            {int_attribute("batch_axis", 0), int_attribute("time_axis", 1)}),
       "C3: axis 1 is outside [-1, 1) for x: f32[2]"},
      {"a softmax along axis 9", of_x("Softmax", {int_attribute("axis", 9)}),
       "C2: axis 9 is outside [-1, 1) for x: f32[2]"},
      {"a maximum along axis -9", of_x("ArgMax", {int_attribute("axis", -9)}),
       "C2: axis -9 is outside [-1, 1) for x: f32[2]"},
      {"distinct rows of axis 9", of_x("Unique", {int_attribute("axis", 9)}),
       "axis 9 is outside [-1, 1)"},
      {"a diagonal of one axis", of_x("EyeLike", {}), "input 0 must be a matrix, but is f32[2]"},
      {"a triangle of one axis", of_x("Trilu", {}), "C1: x must have two axes or more, but is"},
      {"padding of no name", ints("Pad", {{1, 1}}, {text_attribute("mode", "mirror")}),
       "pad does not accept this value for its"},
      {"pads before an axis only", ints("Pad", {{1}}), "C1: pads has 1 entries, but needs two for"},
      {"a negative number of largest elements", with_ints("TopK", {-1}),
       "C2: k is -1, but axis 0 of f32[2] has 2"},
      {"two numbers of largest elements", with_ints("TopK", {1, 1}),
       "input 1 must have one element, but has 2"},
      {"2^61 numbers in a row", of_ints("Range", {0, kMany, 1}),
       "the range from 0 to 2.305843009213694e+18"},
      {"a window of 2^61 samples", of_ints("HannWindow", {kMany}),
       "f32[2305843009213693952] has a size in"},
      {"a window of fewer than no samples", of_ints("HammingWindow", {-5}),
       "C2: size -5 of shape [-5] is negative"},
      {"2^40 bands of frequencies", of_ints("MelWeightMatrix", {kLarge, 16, 8000, 0, 4000}),
       "too many elements: 1099511627776 bands of 9"},
      {"a transform of 2^61 samples",
       model_of({node("DFT", {"p", "n"}, {"y"})},
                {float_tensor("p", {1, 2, 1}, {1, 2}), WireWriter()
                                                           .number(2, kOnnxInt64)
                                                           .number(7, static_cast<uint64_t>(kMany))
                                                           .text(8, "n")},
                20),
       "lengths of at most 4096 are supported, but"},
      {"frames without a step",
       model_of({node("STFT", {"p", "n", "", "n"}, {"y"})},
                {float_tensor("p", {1, 2, 1}, {1, 2}),
                 WireWriter().number(2, kOnnxInt64).number(7, 0).text(8, "n")},
                17),
       "frame_length 0 and frame_step 0 must be"},
  };
}

// ---- layers and models

std::vector<Bad> layers() {
  const auto lstm = [](Nodes attributes, const char* op = "LSTM") {
    return model_of(
        {node("Reshape", {"x", "i"}, {"p"}), node(op, {"p", "w", "r"}, {"y"}, attributes)},
        {int_tensor("i", {2, 1, 1}), float_tensor("w", {1, 4, 1}, {1, 1, 1, 1}),
         float_tensor("r", {1, 4, 1}, {1, 1, 1, 1})});
  };
  return {
      {"a hidden size that is not the weights'", lstm({int_attribute("hidden_size", 7)}),
       "attribute hidden_size is 7, but must be the"},
      {"a direction of no name", lstm({text_attribute("direction", "up")}),
       "lstm does not accept this value for its"},
      {"two directions with weights for one", lstm({text_attribute("direction", "bidirectional")}),
       "C3: w must have the shape [2,4,1], but is"},
      {"a layout of no number", lstm({int_attribute("layout", 5)}),
       "C4: layout must be 0 or 1, but is 5"},
      {"weights of four gates for three", lstm({}, "GRU"),
       "C3: w must have the shape [1,3,1], but is"},
      {"weights of four gates for one", lstm({}, "RNN"),
       "C3: w must have the shape [1,1,1], but is"},
      {"a product of sizes that differ",
       model_of({node("MatMul", {"x", "w"}, {"y"})}, {float_tensor("w", {3}, {1, 2, 3})}),
       "C4: 2 columns of a: f32[2] do not match 3"},
      {"a Gemm of one axis", model_of({node("Gemm", {"x", "x"}, {"y"})}),
       "C2: a and b must have two axes, but are"},
      {"an equation with an operand too many",
       of_x("Einsum", {text_attribute("equation", "i,j->ij")}), "has 2 terms for 1 operands"},
      {"an equation with another number of axes",
       of_x("Einsum", {text_attribute("equation", "abc->a")}),
       ": term 0 has 3 letters, but its operand is"},
      {"an equation whose output is no axis", of_x("Einsum", {text_attribute("equation", "a->z")}),
       ": no term has 'z' of the result"},
      {"attention without heads",
       model_of({node("Reshape", {"x", "i"}, {"p"}),
                 node("Attention", {"p", "p", "p"}, {"y"},
                      {int_attribute("q_num_heads", 0), int_attribute("kv_num_heads", 0)})},
                {int_tensor("i", {1, 1, 2})}, 23),
       "input must have three axes, the last a"},
      {"attention with heads that do not divide",
       model_of({node("Reshape", {"x", "i"}, {"p"}),
                 node("Attention", {"p", "p", "p"}, {"y"},
                      {int_attribute("q_num_heads", 7), int_attribute("kv_num_heads", 7)})},
                {int_tensor("i", {1, 1, 2})}, 23),
       "input must have three axes, the last a"},
      {"a layer normalised along axis 9",
       model_of({node("LayerNormalization", {"x", "x"}, {"y"}, {int_attribute("axis", 9)})}),
       "C2: axis 9 is outside [-1, 1) for x: f32[2]"},
      {"a shift in no direction",
       model_of({node("BitShift", {"i", "i"}, {"y"}, {text_attribute("direction", "UP")})},
                {WireWriter().number(1, 1).number(2, 2).number(5, 1).text(8, "i")}),
       "attribute direction must be"},
      {"a Cast to nothing", of_x("Cast", {}), "C1: to must be given"},
      {"random numbers of 2^61 elements",
       model_of({node("RandomUniform", {}, {"y"}, {ints_attribute("shape", {kMany})})}),
       "f32[2305843009213693952] has a size in"},
      {"random numbers of a dtype that is not floating",
       model_of({node("RandomNormal", {}, {"y"},
                      {ints_attribute("shape", {2}), int_attribute("dtype", 7)})}),
       "C2: dtype must be floating point, but is i64"},
      {"2^61 draws",
       model_of({node("Reshape", {"x", "i"}, {"p"}),
                 node("Multinomial", {"p"}, {"y"}, {int_attribute("sample_size", kMany)})},
                {int_tensor("i", {1, 2})}),
       "i64[1,2305843009213693952] has a size in"},
      {"a Dropout of everything and more",
       model_of({node("Dropout", {"x", "r", "t"}, {"y"})},
                {float_tensor("r", {}, {2}),
                 WireWriter().number(2, kOnnxBool).number(5, 1).text(8, "t")}),
       "the ratio must be in [0, 1), but is 2"},
      {"n-grams in column 2^60",
       model_of({node("TfIdfVectorizer", {"i"}, {"y"},
                      {text_attribute("mode", "TF"), ints_attribute("ngram_counts", {0}),
                       ints_attribute("ngram_indexes", {int64_t{1} << 60}),
                       ints_attribute("pool_int64s", {1})})},
                {int_tensor("i", {1})}),
       "elements of ngram_indexes must be in [0"},
      {"n-grams beyond the pool",
       model_of({node("TfIdfVectorizer", {"i"}, {"y"},
                      {text_attribute("mode", "TF"), ints_attribute("ngram_counts", {0, 77}),
                       ints_attribute("ngram_indexes", {0}), ints_attribute("pool_int64s", {1})})},
                {int_tensor("i", {1})}),
       "ngram_counts contain the range from 0 to"},
      {"an op of a domain that nobody knows",
       model_of({node("Neg", {"x"}, {"y"}).text(7, "com.wool")}), "com.wool.Neg"},
  };
}

class HostileNodes : public HostileFiles {};

TEST_F(HostileNodes, AreRefused) {
  size_t n = 0;
  for (const auto& classes : {windows(), shapes(), layers()}) {
    for (const Bad& bad : classes) expect_refused(bad);
    n += classes.size();
  }
  EXPECT_GE(n, 90u);
}

}  // namespace
}  // namespace tenon
