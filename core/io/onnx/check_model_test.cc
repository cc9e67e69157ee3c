// Model errors that must be found before the model runs.

#include "core/io/onnx/model.h"
#include "core/io/onnx/model_program.h"
#include "core/testing/onnx_file.h"
#include "core/testing/test.h"

namespace tenon::onnx {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.

class CheckModel : public CoreTest {
 protected:
  void read(const std::string& bytes) { program_of_model(scope(), {.bytes = bytes, .stem = "m"}); }
  void read(const std::vector<WireWriter>& nodes, std::vector<WireWriter> initializers = {}) {
    read(model(graph({.nodes = nodes,
                      .initializers = std::move(initializers),
                      .inputs = {value_info("x")},
                      .outputs = {value_info("y")}})));
  }
};

TEST_F(CheckModel, ValuesAreComputedOnceAndBeforeTheyAreRead) {
  EXPECT_ERROR(read({node("Neg", {"z"}, {"y"})}), Code::kDataLoss,
               "the value \"z\" is read by node 0 (Neg), but no earlier node defines it");
  EXPECT_ERROR(read({node("Neg", {"x"}, {"y"}), node("Abs", {"x"}, {"y"})}), Code::kDataLoss,
               "the value \"y\" is defined twice");
  EXPECT_ERROR(read({node("Neg", {"x"}, {"x"})}), Code::kDataLoss,
               "the value \"x\" is defined twice");
  EXPECT_ERROR(
      read({node("Neg", {"x"}, {"y"})}, {float_tensor("w", {}, {1}), float_tensor("w", {}, {1})}),
      Code::kDataLoss, "the value \"w\" is defined twice");
  EXPECT_ERROR(
      read(std::vector<WireWriter>()), Code::kDataLoss,
      "the value \"y\" is read by the graph \"\" as an output, but no earlier node defines it");
}

TEST_F(CheckModel, CyclesOfNodesAreRefused) {
  EXPECT_ERROR(read({node("Add", {"x", "b"}, {"a"}), node("Neg", {"a"}, {"b"}).text(3, "back"),
                     node("Abs", {"b"}, {"y"})}),
               Code::kDataLoss,
               "node \"back\" (Neg) does, so the nodes are unordered or form a cycle");
  EXPECT_ERROR(read({node("Neg", {"y"}, {"y"})}), Code::kDataLoss, "form a cycle");
}

TEST_F(CheckModel, InnerGraphsReadOnlyEarlierValues) {
  const WireWriter inner =
      graph({.nodes = {node("Neg", {"later"}, {"n"})}, .outputs = {value_info("n")}});
  const WireWriter choose =
      node("If", {"x"}, {"y"},
           {graph_attribute("then_branch", inner), graph_attribute("else_branch", inner)});

  EXPECT_ERROR(read({choose, node("Neg", {"x"}, {"later"})}), Code::kDataLoss,
               "the value \"later\" is read by node 0 (Neg), but no earlier node defines it");
}

TEST_F(CheckModel, DuplicateAttributesAreRefused) {
  EXPECT_ERROR(
      read({node("Elu", {"x"}, {"y"}, {float_attribute("alpha", 1), float_attribute("alpha", 2)})}),
      Code::kDataLoss, "node 0 (Elu) has the attribute alpha twice");
  EXPECT_ERROR(read({node("Elu", {"x"}, {"y"}, {WireWriter().text(1, "alpha").text(21, "beta")})}),
               Code::kDataLoss, "refers to an attribute of a function, but is outside a function");
}

TEST_F(CheckModel, InputsWithoutATensorTypeAreRefused) {
  const auto with = [&](const WireWriter& input) {
    read(model(graph({.nodes = {node("Neg", {"x"}, {"y"})},
                      .inputs = {WireWriter().text(1, "x").message(2, input)},
                      .outputs = {value_info("y")}})));
  };
  const auto tensor = [](uint64_t element, std::initializer_list<uint64_t> sizes) {
    WireWriter shape;
    for (const uint64_t size : sizes) shape.message(1, WireWriter().number(1, size));
    return WireWriter().message(1, WireWriter().number(1, element).message(2, shape));
  };

  EXPECT_ERROR(with(WireWriter().message(4, WireWriter())), Code::kUnimplemented,
               "the input \"x\" is no tensor, which is not a tensor of numbers");
  EXPECT_ERROR(with(tensor(8, {})), Code::kUnimplemented, "the input \"x\" is tensor(string)[]");
  EXPECT_ERROR(with(tensor(0, {})), Code::kUnimplemented, "the input \"x\" is tensor(undefined)[]");
  EXPECT_ERROR(with(tensor(99, {})), Code::kUnimplemented, "tensor(element type 99)[]");
  EXPECT_ERROR(with(tensor(1, {static_cast<uint64_t>(-5)})), Code::kDataLoss,
               "the value \"x\" is declared to be f32[?]");
  EXPECT_ERROR(with(tensor(1, {uint64_t{1} << 40, uint64_t{1} << 40})), Code::kDataLoss,
               "the value \"x\": ");
  EXPECT_ERROR(with(tensor(1, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})),
               Code::kUnimplemented, "the value \"x\" has 17 axes");
}

