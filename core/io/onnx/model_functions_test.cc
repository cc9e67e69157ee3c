// Functions that a model defines itself, and calls of them.

#include "core/io/onnx/own_ops.h"
#include "core/testing/onnx_program.h"

namespace tenon::onnx {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.

class ModelFunctions : public ModelProgram {
 protected:
  static WireWriter operators(const std::string& domain, uint64_t version) {
    return WireWriter().text(1, domain).number(2, version);
  }
  static WireWriter defined(const std::string& name, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs,
                            const std::vector<WireWriter>& nodes, uint64_t version = 17) {
    WireWriter f = WireWriter().text(1, name).text(10, "mine");
    for (const std::string& input : inputs) f.text(4, input);
    for (const std::string& output : outputs) f.text(5, output);
    for (const WireWriter& each : nodes) f.message(7, each);
    return f.message(9, operators("", version)).message(9, operators("mine", 1));
  }
  static std::string with_functions(const WireWriter& g, const std::vector<WireWriter>& functions) {
    WireWriter m = WireWriter().number(1, 10).message(7, g).message(8, operators("", 17));
    m.message(8, operators("mine", 1));
    for (const WireWriter& f : functions) m.message(25, f);
    return m.bytes();
  }
  static WireWriter mine(const std::string& op, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs,
                         const std::vector<WireWriter>& attributes = {}) {
    return node(op, inputs, outputs, attributes).text(7, "mine");
  }
  static WireWriter reference(const std::string& name, const std::string& to, uint64_t kind) {
    return WireWriter().text(1, name).number(20, kind).text(21, to);
  }
  std::string calling(const WireWriter& call, const std::vector<WireWriter>& functions) {
    return with_functions(
        graph({.nodes = {call}, .inputs = {value_info("x")}, .outputs = {value_info("y")}}),
        functions);
  }
};

TEST_F(ModelFunctions, HaveTheirOwnAttributesDefaultsAndOperatorSets) {
  // In operator sets before 11, the bounds of Clip are attributes.
  WireWriter clip = defined(
      "Clip2", {"a"}, {"b"},
      {node("Clip", {"a"}, {"b"}, {reference("min", "low", 1), reference("max", "high", 1)})}, 6);
  clip.text(6, "low").message(11, float_attribute("high", 2));
  WireWriter twice = defined(
      "Twice", {"a"}, {"b"},
      {mine("Clip2", {"a"}, {"c"}, {float_attribute("low", 0)}), node("Add", {"c", "c"}, {"b"})});
  const Tensor x = f32({-1, 1, 3});

  EXPECT_TENSOR(call_one(function(calling(mine("Twice", {"x"}, {"y"}), {twice, clip})), {x}),
                f32({0, 2, 4}));
  EXPECT_TENSOR(
      call_one(function(calling(mine("Clip2", {"x"}, {"y"}, {float_attribute("high", 9)}), {clip})),
               {x}),
      x);
  EXPECT_ERROR(
      call(function(calling(mine("Clip2", {"x"}, {"y"}, {float_attribute("up", 9)}), {clip})), {x}),
      Code::kUnimplemented, "node 0 (mine.Clip2): the function has no attribute up");
  EXPECT_ERROR(call(function(calling(mine("Clip2", {"x", "x"}, {"y"}), {clip})), {x}),
               Code::kDataLoss, "the function takes 1 inputs, but got 2");
}

TEST_F(ModelFunctions, AreSelectedByTheirOverload) {
  const WireWriter negate = defined("F", {"a"}, {"b"}, {node("Neg", {"a"}, {"b"})}).text(13, "n");
  const WireWriter magnify = defined("F", {"a"}, {"b"}, {node("Abs", {"a"}, {"b"})});

  EXPECT_TENSOR(call_one(function(calling(mine("F", {"x"}, {"y"}).text(8, "n"), {negate, magnify})),
                         {f32({3})}),
                f32({-3}));
  EXPECT_TENSOR(
      call_one(function(calling(mine("F", {"x"}, {"y"}), {negate, magnify})), {f32({-2})}),
      f32({2}));
  EXPECT_ERROR(read(calling(mine("F", {"x"}, {"y"}).text(8, "m"), {negate})), Code::kUnimplemented,
               "ops that are not supported: mine.F (node 0)");
  EXPECT_ERROR(read(calling(mine("F", {"x"}, {"y"}), {magnify, magnify})), Code::kDataLoss,
               "the function F is defined twice");
}

TEST_F(ModelFunctions, RecursiveFunctionsAreRefused) {
  const WireWriter f = defined("F", {"a"}, {"b"}, {mine("G", {"a"}, {"b"})});
  const WireWriter g = defined("G", {"a"}, {"b"}, {mine("F", {"a"}, {"b"})});

  EXPECT_ERROR(read(calling(mine("F", {"x"}, {"y"}), {f, g})), Code::kDataLoss,
               "the function F calls itself");
}

TEST_F(ModelFunctions, ModelsThatInlineToTooManyNodesAreRefused) {
  // Each function calls the previous one twice. Inlined, they have 2^40 nodes.
  std::vector<WireWriter> functions = {defined("F0", {"a"}, {"b"}, {node("Neg", {"a"}, {"b"})})};
  for (int i = 1; i <= 40; ++i) {
    const std::string inner = "F" + std::to_string(i - 1);
    functions.push_back(defined("F" + std::to_string(i), {"a"}, {"b"},
                                {mine(inner, {"a"}, {"c"}), mine(inner, {"c"}, {"b"})}));
  }

  EXPECT_ERROR(read(calling(mine("F40", {"x"}, {"y"}), functions)), Code::kDataLoss,
               "nodes after its functions are inlined");
}

TEST_F(ModelFunctions, FunctionsOfTheDomainTenonBecomeTenonOps) {
  const auto with = [&](const std::string& text) {
    const WireWriter f = WireWriter()
                             .text(1, "leaky__1")
                             .text(10, "tenon")
                             .text(4, "a")
                             .text(5, "b")
                             .text(8, text)
                             .message(7, node("Neg", {"a"}, {"b"}))
                             .message(9, operators("", 17));
    const WireWriter g = graph({.nodes = {node("leaky__1", {"x"}, {"y"}).text(7, "tenon")},
                                .inputs = {value("x", {"2"})},
                                .outputs = {value_info("y")}});
    WireWriter m = WireWriter().number(1, 10).message(7, g).message(8, operators("", 17));
    const auto read_back = function(m.message(25, f).bytes());
    call(read_back, {f32({-2, 2})});
    return first_call_text(read_back);
  };

  EXPECT_EQ(with(R"({"op":"leaky_relu","attributes":{"alpha":0.5},"inputs":[0],"outputs":[0]})"),
            "v0 = leaky_relu(x, alpha=0.5)");
  // If the doc string names an unknown op, the function's body runs.
  EXPECT_EQ(with(R"({"op":"frob","attributes":{},"inputs":[0],"outputs":[0]})"), "v0 = neg(x)");
  EXPECT_EQ(with(R"({"op":"leaky_relu","attributes":{"alpha":"n"},"inputs":[0],"outputs":[0]})"),
            "v0 = neg(x)");
  EXPECT_EQ(with("negates"), "v0 = neg(x)");
}

}  // namespace
}  // namespace tenon::onnx
