// space_to_batch moves blocks of spatial positions into the batch; batch_to_space does the reverse.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Ints block_shape;  // Size of a block along each axis after the first.
  Ints pads;         // Padding before, then after each of these axes; empty: 0.
  TENON_ATTRS(block_shape, pads)
};

// Returns entry `i` of the attribute pads, or 0 if it is empty.
int64_t pad_of(const Attrs& attrs, size_t i) { return attrs.pads.empty() ? 0 : attrs.pads[i]; }

// Returns the number of positions in a block.
int64_t block_size(const Attrs& attrs) {
  int64_t size = 1;
  for (const int64_t side : attrs.block_shape) size *= side;
  return size;
}

constexpr int64_t kMaxBlockElements = int64_t{1} << 31;

// Constraints of both ops.
//   C1  x has a batch axis and one axis for each entry of block_shape.
//   C2  the sizes of block_shape are positive, and a block has at most 2^31 positions.
//   C3  pads has two numbers for each entry of block_shape, none of them negative, or is empty.
void require_blocks(const Attrs& attrs, const TensorType& x) {
  const size_t n = attrs.block_shape.size();
  require(x.rank() > n, "C1: x must have a batch and {} more axes, but is {}", n, x);
  int64_t places = 1;
  for (const int64_t side : attrs.block_shape) {
    require(
        side >= 1 && side <= kMaxBlockElements / places,
        "C2: sizes of block_shape must be positive with a product of at most 2^31, but one is {}",
        side);
    places *= side;
  }
  require(attrs.pads.empty() || attrs.pads.size() == 2 * n,
          "C3: pads has {} entries for {} axes, but must have two for each axis", attrs.pads.size(),
          n);
  for (const int64_t pad : attrs.pads) {
    require(pad >= 0 && pad <= kMaxBlockElements,
            "C3: {} is not a valid number of elements to pad or to crop", pad);
  }
}

// Additional constraints of space_to_batch.
//   C4  the padded size of each axis is a multiple of the block's size, and the size of the result
//       does not overflow.
TensorTypes space_to_batch_infer(const Attrs& attrs, TypeSpan in) {
  require_blocks(attrs, in[0]);
  const size_t n = attrs.block_shape.size();
  TensorType y = in[0];
  for (size_t i = 0; i < n; ++i) {
    const Size size = y.shape[i + 1] + pad_of(attrs, i) + pad_of(attrs, n + i);
    require(size % attrs.block_shape[i] == 0,
            "C4: the padded size {} of axis {} must be a multiple of the block size {}", size,
            i + 1, attrs.block_shape[i]);
    y.shape[i + 1] = size / attrs.block_shape[i];
  }
  check_size(TensorType(y.dtype, {y.shape[0], block_size(attrs)}));
  y.shape[0] *= block_size(attrs);
  check_size(y);
  return {y};
}

// Additional constraints of batch_to_space.
//   C4  the number of positions in a block divides the batch size, no more elements are cropped
//       than there are, and the size of the result does not overflow.
TensorTypes batch_to_space_infer(const Attrs& attrs, TypeSpan in) {
  require_blocks(attrs, in[0]);
  const size_t n = attrs.block_shape.size();
  TensorType y = in[0];
  require(y.shape[0] % block_size(attrs) == 0,
          "C4: the batch size {} must be a multiple of the block's {} elements", y.shape[0],
          block_size(attrs));
  y.shape[0] /= block_size(attrs);
  for (size_t i = 0; i < n; ++i) {
    check_size(TensorType(y.dtype, {y.shape[i + 1], attrs.block_shape[i]}));
    const Size size = y.shape[i + 1] * attrs.block_shape[i];
    const int64_t cropped = pad_of(attrs, i) + pad_of(attrs, n + i);
    require(cropped <= size, "C4: cannot crop {} of only {} elements along axis {}", cropped, size,
            i + 1);
    y.shape[i + 1] = size - cropped;
  }
  check_size(y);
  return {y};
}

