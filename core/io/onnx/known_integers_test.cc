// Constant folding of integers near the limits of int64.

#include <cstdint>

#include "core/testing/onnx_program.h"

namespace tenon::onnx {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.

class OnnxIntegers : public ModelProgram {
 protected:
  using Values = std::vector<int64_t>;

  // Returns the output of a model with one node whose inputs are all constants.
  Values folded(const std::string& op, const std::vector<WireWriter>& constants,
                const std::vector<std::string>& names, std::vector<WireWriter> attributes = {}) {
    const Tensor y = call_one(function(model(graph({.nodes = {node(op, names, {"y"}, attributes)},
                                                    .initializers = constants,
                                                    .outputs = {value_info("y", kOnnxInt64)}}))),
                              {});
    Values values(static_cast<size_t>(count(y->shape())));
    to_host(scope(), y, values.data(), values.size() * sizeof(int64_t));
    return values;
  }
  Values of_two(const std::string& op, int64_t a, int64_t b) {
    return folded(op, {int_tensor("a", {a}), int_tensor("b", {b})}, {"a", "b"});
  }
};

TEST_F(OnnxIntegers, WrapAroundAsTheyDoOnDevices) {
  EXPECT_EQ(of_two("Div", INT64_MIN, -1), Values({INT64_MIN}));
  EXPECT_EQ(of_two("Mod", INT64_MIN, -1), Values({0}));
  EXPECT_EQ(of_two("Add", INT64_MAX, 1), Values({INT64_MIN}));
  EXPECT_EQ(of_two("Sub", INT64_MIN, 1), Values({INT64_MAX}));
  EXPECT_EQ(of_two("Mul", INT64_MAX, 2), Values({-2}));
  EXPECT_EQ(folded("Neg", {int_tensor("a", {INT64_MIN})}, {"a"}), Values({INT64_MIN}));
  EXPECT_EQ(folded("Abs", {int_tensor("a", {INT64_MIN})}, {"a"}), Values({INT64_MIN}));
}

TEST_F(OnnxIntegers, OverflowingShapesAreErrors) {
  constexpr int64_t k2To32 = int64_t{1} << 32;  // Its square is 0 in 64 bits.
  const WireWriter x = int_tensor("x", {1, 2, 3, 4});
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{k2To32, k2To32, -1}, {k2To32, k2To32}, {INT64_MAX, 2, -1}}) {
    const WireWriter to = int_tensor("to", shape);
    EXPECT_THROW(folded("Reshape", {x, to}, {"x", "to"}), Error);
    EXPECT_THROW(folded("Expand", {x, to}, {"x", "to"}), Error);
    EXPECT_THROW(folded("ConstantOfShape", {to}, {"to"}), Error);
  }
}

TEST_F(OnnxIntegers, SliceBoundsAreClamped) {
  const WireWriter x = int_tensor("x", {1, 2, 3, 4}), axis = int_tensor("axis", {0});
  const auto slice = [&](int64_t start, int64_t end, int64_t step) {
    return folded(
        "Slice",
        {x, int_tensor("s", {start}), int_tensor("e", {end}), axis, int_tensor("step", {step})},
        {"x", "s", "e", "axis", "step"});
  };
  EXPECT_EQ(slice(INT64_MIN, INT64_MAX, 1), Values({1, 2, 3, 4}));
  EXPECT_EQ(slice(INT64_MAX, INT64_MIN, -1), Values({4, 3, 2, 1}));
  EXPECT_EQ(slice(0, INT64_MAX, INT64_MAX), Values({1}));
  EXPECT_EQ(slice(-1, INT64_MIN, INT64_MIN), Values({4}));
}

TEST_F(OnnxIntegers, IndicesOutOfRangeAreErrors) {
  const WireWriter x = int_tensor("x", {1, 2});
  for (const int64_t index : {INT64_MIN, INT64_MAX, int64_t{2}, int64_t{-3}}) {
    EXPECT_ERROR(folded("Gather", {x, int_tensor("i", {index})}, {"x", "i"}), Code::kOutOfRange,
                 "gather");
  }
}

}  // namespace
}  // namespace tenon::onnx
