// depth_to_space moves channels into square spatial blocks; space_to_depth does the reverse.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

enum class DepthToSpaceMode : int32_t { kDcr, kCrd };
EnumInfo enum_info(DepthToSpaceMode) {
  static constexpr const char* kNames[] = {"dcr", "crd"};
  return {"depth_to_space_mode", kNames};
}

struct Attrs {
  int64_t blocksize = 0;                           // Number of elements along each side of a block.
  DepthToSpaceMode mode = DepthToSpaceMode::kDcr;  // The order of the channels of a block.
  TENON_ATTRS(blocksize, mode)
};

constexpr int64_t kMaxBlocksize = int64_t{1} << 30;  // Its square fits an int64.

// Checks constraints C1 and C2, which both ops share.
void require_image(const TensorType& x, int64_t blocksize) {
  require(x.rank() == 4, "C1: x must have a batch, channels, rows and columns, but is {}", x);
  require(blocksize >= 1 && blocksize <= kMaxBlocksize,
          "C2: blocksize must be from 1 to 2^30, but is {}", blocksize);
}

// Constraints of depth_to_space.
//   C1  x has a batch, channels, rows and columns.
//   C2  blocksize is positive.
//   C3  blocksize^2 divides the number of channels, and the result has at most 2^62 bytes.
TensorTypes depth_to_space_infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  const int64_t b = attrs.blocksize;
  require_image(x, b);
  require(x.shape[1] % (b * b) == 0,
          "C3: there are {} channels, which is not a multiple of blocksize^2 = {} * {}", x.shape[1],
          b, b);
  for (const size_t side : {2, 3}) check_size(TensorType(x.dtype, {x.shape[side], b}));
  const TensorType y(x.dtype, {x.shape[0], x.shape[1] / (b * b), x.shape[2] * b, x.shape[3] * b});
  check_size(y);
  return {y};
}

// Constraints of space_to_depth.
//   C1  x has a batch, channels, rows and columns.
//   C2  blocksize is positive.
//   C3  blocksize divides the numbers of rows and columns, and the result has at most 2^62
//       bytes.
TensorTypes space_to_depth_infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  const int64_t b = attrs.blocksize;
  require_image(x, b);
  require(x.shape[2] % b == 0 && x.shape[3] % b == 0,
          "C3: {} rows and {} columns cannot be divided into blocks of {} by {}", x.shape[2],
          x.shape[3], b, b);
  check_size(TensorType(x.dtype, {x.shape[1], b, b}));
  const TensorType y(x.dtype, {x.shape[0], x.shape[1] * b * b, x.shape[2] / b, x.shape[3] / b});
  check_size(y);
  return {y};
}

// Splits the channel index into the position in a block and the output channel. In mode dcr, the
// position is the outer part of the index; in mode crd, it is the inner part.
Tensors depth_to_space_decompose(const Attrs& attrs, TensorSpan in) {
  const Dims& x = in[0]->shape();
  const int64_t b = attrs.blocksize;
  const Size channels = x[1] / (b * b);
  const bool dcr = attrs.mode == DepthToSpaceMode::kDcr;
  const Dims cut =
      dcr ? Dims{x[0], b, b, channels, x[2], x[3]} : Dims{x[0], channels, b, b, x[2], x[3]};
  const Ints order = dcr ? Ints{0, 3, 4, 1, 5, 2} : Ints{0, 1, 4, 2, 5, 3};
  return {reshape(transpose(reshape(in[0], cut), order), {x[0], channels, x[2] * b, x[3] * b})};
}

// Moves the position in a block from the row and column indices into the channel index.
Tensors space_to_depth_decompose(const Attrs& attrs, TensorSpan in) {
  const Dims& x = in[0]->shape();
  const int64_t b = attrs.blocksize;
  const Size rows = x[2] / b, columns = x[3] / b;
  const Tensor cut = reshape(in[0], {x[0], x[1], rows, b, columns, b});
  const bool dcr = attrs.mode == DepthToSpaceMode::kDcr;
  const Ints order = dcr ? Ints{0, 3, 5, 1, 2, 4} : Ints{0, 1, 3, 5, 2, 4};
  return {reshape(transpose(cut, order), {x[0], x[1] * b * b, rows, columns})};
}