TEST_F(CheckModel, InitialisersMatchTheirDeclarations) {
  WireWriter g = graph({.nodes = {node("Add", {"x", "w"}, {"y"})},
                        .initializers = {float_tensor("w", {2}, {1, 2})},
                        .inputs = {value_info("x")},
                        .outputs = {value_info("y")}});
  g.message(13, value_info("w", kOnnxInt64));

  EXPECT_ERROR(read(model(g)), Code::kDataLoss,
               "the value \"w\" is declared to be i64[...], but is f32[2]");
}

TEST_F(CheckModel, TheNumberOfNodesIsBounded) {
  WireWriter inner = graph({.outputs = {value_info("x")}});
  for (int i = 0; i < 20; ++i) {
    inner = graph({.nodes = {node("If", {"x"}, {"y"}, {graph_attribute("then_branch", inner)})},
                   .outputs = {value_info("y")}});
  }
  std::string empty_nodes;
  for (int i = 0; i < (1 << 21) + 1; ++i) empty_nodes += std::string("\x0a\x00", 2);
  const std::string many = WireWriter().text(7, empty_nodes).bytes();

  EXPECT_ERROR(read(model(inner)), Code::kDataLoss, "nests more than 16 graphs");
  EXPECT_ERROR(read(many), Code::kDataLoss, "exceeds the maximum of 2^21 fields in a model");
}

TEST_F(CheckModel, ADomainImportedTwiceHasTheHigherVersion) {
  const WireWriter g = graph({.inputs = {value_info("x")}, .outputs = {value_info("x")}});
  const auto set = [](uint64_t version) { return WireWriter().text(1, "").number(2, version); };
  const auto version_of = [&](uint64_t first, uint64_t second) {
    const std::string file =
        WireWriter().message(7, g).message(8, set(first)).message(8, set(second)).bytes();
    read(file);
    return parse_model(file).version_of("");
  };

  EXPECT_EQ(version_of(9, 17), 17);
  EXPECT_EQ(version_of(17, 9), 17);
  EXPECT_ERROR(version_of(9, 28), Code::kUnimplemented, "the newest supported version is 27");
}

TEST_F(CheckModel, AModelHasOneGraph) {
  const WireWriter g = graph({.inputs = {value_info("x")}, .outputs = {value_info("x")}});

  EXPECT_ERROR(read(WireWriter().message(7, g).message(7, g).bytes()), Code::kDataLoss,
               "is a second graph");
  EXPECT_ERROR(read(model(g, 28)), Code::kUnimplemented, "the newest supported version is 27");
}

// Truncates a model after each byte, so that every field is cut off once.
TEST_F(CheckModel, TruncatedFilesDoNotCrash) {
  const WireWriter body =
      graph({.nodes = {node("Add", {"v", "x"}, {"v2"}), node("Identity", {"c"}, {"c2"})},
             .inputs = {value_info("i", kOnnxInt64), value_info("c", kOnnxBool), value_info("v")},
             .outputs = {value_info("c2", kOnnxBool), value_info("v2")}});
  const std::string whole =
      model(graph({.nodes = {node("Loop", {"n", "", "x"}, {"l"}, {graph_attribute("body", body)}),
                             node("Reshape", {"l", "to"}, {"y"})},
                   .initializers = {int_tensor("n", {2}), int_tensor("to", {1, -1}),
                                    float_tensor("w", {1}, {1})},
                   .inputs = {value_info("x")},
                   .outputs = {value_info("y")}}));
  size_t refused = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    try {
      read(whole.substr(0, size));
    } catch (const Error& error) {
      refused += error.code() == Code::kDataLoss || error.code() == Code::kUnimplemented;
    }
  }

  // The operator set version is the last field. Without it, nodes have their oldest versions, which
  // are supported.
  EXPECT_GE(refused, whole.size() - 8);
  read(whole);
}

}  // namespace
}  // namespace tenon::onnx
