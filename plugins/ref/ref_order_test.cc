// Tests the oracle's sorting and searching.

#include <gtest/gtest.h>

#include "plugins/ref/ref_testing.h"

namespace {

using namespace tenon_ref_testing;

TEST(RefOrder, SortIsStableForZerosAndTies) {
  auto attrs = make_attrs<tenon_sort_attrs>();
  attrs.axis = -1;
  const Tensor x = f32({0.0f, -0.0f, 1, -1, 0.0f});
  EXPECT_NUMBERS(call(TENON_OP_sort, {x}, f32({5}, {}), &attrs), -1, 0, -0.0, 0, 1);
  attrs.descending = true;
  EXPECT_NUMBERS(call(TENON_OP_sort, {x}, f32({5}, {}), &attrs), 1, 0, -0.0, 0, -1);
  EXPECT_NUMBERS(call(TENON_OP_argsort, {x}, i64({5}, {}), &attrs), 2, 0, 1, 4, 3);
}

TEST(RefOrder, SortPutsNanLastInEitherDirection) {
  auto attrs = make_attrs<tenon_sort_attrs>();
  attrs.axis = 0;
  const Tensor x = f16({kNaN, 1, -kInf, kInf});
  EXPECT_NUMBERS(call(TENON_OP_sort, {x}, f16({4}, {}), &attrs), -kInf, 1, kInf, kNaN);
  attrs.descending = true;
  EXPECT_NUMBERS(call(TENON_OP_sort, {x}, f16({4}, {}), &attrs), kInf, 1, -kInf, kNaN);
}

TEST(RefOrder, SortSupportsAnyAxisAndLayout) {
  auto attrs = make_attrs<tenon_sort_attrs>();
  attrs.axis = 0;
  // [[6, 2, 4], [1, 5, 3]]
  const Tensor transposed = i32({3, 2}, {6, 1, 2, 5, 4, 3}).as({2, 3}, {1, 2});
  EXPECT_NUMBERS(call(TENON_OP_sort, {transposed}, i32({2, 3}, {}), &attrs), 1, 2, 3, 6, 5, 4);
  attrs.axis = 1;
  EXPECT_NUMBERS(call(TENON_OP_sort, {transposed}, i32({2, 3}, {}), &attrs), 2, 4, 6, 1, 3, 5);
  const Tensor repeated = i32({2}, {7, 8}).as({2, 3}, {1, 0});
  EXPECT_NUMBERS(call(TENON_OP_argsort, {repeated}, i64({2, 3}, {}), &attrs), 0, 1, 2, 0, 1, 2);
}

TEST(RefOrder, TopKSelectsTheFirstOfTies) {
  auto attrs = make_attrs<tenon_top_k_attrs>();
  attrs.k = 2;
  attrs.largest = attrs.sorted = true;
  const Tensor x = i8({3, 9, 3, 9, 1});
  Launched y = run(TENON_OP_top_k, {x}, {i8({2}, {}), i64({2}, {})}, &attrs);
  EXPECT_NUMBERS(y[0], 9, 9);
  EXPECT_NUMBERS(y[1], 1, 3);
  attrs.largest = attrs.sorted = false;
  y = run(TENON_OP_top_k, {x}, {i8({2}, {}), i64({2}, {})}, &attrs);
  EXPECT_NUMBERS(y[0], 3, 1);
  EXPECT_NUMBERS(y[1], 0, 4);
}

TEST(RefOrder, SearchsortedCountsPrecedingElements) {
  auto attrs = make_attrs<tenon_searchsorted_attrs>();
  const Tensor sequence = u8({1, 0, 4, 0, 4, 0}).as({3}, {2});
  const Tensor x = u8({0, 1, 4, 255});
  EXPECT_NUMBERS(call(TENON_OP_searchsorted, {sequence, x}, i64({4}, {}), &attrs), 0, 0, 1, 3);
  attrs.side = TENON_SEARCHSORTED_SIDE_RIGHT;
  EXPECT_NUMBERS(call(TENON_OP_searchsorted, {sequence, x}, i64({4}, {}), &attrs), 0, 1, 3, 3);
}

TEST(RefOrder, UniqueMergesSignedZerosAndKeepsEveryNan) {
  auto attrs = make_attrs<tenon_unique_attrs>();
  attrs.sorted = true;
  attrs.size = 4;
  attrs.fill = 9;
  const Tensor none = i64({4}, {});
  const Launched y = run(TENON_OP_unique, {f32({kNaN, -0.0f, 0, kNaN})},
                         {f32({4}, {}), none, none, none, i64({}, {})}, &attrs);
  EXPECT_NUMBERS(y[0], -0.0, kNaN, kNaN, 9);
  EXPECT_NUMBERS(y[1], 1, 0, 3, 0);
  EXPECT_NUMBERS(y[2], 1, 0, 0, 2);
  EXPECT_NUMBERS(y[3], 2, 1, 1, 0);
  EXPECT_NUMBERS(y[4], 3);
}

TEST(RefOrder, NonzeroRequiresASizeAndFillsTheUnusedCapacity) {
  auto attrs = make_attrs<tenon_nonzero_attrs>();
  attrs.size = 3;
  attrs.fill = -1;
  const Tensor x = i32({3, 2}, {0, 5, 0, 6, 0, 7}).as({2, 2}, {1, 2});  // [[0, 0], [5, 6]]
  const Launched y = run(TENON_OP_nonzero, {x}, {i64({2, 3}, {}), i64({}, {})}, &attrs);
  EXPECT_NUMBERS(y[0], 1, 1, -1, 0, 1, -1);
  EXPECT_NUMBERS(y[1], 2);
  attrs.size = -1;
  const Launched refused = ref().run(TENON_OP_nonzero, &attrs, {x}, {y[0], y[1]});
  EXPECT_NE(refused.refusal.find("needs the attribute size"), std::string::npos);
}

}  // namespace