Cases<Attrs> depth_to_space_cases() {
  const CaseTensor deep = f32({1, 8, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  return {
      {.name = "example",
       .attrs = {.blocksize = 2},
       .inputs = {f32({1, 4, 1, 1}, {1, 2, 3, 4})},
       .expect = {f32({1, 1, 2, 2}, {1, 2, 3, 4})}},
      {.name = "blocksize",
       .attrs = {.blocksize = 3},
       .inputs = {i32({1, 9, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9})},
       .expect = {i32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})}},
      {.name = "dcr",
       .attrs = {.blocksize = 2},
       .inputs = {deep},
       .expect = {f32({1, 2, 2, 4}, {0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15})}},
      {.name = "crd",
       .attrs = {.blocksize = 2, .mode = DepthToSpaceMode::kCrd},
       .inputs = {deep},
       .expect = {f32({1, 2, 2, 4}, {0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15})}},
      {.name = "batch", .attrs = {.blocksize = 2}, .inputs = {uniform({2, 8, 3, 2})}},
      {.name = "empty_batch",
       .attrs = {.blocksize = 2},
       .inputs = {uniform({0, 4, 1, 1})},
       .expect = {f32({0, 1, 2, 2}, {})}},
      {.name = "one_spatial_axis",
       .attrs = {.blocksize = 2},
       .inputs = {uniform({1, 4, 1})},
       .error = "C1"},
      {.name = "no_blocksize", .inputs = {deep}, .error = "C2"},
      {.name = "huge_blocksize",
       .attrs = {.blocksize = 1ll << 62},
       .inputs = {deep},
       .error = "C2"},
      {.name = "channels_do_not_fit", .attrs = {.blocksize = 3}, .inputs = {deep}, .error = "C3"},
  };
}

Cases<Attrs> space_to_depth_cases() {
  const CaseTensor wide = f32({1, 2, 2, 4}, {0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15});
  return {
      {.name = "example",
       .attrs = {.blocksize = 2},
       .inputs = {f32({1, 1, 2, 2}, {1, 2, 3, 4})},
       .expect = {f32({1, 4, 1, 1}, {1, 2, 3, 4})}},
      {.name = "undoes_dcr",
       .attrs = {.blocksize = 2},
       .inputs = {wide},
       .expect = {f32({1, 8, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})}},
      {.name = "undoes_crd",
       .attrs = {.blocksize = 2, .mode = DepthToSpaceMode::kCrd},
       .inputs = {f32({1, 2, 2, 4}, {0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15})},
       .expect = {f32({1, 8, 1, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})}},
      {.name = "bool",
       .attrs = {.blocksize = 1},
       .inputs = {boolean({1, 1, 1, 2}, {1, 0})},
       .expect = {boolean({1, 1, 1, 2}, {1, 0})}},
      {.name = "batch", .attrs = {.blocksize = 2}, .inputs = {uniform({2, 3, 4, 2})}},
      {.name = "empty_batch",
       .attrs = {.blocksize = 2},
       .inputs = {uniform({0, 1, 2, 2})},
       .expect = {f32({0, 4, 1, 1}, {})}},
      {.name = "three_spatial_axes",
       .attrs = {.blocksize = 2},
       .inputs = {uniform({1, 1, 2, 2, 2})},
       .error = "C1"},
      {.name = "no_blocksize", .inputs = {wide}, .error = "C2"},
      {.name = "rows_do_not_fit", .attrs = {.blocksize = 4}, .inputs = {wide}, .error = "C3"},
  };
}

constexpr const char* kModeDoc =
    "The layout of the channel axis of the deeper tensor: dcr for (block row, block column, "
    "channel), crd for (channel, block row, block column).";

}  // namespace

OpDef depth_to_space_def() {
  return define<Attrs>({
      .name = "depth_to_space",
      .summary = "Channels rearranged into square spatial blocks.",
      .formula = "y[n, c, h * b + i, w * b + j] = x[n, (i * b + j) * C + c, h, w]",
      .details = "b is blocksize, and C is the number of channels of y. With mode crd, the source "
                 "element is x[n, (c * b + i) * b + j, h, w].",
      .inputs = {{"x", "the input: batch, channels, rows, columns"}},
      .outputs = {{"y", "the result, with fewer channels and more rows and columns"}},
      .attrs_doc = {{"blocksize", "The side length of the blocks."}, {"mode", kModeDoc}},
      .infer = depth_to_space_infer,
      .decompose = depth_to_space_decompose,
      .cases = depth_to_space_cases,
      .storage = StorageUse::kMoves,
      .onnx = "DepthToSpace",
  });
}

OpDef space_to_depth_def() {
  return define<Attrs>({
      .name = "space_to_depth",
      .summary = "Square spatial blocks rearranged into channels; the inverse of depth_to_space.",
      .formula = "y[n, (i * b + j) * C + c, h, w] = x[n, c, h * b + i, w * b + j]",
      .details = "b is blocksize, and C is the number of channels of x. With mode crd, the "
                 "destination element is y[n, (c * b + i) * b + j, h, w].",
      .inputs = {{"x", "the input: batch, channels, rows, columns"}},
      .outputs = {{"y", "the result, with more channels and fewer rows and columns"}},
      .attrs_doc = {{"blocksize", "The side length of the blocks."}, {"mode", kModeDoc}},
      .infer = space_to_depth_infer,
      .decompose = space_to_depth_decompose,
      .cases = space_to_depth_cases,
      .storage = StorageUse::kMoves,
      .onnx = "SpaceToDepth",
  });
}

}  // namespace tenon::ops
