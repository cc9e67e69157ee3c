// Tests which ops return views of their input's storage, and which copy because no strides express
// the result.

#include "core/testing/test.h"

namespace tenon {
namespace {

using testing::CoreTest;
using testing::f32;

class Views : public CoreTest {
 protected:
  Tensor grid() {
    return f32({2, 3, 4}, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                           12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  }
  static bool share(const Tensor& a, const Tensor& b) { return a->storage == b->storage; }
};

TEST_F(Views, ShareTheirInputsStorage) {
  const Tensor x = grid();
  for (const Tensor& y :
       {reshape(x, {4, 6}), transpose(x), broadcast_to(x, {5, 2, 3, 4}), expand_dims(x, {0, -1}),
        flip(x, {}),
        slice(x, {.starts = {3, -1}, .ends = {0, -5}, .axes = {2, 1}, .steps = {-2, -1}}),
        bitcast(x, DType::kU32), bitcast(x, DType::kU8), bitcast(x, DType::kF64)}) {
    EXPECT_TRUE(share(x, y)) << to_string(y->type);
  }
}

TEST_F(Views, ReshapeMergesMutuallyContiguousAxesWithoutACopy) {
  const Tensor rows = slice(grid(), {.starts = {1}, .ends = {3}, .axes = {1}});  // [2,2,4]

  const Tensor folded = reshape(rows, {2, 8}), split = reshape(rows, {2, 2, 2, 2});

  EXPECT_TRUE(share(rows, folded));
  EXPECT_TRUE(share(rows, split));
  EXPECT_TENSOR(folded, f32({2, 8}, {4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23}));
}

TEST_F(Views, ReshapeCopiesIfNoStridesExpressTheResult) {
  const Tensor turned = transpose(f32({2, 3}, {1, 2, 3, 4, 5, 6}));

  const Tensor flat = reshape(turned, {6});

  EXPECT_FALSE(share(turned, flat));
  EXPECT_TENSOR(flat, f32({1, 4, 2, 5, 3, 6}));
}

TEST_F(Views, ReshapeOfBroadcastOrReversedAxesIsAView) {
  const Tensor repeated = broadcast_to(f32({7}), {4, 6}), reversed = flip(f32({1, 2, 3, 4}), {});

  EXPECT_TRUE(share(repeated, reshape(repeated, {24})));
  EXPECT_TRUE(share(reversed, reshape(reversed, {2, 2})));
  EXPECT_TENSOR(reshape(reversed, {2, 2}), f32({2, 2}, {4, 3, 2, 1}));
}

TEST_F(Views, ReshapeIgnoresTheStridesOfAxesOfSizeOne) {
  const Tensor x =
      slice(f32({2, 3}, {1, 2, 3, 4, 5, 6}), {.starts = {1}, .ends = {2}, .axes = {0}});

  const Tensor y = reshape(transpose(x), {1, 3, 1});

  EXPECT_TRUE(share(x, y));
  EXPECT_TENSOR(y, f32({1, 3, 1}, {4, 5, 6}));
}

TEST_F(Views, BitcastToAnotherWidthCopiesRowsWithGaps) {
  const Tensor x = slice(f32({1, 2, 3, 4}), {.starts = {0}, .ends = {4}, .steps = {2}});

  EXPECT_TRUE(share(x, bitcast(x, DType::kU32)));
  EXPECT_FALSE(share(x, bitcast(x, DType::kU16)));
  EXPECT_TENSOR(bitcast(bitcast(x, DType::kU16), DType::kF32), f32({1, 3}));
}

TEST_F(Views, BitcastToAWiderDtypeCopiesMisalignedViews) {
  const Tensor x = testing::i32({1, 2, 3, 4, 5});
  const auto wide = [&](int64_t from) {
    return bitcast(slice(x, {.starts = {from}, .ends = {from + 2}}), DType::kI64);
  };

  EXPECT_FALSE(share(x, wide(1)));
  EXPECT_TRUE(share(x, wide(2)));
  EXPECT_TENSOR(wide(1), testing::i64({2 + (int64_t{3} << 32)}));
  EXPECT_TENSOR(wide(2), testing::i64({3 + (int64_t{4} << 32)}));
}

TEST_F(Views, OfViewsShareTheStorageOfTheBase) {
  const Tensor x = slice(transpose(grid()), {.starts = {1}, .ends = {4}, .steps = {2}});  // [2,3,2]

  EXPECT_TENSOR(x, f32({2, 3, 2}, {1, 13, 5, 17, 9, 21, 3, 15, 7, 19, 11, 23}));
}

TEST_F(Views, ReshapeRefusesShapesWithTooManyElements) {
  EXPECT_ERROR(reshape(f32({1}), {int64_t{1} << 40, int64_t{1} << 40}), Code::kInvalidArgument,
               "bytes");
}

}  // namespace
}  // namespace tenon
