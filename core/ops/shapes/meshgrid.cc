// meshgrid: returns the coordinates of each point of a grid.

#include <utility>

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

enum class MeshgridIndexing : int32_t { kXy, kIj };
EnumInfo enum_info(MeshgridIndexing) {
  static constexpr const char* kNames[] = {"xy", "ij"};
  return {"meshgrid_indexing", kNames};
}

struct Attrs {
  // kXy: input 0 varies along axis 1, and input 1 along axis 0.
  MeshgridIndexing indexing = MeshgridIndexing::kXy;
  TENON_ATTRS(indexing)
};

// Returns the axis of the grid along which input i of n varies.
size_t axis_of_input(const Attrs& attrs, size_t i, size_t n) {
  return attrs.indexing == MeshgridIndexing::kXy && n > 1 && i < 2 ? 1 - i : i;
}

// Constraints.
//   C1  each input has at most one axis; one without axes counts as a single coordinate.
//   C2  all inputs have one dtype.
//   C3  there are at most as many inputs as a tensor can have axes, and the result has at
//       most 2^62 bytes.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require(in.size() <= kMaxRank, "C3: there are {} inputs, but a tensor has at most {} axes",
          in.size(), kMaxRank);
  TensorType grid(in[0].dtype, {});
  grid.shape.set_rank(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const TensorType& x = in[i];
    require(x.rank() <= 1, "C1: each input must have at most one axis, but input {} is {}", i, x);
    require(x.dtype == grid.dtype, "C2: input {} is {}, but must have the dtype of input 0: {}", i,
            x, grid.dtype);
    grid.shape[axis_of_input(attrs, i, in.size())] = x.rank() == 0 ? Size(1) : x.shape[0];
  }
  check_size(grid);
  TensorTypes types;
  types.resize(in.size(), grid);
  return types;
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  Dims grid;
  grid.set_rank(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    grid[axis_of_input(attrs, i, in.size())] = count(in[i]->shape());
  }
  Tensors coordinates;
  for (size_t i = 0; i < in.size(); ++i) {
    const size_t axis = axis_of_input(attrs, i, in.size());
    Dims along;
    for (size_t k = 0; k < grid.rank(); ++k) along.push_back(k == axis ? grid[k] : Size(1));
    coordinates.push_back(broadcast_to(reshape(in[i], along), grid));
  }
  return coordinates;
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({1, 2, 3}), y = f32({10, 20});
  return {
      {.name = "example",
       .inputs = {x, y},
       .expect = {f32({2, 3}, {1, 2, 3, 1, 2, 3}), f32({2, 3}, {10, 10, 10, 20, 20, 20})},
       .n_outputs = 2},
      {.name = "indexing",
       .attrs = {.indexing = MeshgridIndexing::kIj},
       .inputs = {x, y},
       .expect = {f32({3, 2}, {1, 1, 2, 2, 3, 3}), f32({3, 2}, {10, 20, 10, 20, 10, 20})},
       .n_outputs = 2},
      {.name = "three_axes",
       .inputs = {i32({1, 2}), i32({3}), i32({5, 6})},
       .expect = {i32({1, 2, 2}, {1, 1, 2, 2}), i32({1, 2, 2}, {3, 3, 3, 3}),
                  i32({1, 2, 2}, {5, 6, 5, 6})},
       .n_outputs = 3},
      {.name = "one_axis", .inputs = {x}, .expect = {x}},
      {.name = "a_number",
       .inputs = {x, f32({}, {7})},
       .expect = {f32({1, 3}, {1, 2, 3}), f32({1, 3}, {7, 7, 7})},
       .n_outputs = 2},
      {.name = "no_elements",
       .inputs = {f32({0}, {}), y},
       .expect = {f32({2, 0}, {}), f32({2, 0}, {})},
       .n_outputs = 2},
      {.name = "matrix", .inputs = {uniform({2, 2})}, .error = "C1"},
      {.name = "dtypes_differ", .inputs = {x, boolean({1})}, .error = "C2"},
  };
}

}  // namespace

OpDef meshgrid_def() {
  return define<Attrs>({
      .name = "meshgrid",
      .summary = "The coordinates of the points of a grid, one tensor for each axis.",
      .formula = "y[k][i0, i1, ...] = x[k][ik]",
      .details = "With indexing xy, the first input varies along the second axis and the second "
                 "input along the first, as in an image.",
      .inputs = {{"x", "the coordinates along each axis", InputKind::kVariadic}},
      .outputs = {{"y", "the coordinate of each point, one tensor for each input", true}},
      .attrs_doc = {{"indexing", "xy for the axes of an image, ij for the axes of a matrix."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
  });
}

}  // namespace tenon::ops
