// Each pass, text to text.

#include "core/trace/passes/pass.h"

#include "core/testing/graph_text.h"

namespace tenon {
namespace {

using testing::values_of;

class Passes : public testing::CoreTest {
 protected:
  // What the passes make of a graph, one after the other.
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

  Tensors constants;  // What the last graph was given besides.
};

TEST_F(Passes, DropLeavesWhatOutputsNeed) {
  expect({"drop"}, "(x: f32[2], i: i64[1]) { a = exp(x) b = gather(a, i) c = neg(a) return c }",
         "(x: f32[2], i: i64[1]) { a = exp(x) c = neg(a) return c }");
  expect_unchanged("drop", "(x: f32[2]) { a, b = split(x, num_outputs=2) return b }");
}

TEST_F(Passes, ShareMakesEqualCallsOne) {
  expect({"share"},
         "(x: f32[2]) { a = exp(x) b = exp(x) c = add(a, b) d = add(b, a) e = mul(c, d) return e }",
         "(x: f32[2]) { a = exp(x) c = add(a, a) e = mul(c, c) return e }");
}

TEST_F(Passes, ShareTellsAttributesAndScalarsApart) {
  expect_unchanged("share",
                   "(x: f32[2,2]) { a = sum(x, axes=[0]) b = sum(x, axes=[1]) c = mul(a, b) "
                   "return c }");
  expect_unchanged("share",
                   "(x: f32[2]) { a = div(x, 0.0) b = div(x, -0.0) c = div(x, 0) return a, b, c }");
}

TEST_F(Passes, ShareSeesStatesAsValues) {
  expect_unchanged("share",
                   "(g: state u32[6]) { a, h = random_uniform(g, shape=[2]) "
                   "b, i = random_uniform(h, shape=[2]) return i, a, b }");
}

TEST_F(Passes, SimplifyKnowsIdentities) {
  for (const char* call :
       {"mul(x, 1.0)", "mul(1, x)", "div(x, 1.0)", "sub(x, 0.0)", "sub(x, 0)", "add(x, -0.0)",
        "identity(x)", "cast(x, to=f32)", "reshape(x, shape=[2,3])", "neg(neg(x))",
        "broadcast_to(x, shape=[2,3])", "transpose(x, perm=[0,1])", "transpose(transpose(x))"}) {
    SCOPED_TRACE(call);
    const std::string text = std::string("(x: f32[2,3]) { y = exp(") + call + ") return y }";
    expect({"simplify", "drop"}, text, "(x: f32[2,3]) { y = exp(x) return y }");
  }
}

TEST_F(Passes, SimplifyLeavesWhatIsNotExact) {
  for (const char* call : {"add(x, 0.0)", "add(x, 0)", "mul(x, -1.0)", "sub(0.0, x)", "div(1, x)",
                           "sub(x, -0.0)", "transpose(x)", "cast(x, to=f64)", "mul(x, x)"}) {
    SCOPED_TRACE(call);
    expect_unchanged("simplify", std::string("(x: f32[2,3]) { y = ") + call + " return y }");
  }
  // The result is larger than the operand, or of another dtype.
  expect_unchanged("simplify",
                   "(x: f32[1], y: f32[3]) { a = broadcast_to(x, shape=[3]) return a }");
}

TEST_F(Passes, SimplifyAddsWholeZeros) {
  expect({"simplify"}, "(n: i64[2]) { a = add(n, 0) b = sub(a, 0) return b }",
         "(n: i64[2]) { return n }");
}

TEST_F(Passes, SimplifyMakesOneReshapeOfTwo) {
  expect({"simplify", "drop"},
         "(x: f32[4,3]) { a = reshape(x, shape=[12]) b = reshape(a, shape=[6,-1]) return b }",
         "(x: f32[4,3]) { b = reshape(x, shape=[6,-1]) return b }");
}

TEST_F(Passes, FoldComputesWhatDependsOnNothing) {
  expect({"fold", "drop"},
         "(x: f32[3]) { a = fill(2.0, shape=[3]) b = exp(a) c = mul(x, b) return c }",
         "(x: f32[3], e: capture f32[3]) { c = mul(x, e) return c }");
  ASSERT_EQ(constants.size(), 1u);
  EXPECT_NEAR(values_of(constants[0])[2], 7.389056, 1e-5);
}

TEST_F(Passes, FoldLeavesWhatIsLargeOrFails) {
  expect_unchanged("fold", "() { a = fill(2.0, shape=[1000000]) return a }");
  expect_unchanged("fold", "(n: f32[n]) { a = fill(2.0, shape=[n]) b = add(a, n) return b }");
}

}  // namespace
}  // namespace tenon
