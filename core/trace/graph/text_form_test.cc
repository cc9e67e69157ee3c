#include "core/trace/graph/text_form.h"

#include "core/testing/graph_text.h"

namespace tenon {
namespace {

using testing::reprinted_text;

class GraphText : public testing::CoreTest {
 protected:
  // The text must be printed exactly as it was parsed.
  void expect_same(const std::string& text) { EXPECT_EQ(reprinted_text(text), text); }
  void expect_error(std::string_view text, const char* message) {
    EXPECT_ERROR(parse_graph(scope(), text), Code::kInvalidArgument, message);
  }
};

TEST_F(GraphText, PrintsTheParsedText) {
  expect_same(R"((x: f32[4]) {
  a = exp(x)
  b = neg(a)
  c = add(a, b)
  return c
}
)");
}

TEST_F(GraphText, SupportsEachKindOfInput) {
  expect_same(R"((g0: state, v0: state f32[3], x: bool[], c: capture i64[2,3], rate: f32) {
  return g0, v0, x
}
)");
}

TEST_F(GraphText, OmitsAttributesWithDefaultValues) {
  EXPECT_EQ(reprinted_text("(x: f32[2,3]) { y = sum(x, axes=[], keepdims=true) return y }"),
            "(x: f32[2,3]) {\n  y = sum(x, keepdims=true)\n  return y\n}\n");
}

TEST_F(GraphText, SupportsEachKindOfAttribute) {
  expect_same(R"((x: f32[2,3], i: i32[2,3]) {
  a = cast(x, to=f64)
  b = scatter_elements(x, i, x, axis=1, reduction=add)
  c = elu(b, alpha=0.5)
  d = einsum(c, x, equation="ij,kj->ik")
  e = reshape(d, shape=[1,-1])
  f = one_hot(i, depth=7)
  g = slice(e, starts=[-1,3], ends=[-9223372036854775808,2], steps=[-1,-2])
  return a, f, g
}
)");
}

TEST_F(GraphText, SupportsScalars) {
  expect_same(R"((x: f32[2], n: i32[2], b: bool[2]) {
  a = add(x, 1.0)
  c = mul(a, -2.5e-08)
  d = maximum(c, -inf)
  e = add(n, -9223372036854775808)
  f = logical_and(b, true)
  return d, e, f
}
)");
}

TEST_F(GraphText, SupportsSymbolicSizes) {
  expect_same(R"((x: f32[n,4], y: f32[m,4]) {
  a = concat(x, y)
  b = reshape(a, shape=[4*n + 4*m])
  return b
}
)");
}

TEST_F(GraphText, SupportsGuards) {
  expect_same(R"((x: f32[n], y: f32[m]) where m == n, 1 < n {
  a = add(x, y)
  return a
}
)");
}

TEST_F(GraphText, AllowsNestedCalls) {
  EXPECT_GRAPH("(x: f32[4]) { return neg(exp(x)) }",
               "(x: f32[4]) { v0 = exp(x) v1 = neg(v0) return v1 }");
}

TEST_F(GraphText, SkipsComments) {
  EXPECT_GRAPH("(x: f32[4]) {  # what comes\n  return x  # in goes out\n}",
               "(x: f32[4]) { return x }");
}

TEST_F(GraphText, ReportsErrorsWithLineNumbers) {
  expect_error("(x: f32[4])\n{ y = frobnicate(x) return y }", "line 2: unknown op frobnicate");
  expect_error("(x: f32[4]) { return z }", "line 1: value z is not defined");
  expect_error("(x: f32[4]) { a, b = exp(x) return a }",
               "2 names are assigned, but the call has 1 outputs");
  expect_error("(x: f32[4]) { a = exp(x) a = neg(x) return a }", "two values are named a");
  expect_error("(x: f32[4]) { a = sum(x, axis=1) return a }", "sum has no attribute axis");
  expect_error("(x: f31[4]) { return x }", "expected a dtype, but found \"f31\"");
  expect_error("(x: f32[4]) { return x", "but found the end");
  expect_error("(x: f32[4], x: f32[4]) { return x }", "two inputs are named x");
  expect_error("(x: f32[4]) { a = add(x, true) return a }", "a bool scalar does not fit");
  expect_error("(x: f32[n]) where n < 0 { return x }", "the guard can never be true");
}

}  // namespace
}  // namespace tenon
