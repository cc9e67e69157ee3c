#include "core/io/onnx/model.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/io/onnx/describe.h"
#include "core/testing/onnx_file.h"
#include "core/testing/test.h"

namespace tenon::onnx {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.

// Returns the error of parsing the bytes, or an empty string if parsing succeeds.
std::string refusal(const std::string& bytes) {
  try {
    parse_model(bytes);
  } catch (const Error& error) {
    return std::string(name_of(error.code())) + ": " + error.what();
  }
  return "";
}

std::string with_initializer(const WireWriter& tensor) {
  return model(graph({.initializers = {tensor}}));
}

class OnnxTensor : public CoreTest {
 protected:
  Tensor read(const WireWriter& tensor) {
    const std::string bytes = tensor.bytes();
    return upload(scope(), device(), read_tensor_data(WireReader(bytes)));
  }
};

TEST_F(OnnxTensor, ElementsOfEachDtypeHaveTheirOwnField) {
  constexpr uint64_t kUint8 = 2, kInt16 = 5, kInt32 = 6, kFloat16 = 10, kUint64 = 13,
                     kBfloat16 = 16;
  const auto one = [](uint64_t element, uint32_t field, uint64_t value) {
    return WireWriter().number(1, 1).number(2, element).number(field, value);
  };
  constexpr uint64_t kMinusTwo = ~uint64_t{1};

  EXPECT_TENSOR(read(float_tensor("", {2}, {1, -2})), f32({1, -2}));
  EXPECT_TENSOR(read(int_tensor("", {-7})), i64({-7}));
  EXPECT_TENSOR(read(one(kInt32, 5, kMinusTwo)), i32({-2}));
  EXPECT_TENSOR(read(one(kInt16, 5, kMinusTwo)), make(DType::kI16, {1}, {-2}));
  EXPECT_TENSOR(read(one(kUint8, 5, 255)), make(DType::kU8, {1}, {255}));
  EXPECT_TENSOR(read(one(kOnnxBool, 5, 7)), make(DType::kBool, {1}, {1}));
  EXPECT_TENSOR(read(one(kFloat16, 5, 0x3c00)), make(DType::kF16, {1}, {1}));
  EXPECT_TENSOR(read(one(kBfloat16, 5, 0x3f80)), make(DType::kBF16, {1}, {1}));
  EXPECT_TENSOR(read(one(kUint64, 11, 9)), make(DType::kU64, {1}, {9}));
}

TEST_F(OnnxTensor, RawBytesAreTheElements) {
  const std::string raw("\x00\x00\x80\x3f", 4);
  const auto tensor = [](uint64_t element, const std::string& bytes) {
    return WireWriter().number(2, element).text(9, bytes);
  };

  EXPECT_TENSOR(read(tensor(kOnnxFloat, raw)), f32({}, {1}));
  EXPECT_TENSOR(read(tensor(kOnnxBool, "\x05")), make(DType::kBool, {}, {1}));
  EXPECT_ERROR(read(tensor(kOnnxFloat, raw + raw)), Code::kDataLoss,
               "tensor \"\" is f32[] and needs 4 bytes, but has 8 bytes");
}

TEST_F(OnnxTensor, UnreadableElementsAreReportedWhenTheyAreNeeded) {
  constexpr uint64_t kString = 8, kExternal = 1;

  EXPECT_EQ(refusal(with_initializer(WireWriter().number(2, kString).text(6, "z"))), "");
  EXPECT_ERROR(read(WireWriter().number(2, kString).text(8, "words")), Code::kUnimplemented,
               "tensor \"words\" cannot be read: the elements have an unsupported type: string");
  EXPECT_ERROR(read(WireWriter().number(2, 77)), Code::kUnimplemented,
               "an unsupported type: element type 77");
  EXPECT_ERROR(read(WireWriter().number(2, kOnnxFloat).number(14, kExternal)), Code::kUnimplemented,
               "the elements are in another file");
}

TEST(OnnxModel, TheNumberOfElementsMustMatchTheShape) {
  constexpr uint64_t kMinusOne = ~uint64_t{0}, kHuge = uint64_t{1} << 61;
  const auto sized = [](uint64_t a, uint64_t b) {
    return with_initializer(
        WireWriter().number(1, a).number(1, b).number(2, kOnnxFloat).text(8, "t"));
  };
  WireWriter deep;
  for (int i = 0; i < 17; ++i) deep.number(1, 1);

  EXPECT_EQ(refusal(sized(2, 3)), "DATA_LOSS: tensor \"t\" is f32[2,3], but has 0 elements");
  EXPECT_EQ(refusal(sized(2, kMinusOne)), "DATA_LOSS: tensor \"t\": size -1 is negative");
  EXPECT_NE(refusal(sized(kHuge, 8)).find("DATA_LOSS: tensor \"t\": "), std::string::npos);
  EXPECT_EQ(refusal(with_initializer(deep)),
            "UNIMPLEMENTED: tensor \"\" has 17 axes, more than the 16 that a tensor can have");
}

TEST(OnnxModel, AttributeKindsAreDeclaredOrFollowFromTheField) {
  const WireWriter undeclared = WireWriter().text(1, "a").number(3, 5);
  const WireWriter empty = ints_attribute("b", {});
  const std::string file = model(graph({.nodes = {node("Frob", {}, {}, {undeclared, empty})}}));

  const Model read = parse_model(file);

  const std::vector<Attribute>& attributes = read.graph.nodes[0].attributes;
  EXPECT_EQ(attributes[0].kind, AttributeKind::kInt);
  EXPECT_EQ(attributes[0].int_value, 5);
  EXPECT_EQ(attributes[1].kind, AttributeKind::kInts);
}

TEST(OnnxModel, AttributesWithoutAValueAreRefused) {
  const auto with = [](const WireWriter& attribute) {
    return refusal(model(graph({.nodes = {node("Frob", {}, {}, {attribute})}})));
  };
  WireWriter nested = graph({});
  for (int i = 0; i < 20; ++i) {
    nested = graph({.nodes = {node("If", {}, {}, {graph_attribute("then_branch", nested)})}});
  }

  EXPECT_EQ(with(WireWriter().text(1, "a").number(20, 4)),
            "DATA_LOSS: attribute \"a\" has no value");
  EXPECT_EQ(with(WireWriter().text(1, "a").number(20, 5)),
            "DATA_LOSS: attribute \"a\" has no value");
  EXPECT_NE(with(WireWriter().text(21, "a")).find("refers to an attribute of a function"),
            std::string::npos);
  EXPECT_NE(refusal(model(nested)).find("field 6 nests more than 16 graphs"), std::string::npos);
}

TEST(OnnxModel, InputsWithAnInitializerAreNotArguments) {
  const std::string file = model(graph({.initializers = {float_tensor("w", {}, {1})},
                                        .inputs = {value_info("x"), value_info("w")}}));

  const Model read = parse_model(file);

  ASSERT_EQ(read.graph.inputs.size(), 1u);
  EXPECT_EQ(read.graph.inputs[0].name, "x");
}

TEST(OnnxModel, IsDescribedAsJson) {
  const WireWriter dims = WireWriter()
                              .message(1, WireWriter().number(1, 2))
                              .message(1, WireWriter().text(2, "N"))
                              .message(1, WireWriter());
  const WireWriter type =
      WireWriter().message(1, WireWriter().number(1, kOnnxInt64).message(2, dims));
  const WireWriter sequence = WireWriter().message(4, WireWriter());
  const std::string file =
      model(graph({.nodes = {node("Add", {"x", "x"}, {"y"}), node("Frob", {"y"}, {"z"})},
                   .inputs = {WireWriter().text(1, "x").message(2, type), value_info("s", 8),
                              WireWriter().text(1, "q").message(2, sequence)},
                   .outputs = {value_info("z")}}));

  EXPECT_EQ(nlohmann::json::parse(describe(parse_model(file))),
            nlohmann::json::parse(
                R"({"version":17,"inputs":[{"name":"x","type":"i64[2,N,?]"},)"
                R"({"name":"s","type":"tensor(string)[...]"},{"name":"q","type":"no tensor"}],)"
                R"("outputs":[{"name":"z","type":"f32[...]"}],"ops":["Add","Frob"],)"
                R"("unknown":[{"op":"Frob","nodes":["node 1"]}]})"));
}

TEST(OnnxModel, RefusesFilesOfOtherFormats) {
  EXPECT_EQ(refusal(""), "DATA_LOSS: a model of 0 bytes has no graph");
  EXPECT_EQ(refusal("#!/bin/sh"), "DATA_LOSS: byte 0: field 4 has an invalid wire type");
}

}  // namespace
}  // namespace tenon::onnx
