// Tests of each pass. Graphs before and after the pass are compared in text form.

#include "core/trace/passes/pass.h"

#include "core/base/work_steps.h"
#include "core/testing/graph_text.h"
#include "core/trace/graph/region.h"

namespace tenon {
namespace {

using testing::values_of;

class Passes : public testing::CoreTest {
 protected:
  // Applies the passes one after the other.
  std::string run(std::initializer_list<std::string_view> names, std::string_view text) {
    std::shared_ptr<Graph> graph = parse_graph(scope(), text);
    const SizeTable::Use use(graph->sizes());
    constants = {};
    for (const std::string_view name : names) {
      graph = passes()[find_pass(name)].run(scope(), *graph, constants);
    }
    return to_text(*graph);
  }
  void expect(std::initializer_list<std::string_view> names, std::string_view text,
              std::string_view want) {
    EXPECT_GRAPH(run(names, text), want);
  }
  void expect_unchanged(std::string_view name, std::string_view text) {
    expect({name}, text, text);
  }

  Tensors constants;  // Constants that the last call of run() added.
};

// Violates each rule of a valid graph in turn, and expects the error message.
TEST_F(Passes, VerifyNamesTheNodeAndTheRule) {
  using Break = std::function<void(Graph & graph, Node & sum)>;
  const auto expect_error = [&](const char* message, const Break& break_it) {
    const std::unique_ptr<Graph> graph = parse_graph(
        scope(), "(x: f32[2], c: f32[]) { e = exp(x) s = add(e, 1.0) n = neg(s) return n }");
    const SizeTable::Use use(graph->sizes());
    EXPECT_EQ(verify(scope(), *graph, constants), nullptr);
    for (Node& node : graph->nodes()) {
      if (node.names[0] == "s") break_it(*graph, node);
    }
    EXPECT_ERROR(verify(scope(), *graph, constants), Code::kInternal, message);
  };
  const auto last = [](Graph& graph) { return &graph.nodes().back(); };

  expect_error("G1 at x", [](Graph& g, Node&) { g.set_inputs({g.inputs()[1]}); });
  expect_error("G1 at x, which calls no op: the node is listed twice among the graph's inputs",
               [](Graph& g, Node&) {
                 g.set_inputs({g.inputs()[0], g.inputs()[0]});
               });
  expect_error("the graph violates G1: ", [](Graph& g, Node& s) { g.set_inputs({&s}); });
  expect_error("G2 at s, which calls add: an input is a value that no earlier node defines",
               [&](Graph& g, Node& s) { s.inputs[0] = last(g)->output(); });
  expect_error("G2 at s", [](Graph&, Node& s) { s.inputs[0].index = 3; });
  expect_error("G3 at s", [](Graph&, Node& s) { s.first_slot = 0; });
  expect_error("G3 at e", [](Graph&, Node& s) { s.names[0] = "e"; });
  expect_error("G4", [&](Graph&, Node& s) { s.inputs[1].node->constant = testing::f32({1}); });
  expect_error("G5 at s, which calls add: output 0 is inferred as f32[2], but declared as f64[2]",
               [](Graph&, Node& s) { s.types[0].dtype = DType::kF64; });
  expect_error("G5 at s, which calls add: output 0 is inferred as f32[2], but declared as f32[3]",
               [](Graph&, Node& s) { s.types[0].shape = Dims{3}; });
  expect_error("G5 at s, which calls add: add: takes 2 inputs",
               [](Graph&, Node& s) { s.inputs.pop_back(); });
  expect_error("G6: output 0", [](Graph& g, Node&) { g.set_outputs({Value()}); });
}

constexpr const char* kBranch =
    "(p: bool[], x: f32[2]) { y = branch(p, x) do (a: f32[2]) { return neg(a) } "
    "do (a: f32[2]) { b = exp(a) return b } return y }";

TEST_F(Passes, VerifyChecksLoopsAndBranches) {
  const std::unique_ptr<Graph> graph = parse_graph(scope(), kBranch);
  const SizeTable::Use use(graph->sizes());
  const auto& attrs = region_attrs(graph->nodes().back().attrs.view());
  auto& inside = const_cast<Graph&>(attrs.regions[1]->graph());
  inside.nodes().back().types[0].dtype = DType::kF16;
  EXPECT_ERROR(verify(scope(), *graph, constants), Code::kInternal, "G5 at b, which calls exp");
}

// A region is immutable and is verified only once. Otherwise a region nested n deep would be
// verified n times.
TEST_F(Passes, VerifyChecksARegionOnce) {
  const std::unique_ptr<Graph> graph = parse_graph(scope(), kBranch);
  const SizeTable::Use use(graph->sizes());
  const WorkSteps first;
  verify(scope(), *graph, constants);
  const uint64_t n_first = first.count();

  const WorkSteps again;
  verify(scope(), *graph, constants);

  EXPECT_TRUE(region_attrs(graph->nodes().back().attrs.view()).regions[0]->is_verified());
  EXPECT_LT(again.count(), n_first);
}

TEST_F(Passes, DceRemovesOnlyDeadCalls) {
  expect({"dce"}, "(x: f32[2], i: i64[1]) { a = exp(x) b = gather(a, i) c = neg(a) return c }",
         "(x: f32[2], i: i64[1]) { a = exp(x) c = neg(a) return c }");
  expect_unchanged("dce", "(x: f32[2]) { a, b = split(x, num_outputs=2) return b }");
}

TEST_F(Passes, CseMergesEqualCalls) {
  expect({"cse"},
         "(x: f32[2]) { a = exp(x) b = exp(x) c = add(a, b) d = add(b, a) e = mul(c, d) return e }",
         "(x: f32[2]) { a = exp(x) c = add(a, a) e = mul(c, c) return e }");
}

TEST_F(Passes, CseDistinguishesAttributesAndScalars) {
  expect_unchanged("cse",
                   "(x: f32[2,2]) { a = sum(x, axes=[0]) b = sum(x, axes=[1]) c = mul(a, b) "
                   "return c }");
  expect_unchanged("cse",
                   "(x: f32[2]) { a = div(x, 0.0) b = div(x, -0.0) c = div(x, 0) return a, b, c }");
}

TEST_F(Passes, CseKeepsCallsWithDifferentStates) {
  expect_unchanged("cse",
                   "(g: state u32[6]) { a, h = random_uniform(g, shape=[2]) "
                   "b, i = random_uniform(h, shape=[2]) return i, a, b }");
}

TEST_F(Passes, SimplifyAppliesIdentities) {
  for (const char* call :
       {"mul(x, 1.0)", "mul(1, x)", "div(x, 1.0)", "sub(x, 0.0)", "sub(x, 0)", "add(x, -0.0)",
        "identity(x)", "cast(x, to=f32)", "reshape(x, shape=[2,3])", "neg(neg(x))",
        "broadcast_to(x, shape=[2,3])", "transpose(x, perm=[0,1])", "transpose(transpose(x))"}) {
    SCOPED_TRACE(call);
    const std::string text = std::string("(x: f32[2,3]) { y = exp(") + call + ") return y }";
    expect({"simplify", "dce"}, text, "(x: f32[2,3]) { y = exp(x) return y }");
  }
}

TEST_F(Passes, SimplifyKeepsInexactIdentities) {
  for (const char* call : {"add(x, 0.0)", "add(x, 0)", "mul(x, -1.0)", "sub(0.0, x)", "div(1, x)",
                           "sub(x, -0.0)", "transpose(x)", "cast(x, to=f64)", "mul(x, x)"}) {
    SCOPED_TRACE(call);
    expect_unchanged("simplify", std::string("(x: f32[2,3]) { y = ") + call + " return y }");
  }
  // The shape of the result differs from that of the operand.
  expect_unchanged("simplify",
                   "(x: f32[1], y: f32[3]) { a = broadcast_to(x, shape=[3]) return a }");
}

TEST_F(Passes, SimplifyRemovesIntegerZeros) {
  expect({"simplify"}, "(n: i64[2]) { a = add(n, 0) b = sub(a, 0) return b }",
         "(n: i64[2]) { return n }");
}

TEST_F(Passes, SimplifyMergesReshapes) {
  expect({"simplify", "dce"},
         "(x: f32[4,3]) { a = reshape(x, shape=[12]) b = reshape(a, shape=[6,-1]) return b }",
         "(x: f32[4,3]) { b = reshape(x, shape=[6,-1]) return b }");
}

TEST_F(Passes, FoldComputesConstantCalls) {
  expect({"fold", "dce"},
         "(x: f32[3]) { a = fill(2.0, shape=[3]) b = exp(a) c = mul(x, b) return c }",
         "(x: f32[3], e: capture f32[3]) { c = mul(x, e) return c }");
  ASSERT_EQ(constants.size(), 1u);
  EXPECT_NEAR(values_of(constants[0])[2], 7.389056, 1e-5);
}

TEST_F(Passes, FoldKeepsLargeOrSymbolicCalls) {
  expect_unchanged("fold", "() { a = fill(2.0, shape=[1000000]) return a }");
  expect_unchanged("fold", "(n: f32[n]) { a = fill(2.0, shape=[n]) b = add(a, n) return b }");
}

// ---- complexity

// Returns the number of steps of a pass for a chain of n calls, some of them equal, constant or
// dead.
uint64_t steps_of(Scope& scope, std::string_view pass, size_t n) {
  std::string text = "(x: f32[2]) { v_0 = exp(x)";
  for (size_t i = 1; i <= n; ++i) {
    const std::string number = std::to_string(i), before = std::to_string(i - 1);
    text += " v_" + number + " = add(v_" + before + ", x)";
    text += " dead_" + number + " = exp(x)";
    text += " c_" + number + " = fill(" + number + ".0, shape=[2], dtype=f32)";
  }
  const std::unique_ptr<Graph> graph =
      parse_graph(scope, text + " return v_" + std::to_string(n) + " }");
  const SizeTable::Use use(graph->sizes());
  Tensors constants;
  const WorkSteps steps;
  passes()[find_pass(pass)].run(scope, *graph, constants);
  return steps.count();
}

TEST_F(Passes, TakeLinearTime) {
  for (const Pass& pass : passes()) {
    if (!pass.run) continue;
    SCOPED_TRACE(pass.name);
    const uint64_t small = steps_of(scope(), pass.name, 100);
    const uint64_t large = steps_of(scope(), pass.name, 1000);
    EXPECT_GT(small, 100u);
    EXPECT_LT(large, 11 * small);
  }
}

// Each folded result has 16 KiB. Without a limit, a graph could fold any number of them.
TEST_F(Passes, FoldStoresAtMost64MiB) {
  const auto n_folded = [&](size_t n) {
    std::string text = "(x: f32[4096]) { v_0 = exp(x)";
    for (size_t i = 1; i <= n; ++i) {
      const std::string number = std::to_string(i), before = std::to_string(i - 1);
      text += " c_" + number + " = fill(" + number + ".0, shape=[4096], dtype=f32)";
      text += " v_" + number + " = add(v_" + before + ", c_" + number + ")";
    }
    run({"fold"}, text + " return v_" + std::to_string(n) + " }");
    return constants.size();
  };

  EXPECT_EQ(n_folded(100), 100u);
  EXPECT_EQ(n_folded(5000), 4096u);  // 4096 results of 16 KiB.
}

// Intermediate values of a composite may be far larger than its result.
TEST_F(Passes, FoldKeepsCompositesWithLargeIntermediates) {
  expect({"fold", "dce"},
         "() { c = fill(1.0, shape=[1,1,1]) y = lp_pool(c, kernel_shape=[2000001], "
         "pads=[1000000,1000000]) return y }",
         "(c: capture f32[1,1,1]) { y = lp_pool(c, kernel_shape=[2000001], "
         "pads=[1000000,1000000]) return y }");
}

}  // namespace
}  // namespace tenon