// Splits each blocked axis into a block index and a position in the block, and moves the positions
// into the batch axis.
Tensors space_to_batch_decompose(const Attrs& attrs, TensorSpan in) {
  const size_t n = attrs.block_shape.size(), rank = in[0]->rank();
  Sizes pads(2 * rank, 0);
  for (size_t i = 0; i < n; ++i) {
    pads[i + 1] = pad_of(attrs, i);
    pads[rank + i + 1] = pad_of(attrs, n + i);
  }
  const Tensor x = pad(in[0], pads);

  Dims blocked = {x->shape()[0]};
  Ints perm;
  for (size_t i = 0; i < n; ++i) {
    blocked.push_back(x->shape()[i + 1] / attrs.block_shape[i]);
    blocked.push_back(attrs.block_shape[i]);
    perm.push_back(static_cast<int64_t>(2 * i + 2));
  }
  perm.push_back(0);
  for (size_t i = 0; i < n; ++i) perm.push_back(static_cast<int64_t>(2 * i + 1));
  Dims shape = {x->shape()[0] * block_size(attrs)};
  for (size_t i = 0; i < n; ++i) shape.push_back(blocked[2 * i + 1]);
  for (size_t i = n + 1; i < rank; ++i) {
    perm.push_back(static_cast<int64_t>(blocked.rank()));
    blocked.push_back(x->shape()[i]);
    shape.push_back(x->shape()[i]);
  }
  return {reshape(transpose(reshape(x, blocked), perm), shape)};
}

// Splits the batch axis into positions in a block and the batch, interleaves the positions with the
// spatial axes, and crops.
Tensors batch_to_space_decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor& x = in[0];
  const size_t n = attrs.block_shape.size(), rank = x->rank();
  const Size batch = x->shape()[0] / block_size(attrs);
  Dims blocked, shape = {batch};
  Ints perm = {static_cast<int64_t>(n)};
  Sizes pads(2 * rank, 0);
  for (size_t i = 0; i < n; ++i) blocked.push_back(attrs.block_shape[i]);
  blocked.push_back(batch);
  for (size_t i = 0; i < n; ++i) {
    perm.push_back(static_cast<int64_t>(n + 1 + i));
    perm.push_back(static_cast<int64_t>(i));
    blocked.push_back(x->shape()[i + 1]);
    shape.push_back(x->shape()[i + 1] * attrs.block_shape[i]);
    pads[i + 1] = -pad_of(attrs, i);
    pads[rank + i + 1] = -pad_of(attrs, n + i);
  }
  for (size_t i = n + 1; i < rank; ++i) {
    perm.push_back(static_cast<int64_t>(blocked.rank()));
    blocked.push_back(x->shape()[i]);
    shape.push_back(x->shape()[i]);
  }
  return {pad(reshape(transpose(reshape(x, blocked), perm), shape), pads)};
}

// Returns the cases that space_to_batch and batch_to_space share.
Cases<Attrs> shared_cases() {
  return {
      {.name = "no_blocks", .inputs = {f32({1, 2})}, .expect = {f32({1, 2})}},
      {.name = "too_few_axes",
       .attrs = {.block_shape = {2, 2}},
       .inputs = {uniform({1, 2})},
       .error = "C1"},
      {.name = "block_of_nothing",
       .attrs = {.block_shape = {0}},
       .inputs = {uniform({1, 2})},
       .error = "C2"},
      {.name = "one_pad",
       .attrs = {.block_shape = {2}, .pads = {1}},
       .inputs = {uniform({1, 3})},
       .error = "C3"},
      {.name = "negative_pad",
       .attrs = {.block_shape = {2}, .pads = {-1, 0}},
       .inputs = {uniform({1, 3})},
       .error = "C3"},
  };
}

Cases<Attrs> space_to_batch_cases() {
  return joined(shared_cases(), {
                                    {.name = "example",
                                     .attrs = {.block_shape = {2, 2}},
                                     .inputs = {f32({1, 2, 2, 1}, {1, 2, 3, 4})},
                                     .expect = {f32({4, 1, 1, 1}, {1, 2, 3, 4})}},
                                    {.name = "pads",
                                     .attrs = {.block_shape = {2}, .pads = {1, 2}},
                                     .inputs = {f32({1, 3}, {1, 2, 3})},
                                     .expect = {f32({2, 3}, {0, 2, 0, 1, 3, 0})}},
                                    {.name = "blocks_of_two_kinds",
                                     .attrs = {.block_shape = {1, 2}},
                                     .inputs = {i32({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})},
                                     .expect = {i32({2, 2, 2}, {1, 3, 5, 7, 2, 4, 6, 8})}},
                                    {.name = "more_axes",
                                     .attrs = {.block_shape = {2, 3}},
                                     .inputs = {uniform({2, 4, 6, 3, 2})}},
                                    {.name = "no_elements",
                                     .attrs = {.block_shape = {2}},
                                     .inputs = {f32({0, 4}, {})},
                                     .expect = {f32({0, 2}, {})}},
                                    {.name = "no_multiple",
                                     .attrs = {.block_shape = {2}},
                                     .inputs = {uniform({1, 3})},
                                     .error = "C4"},
                                });
}

