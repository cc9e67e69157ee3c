#include "core/io/onnx/run.h"

#include <set>

#include "core/io/onnx/adapters.h"
#include "core/testing/onnx_run.h"

namespace tenon::onnx {
namespace {

using namespace testing;  // NOLINT: helpers that build ONNX files.

TEST_F(OnnxRun, RunsNodesInOrder) {
  const std::string file = model(
      graph({.nodes = {node("Add", {"x", "one"}, {"sum"}), node("Mul", {"sum", "sum"}, {"y"})},
             .initializers = {float_tensor("one", {}, {1})},
             .inputs = {value_info("x")},
             .outputs = {value_info("y")}}));

  EXPECT_TENSOR(run(file, {f32({1, 2})}), f32({4, 9}));
}

TEST_F(OnnxRun, ReleasesAValueAfterItsLastRead) {
  std::vector<WireWriter> nodes;
  for (int i = 0; i < 20; ++i) {
    nodes.push_back(
        node("Neg", {i ? "v" + std::to_string(i) : "x"}, {"v" + std::to_string(i + 1)}));
  }
  const std::string file =
      model(graph({.nodes = nodes, .inputs = {value_info("x")}, .outputs = {value_info("v20")}}));
  const Tensor x = fill(number(1), {1 << 16}, DType::kF32);
  const uint64_t before = device().allocator().statistics().peak_bytes;

  run(file, {x});

  EXPECT_LE(device().allocator().statistics().peak_bytes - before, 2u * (4 << 16));
}

TEST_F(OnnxRun, ListsAllUnknownOpsBeforeAnythingRuns) {
  const std::string file = model(
      graph({.nodes = {node("Frob", {"x"}, {"a"}).text(3, "first"), node("Frob", {"a"}, {"b"}),
                       node("Knit", {"b"}, {"y"}).text(7, "com.wool")},
             .inputs = {value_info("x")},
             .outputs = {value_info("y")}}));

  EXPECT_ERROR(run(file, {f32({1})}), Code::kUnimplemented,
               "the model has ops that are not supported: Frob (node \"first\", node 1), "
               "com.wool.Knit (node 2)");
}

TEST_F(OnnxRun, UnknownForeignOpsNameTheBuildOptionThatAddsThem) {
  const std::vector<UnknownOp> foreign = {{"com.microsoft.FusedGemm", {"node 3"}}},
                               other = {{"com.wool.Knit", {"node 0"}}};
  const std::string hint = "TENON_ONNX_FOREIGN";

  EXPECT_NE(unknown_ops_text(foreign, false).find(hint), std::string::npos);
  EXPECT_EQ(unknown_ops_text(foreign, true),
            "the model has ops that are not supported: com.microsoft.FusedGemm (node 3)");
  EXPECT_EQ(unknown_ops_text(other, false),
            "the model has ops that are not supported: com.wool.Knit (node 0)");
}

TEST_F(OnnxRun, RefusesOpsOfNewerOperatorSets) {
  EXPECT_ERROR(
      run_node(node("Neg", {"x"}, {"y"}), {f32({1})}, 28), Code::kUnimplemented,
      "the model imports version 28 of ONNX's ops, but the newest supported version is 27");
}

TEST_F(OnnxRun, AnErrorNamesTheNodeAndTheOp) {
  const Tensor x = f32({1, 2}), three = f32({1, 2, 3});

  EXPECT_ERROR(run_node(node("Add", {"x", "x1"}, {"y"}).text(3, "joins"), {x, three}),
               Code::kInvalidArgument, "node \"joins\" (Add): add: C");
}

TEST_F(OnnxRun, RefusesUnknownAttributes) {
  EXPECT_ERROR(run_node(node("Elu", {"x"}, {"y"}, {int_attribute("spin", 1)}), {f32({1})}),
               Code::kUnimplemented, "node 0 (Elu): attribute spin is not supported");
  EXPECT_ERROR(run_node(node("Clip", {"x"}, {"y"}, {float_attribute("min", 1)}), {f32({1})}),
               Code::kUnimplemented, "node 0 (Clip): attribute min is not supported");
  EXPECT_ERROR(run_node(node("Elu", {"x"}, {"y"}, {int_attribute("alpha", 1)}), {f32({1})}),
               Code::kInvalidArgument, "elu does not accept this value for its attribute alpha");
}

TEST_F(OnnxRun, InputsMustHaveTheDeclaredTypes) {
  const std::string file = model(graph({.nodes = {node("Neg", {"x"}, {"y"})},
                                        .inputs = {value_info("x")},
                                        .outputs = {value_info("y")}}));

  EXPECT_ERROR(run(file, {}), Code::kInvalidArgument, "the model takes 1 inputs, but got 0");
  EXPECT_ERROR(run(file, {i64({1})}), Code::kInvalidArgument,
               "input \"x\" is i64[1], but the model takes f32[...]");
  EXPECT_TENSOR(run(file, {make_scalar(2.0)}), f32({}, {-2}));
}

TEST_F(OnnxRun, RefusesValuesThatAreDefinedTwiceOrReadBeforeTheyAreDefined) {
  const auto with = [&](const std::vector<WireWriter>& nodes) {
    return run(
        model(graph({.nodes = nodes, .inputs = {value_info("x")}, .outputs = {value_info("y")}})),
        {f32({1})});
  };

  EXPECT_ERROR(with({node("Neg", {"z"}, {"y"})}), Code::kDataLoss,
               "the value \"z\" is read, but no earlier node defines it");
  EXPECT_ERROR(with({node("Neg", {"x"}, {"y"}), node("Abs", {"x"}, {"y"})}), Code::kDataLoss,
               "the value \"y\" is defined twice");
  EXPECT_ERROR(with({}), Code::kDataLoss,
               "the value \"y\" is read, but no earlier node defines it");
  EXPECT_ERROR(with({node("Neg", {"x"}, {"y", "more"}), node("Abs", {"more"}, {"z"})}),
               Code::kUnimplemented, "the node uses output 1, but the op has only 1 known outputs");
}

// ---- control flow

TEST_F(OnnxRun, AnInnerGraphReadsValuesOfTheEnclosingGraph) {
  const WireWriter negated =
      graph({.nodes = {node("Neg", {"x"}, {"n"})}, .outputs = {value_info("n")}});
  const WireWriter doubled =
      graph({.nodes = {node("Add", {"x", "x"}, {"d"})}, .outputs = {value_info("d")}});
  const WireWriter choose =
      node("If", {"c"}, {"y"},
           {graph_attribute("then_branch", negated), graph_attribute("else_branch", doubled)});
  const std::string file = model(graph({.nodes = {choose},
                                        .inputs = {value_info("c", kOnnxBool), value_info("x")},
                                        .outputs = {value_info("y")}}));

  EXPECT_TENSOR(run(file, {make(DType::kBool, {}, {1}), f32({3})}), f32({-3}));
  EXPECT_TENSOR(run(file, {make(DType::kBool, {}, {0}), f32({3})}), f32({6}));
}

TEST_F(OnnxRun, ALoopReturnsCarriedValuesAndScanOutputs) {
  const WireWriter body =
      graph({.nodes = {node("Add", {"v", "v"}, {"v2"}), node("Identity", {"v2"}, {"s"}),
                       node("Identity", {"c"}, {"c2"})},
             .inputs = {value_info("i", kOnnxInt64), value_info("c", kOnnxBool), value_info("v")},
             .outputs = {value_info("c2", kOnnxBool), value_info("v2"), value_info("s")}});
  const WireWriter loop =
      node("Loop", {"m", "", "x"}, {"last", "all"}, {graph_attribute("body", body)});
  const std::string file = model(graph({.nodes = {loop},
                                        .initializers = {int_tensor("m", {3})},
                                        .inputs = {value_info("x")},
                                        .outputs = {value_info("all"), value_info("last")}}));

  EXPECT_TENSOR(run(file, {f32({1})}), f32({3, 1}, {2, 4, 8}));
}

TEST_F(OnnxRun, ScanIteratesBackwardToo) {
  const WireWriter body =
      graph({.nodes = {node("Add", {"v", "e"}, {"v2"}), node("Identity", {"v2"}, {"s"})},
             .inputs = {value_info("v"), value_info("e")},
             .outputs = {value_info("v2"), value_info("s")}});
  const WireWriter scan = node("Scan", {"zero", "x"}, {"last", "y"},
                               {int_attribute("num_scan_inputs", 1), graph_attribute("body", body),
                                ints_attribute("scan_input_directions", {1})});

  EXPECT_TENSOR(run_node(scan, {f32({1, 2, 3})}, 17, {float_tensor("zero", {}, {0})}),
                f32({3, 5, 6}));
}

// ---- coverage of the ops of ONNX

TEST_F(OnnxRun, NoTwoOpsShareAnOnnxName) {
  std::set<std::string> same;
  for (const OpDef& op : all_ops()) {
    if (!*op.onnx || find_adapter("", op.onnx)) continue;
    EXPECT_TRUE(same.insert(op.onnx).second) << op.onnx << " is that of " << op.name << ", too";
  }
  EXPECT_GT(same.size(), 50u);
}

TEST_F(OnnxRun, DamagedFilesRunOrFailWithoutAnInternalError) {
  const std::string file = model(
      graph({.nodes = {node("Conv", {"x", "w"}, {"c"}, {ints_attribute("pads", {1, 1})}),
                       node("ReduceSum", {"c", "axes"}, {"y"}, {int_attribute("keepdims", 0)})},
             .initializers = {float_tensor("w", {1, 1, 3}, {1, 2, 3}), int_tensor("axes", {2})},
             .inputs = {value_info("x")},
             .outputs = {value_info("y")}}));
  const Tensor x = f32({1, 1, 4}, {1, 2, 3, 4});
  EXPECT_TENSOR(run(file, {x}), f32({1, 1}, {53}));
  const auto try_it = [&](const std::string& damaged) {
    try {
      run(damaged, {x});
    } catch (const Error& error) {
      EXPECT_NE(error.code(), Code::kInternal) << error.what();
    }
  };

  for (size_t size = 0; size < file.size(); ++size) try_it(file.substr(0, size));
  for (size_t i = 0; i < file.size() * 8; ++i) {
    std::string damaged = file;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ 1 << i % 8);
    try_it(damaged);
  }
}

}  // namespace
}  // namespace tenon::onnx
