// Tests of the pass select, in text form, and of its effect on a loop.

#include "core/testing/graph_text.h"
#include "core/trace/passes/pass.h"

namespace tenon {
namespace {

class SelectBranches : public testing::CoreTest {
 protected:
  void expect(std::string_view text, std::string_view want) {
    const std::unique_ptr<Graph> graph = parse_graph(scope(), text);
    const SizeTable::Use use(graph->sizes());
    Tensors constants;
    const auto result = select_branches(scope(), *graph, constants);
    ASSERT_NE(result, nullptr);
    EXPECT_EQ(verify(scope(), *result, constants), nullptr);
    EXPECT_GRAPH(to_text(*result), want);
  }
  void expect_unchanged(std::string_view text) {
    const std::unique_ptr<Graph> graph = parse_graph(scope(), text);
    const SizeTable::Use use(graph->sizes());
    Tensors constants;
    EXPECT_EQ(select_branches(scope(), *graph, constants), nullptr) << text;
  }
};

TEST_F(SelectBranches, SmallElementwiseRegionsBecomeAWhere) {
  expect(
      "(p: bool[], x: f32[2]) { y = branch(p, x) do (a: f32[2]) { return add(a, 1.5) } "
      "do (a: f32[2]) { b = exp(a) return neg(b) } return y }",
      "(p: bool[], x: f32[2]) { c = add(x, 1.5) b = exp(x) d = neg(b) y = where(p, c, d) "
      "return y }");
}

TEST_F(SelectBranches, AnOutputThatBothRegionsPassOnNeedsNoWhere) {
  expect(
      "(p: bool[], x: f32[], z: f32[]) { u, v = branch(p, x, z) do (a: f32[], b: f32[]) "
      "{ return neg(a), b } do (a: f32[], b: f32[]) { return a, b } return u, v }",
      "(p: bool[], x: f32[], z: f32[]) { n = neg(x) u = where(p, n, x) return u, z }");
}

TEST_F(SelectBranches, KeepsABranchWhoseRegionContainsABranch) {
  // A region of the outer branch contains a branch, which is not an elementwise call. So the outer
  // branch stays. The inner branch is replaced when the passes run on that region.
  expect_unchanged(
      "(p: bool[], q: bool[], x: f32[]) { y = branch(p, q, x) do (r: bool[], a: f32[]) "
      "{ c = branch(r, a) do (d: f32[]) { return neg(d) } do (d: f32[]) { return d } return c } "
      "do (r: bool[], a: f32[]) { return a } return y }");
}

TEST_F(SelectBranches, KeepsBranchesThatMayFailOrAreExpensive) {
  for (const char* call : {"gather(a, i)", "matmul(a, a)", "sum(a)"}) {
    SCOPED_TRACE(call);
    const std::string result = std::string(call) == "sum(a)" ? "neg(sum(a))" : call;
    const std::string other = std::string(call) == "sum(a)" ? "sum(a)" : "a";
    const std::string index = std::string(call) == "gather(a, i)" ? "i64[2]" : "i64[]";
    expect_unchanged("(p: bool[], x: f32[2,2], j: " + index +
                     ") { y = branch(p, x, j) do (a: f32[2,2], i: " + index + ") { return " +
                     result + " } do (a: f32[2,2], i: " + index + ") { return " + other +
                     " } return y }");
  }
  expect_unchanged(
      "(p: bool[], x: f32[32,33]) { y = branch(p, x) do (a: f32[32,33]) { return neg(a) } "
      "do (a: f32[32,33]) { return a } return y }");
}

TEST_F(SelectBranches, KeepsSwitchesOnAnInteger) {
  expect_unchanged(
      "(n: i64[], x: f32[]) { y = branch(n, x) do (a: f32[]) { return neg(a) } "
      "do (a: f32[]) { return a } return y }");
}

}  // namespace
}  // namespace tenon