Cases<Attrs> batch_to_space_cases() {
  return joined(shared_cases(), {
                                    {.name = "example",
                                     .attrs = {.block_shape = {2, 2}},
                                     .inputs = {f32({4, 1, 1, 1}, {1, 2, 3, 4})},
                                     .expect = {f32({1, 2, 2, 1}, {1, 2, 3, 4})}},
                                    {.name = "pads",
                                     .attrs = {.block_shape = {2}, .pads = {1, 2}},
                                     .inputs = {f32({2, 3}, {0, 2, 0, 1, 3, 0})},
                                     .expect = {f32({1, 3}, {1, 2, 3})}},
                                    {.name = "blocks_of_two_kinds",
                                     .attrs = {.block_shape = {1, 2}},
                                     .inputs = {i32({2, 2, 2}, {1, 3, 5, 7, 2, 4, 6, 8})},
                                     .expect = {i32({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})}},
                                    {.name = "more_axes",
                                     .attrs = {.block_shape = {2, 3}},
                                     .inputs = {uniform({12, 2, 2, 3, 2})}},
                                    {.name = "batch_has_no_blocks",
                                     .attrs = {.block_shape = {2}},
                                     .inputs = {uniform({3, 3})},
                                     .error = "C4"},
                                    {.name = "too_much_is_cropped",
                                     .attrs = {.block_shape = {2}, .pads = {4, 3}},
                                     .inputs = {uniform({2, 3})},
                                     .error = "C4"},
                                });
}

// Adds what the definitions of both ops share. `y_doc` and `pads_doc` document y and pads.
OpDef define_block_op(Definition<Attrs> d, const char* y_doc, const char* pads_doc) {
  d.inputs = {
      {"x",
       "a batch axis, one axis for each entry of block_shape, and any number of further axes"}};
  d.outputs = {{"y", y_doc}};
  d.attrs_doc = {{"block_shape", "The block's size along each axis after the batch axis."},
                 {"pads", pads_doc}};
  return define<Attrs>(std::move(d));
}

}  // namespace

OpDef space_to_batch_def() {
  return define_block_op(
      {
          .name = "space_to_batch",
          .summary = "Blocks of spatial positions moved into the batch axis.",
          .formula = "y[(p * batch + b), i, ...] = x[b, i * block_shape + p - pad, ...]",
          .details = "p enumerates the positions in a block in row-major order. The axes are "
                     "padded with zeros first. The axes after those of block_shape are unchanged.",
          .infer = space_to_batch_infer,
          .decompose = space_to_batch_decompose,
          .cases = space_to_batch_cases,
      },
      "the result, whose batch size is multiplied by the number of positions in a block",
      "The number of zeros before each of these axes, then after each; empty for none.");
}

OpDef batch_to_space_def() {
  return define_block_op(
      {
          .name = "batch_to_space",
          .summary = "Blocks of spatial positions moved out of the batch axis: the inverse of "
                     "space_to_batch.",
          .formula = "y[b, i * block_shape + p - pad, ...] = x[(p * batch + b), i, ...]",
          .details =
              "p enumerates the positions in a block in row-major order. The padding of "
              "space_to_batch is cropped. The axes after those of block_shape are unchanged.",
          .infer = batch_to_space_infer,
          .decompose = batch_to_space_decompose,
          .cases = batch_to_space_cases,
      },
      "the result, whose batch size is divided by the number of positions in a block",
      "The number of elements cropped at the start of each of these axes, then at the end of each; "
      "empty for none.");
}

}  // namespace tenon::ops
