// flatten: reshapes a tensor to a matrix. The axes before `axis` become its rows, the others its
// columns.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t axis = 1;  // The first axis that is merged into the columns.
  TENON_ATTRS(axis)
};

// Constraints.
//   C1  -rank(x) <= axis <= rank(x).
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  const auto rank = static_cast<int64_t>(x.rank());
  require(attrs.axis >= -rank && attrs.axis <= rank, "C1: axis {} is outside [{}, {}] for x: {}",
          attrs.axis, -rank, rank, x);
  const auto first = static_cast<size_t>(from_front(attrs.axis, x.rank()));
  TensorType rows(x.dtype, {}), columns(x.dtype, {});
  for (size_t i = 0; i < x.rank(); ++i) (i < first ? rows : columns).shape.push_back(x.shape[i]);
  check_size(rows);  // If one axis is 0, the product of the others may still overflow.
  check_size(columns);
  return {TensorType(x.dtype, {count(rows.shape), count(columns.shape)})};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const TensorType* type = &in[0]->type;
  return {reshape(in[0], infer(attrs, TypeSpan(&type, 1))[0].shape)};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  return {
      {.name = "example", .inputs = {x}, .expect = {f32({1, 6}, {1, 2, 3, 4, 5, 6})}},
      {.name = "axis",
       .attrs = {.axis = 2},
       .inputs = {x},
       .expect = {f32({2, 3}, {1, 2, 3, 4, 5, 6})}},
      {.name = "negative_axis",
       .attrs = {.axis = -1},
       .inputs = {i32({2, 1, 2}, {1, 2, 3, 4})},
       .expect = {i32({2, 2}, {1, 2, 3, 4})}},
      {.name = "all_rows",
       .attrs = {.axis = 1},
       .inputs = {f32({1, 2})},
       .expect = {f32({2, 1}, {1, 2})}},
      {.name = "all_columns",
       .attrs = {.axis = 0},
       .inputs = {x},
       .expect = {f32({1, 6}, {1, 2, 3, 4, 5, 6})}},
      {.name = "rank_0",
       .attrs = {.axis = 0},
       .inputs = {f32({}, {1})},
       .expect = {f32({1, 1}, {1})}},
      {.name = "no_elements", .inputs = {uniform({2, 0, 3})}, .expect = {f32({2, 0}, {})}},
      {.name = "axis_out_of_range", .attrs = {.axis = 4}, .inputs = {x}, .error = "C1"},
  };
}

}  // namespace

OpDef flatten_def() {
  return define<Attrs>({
      .name = "flatten",
      .summary = "The input reshaped to a matrix by merging its axes into two.",
      .formula = "y = reshape(x, [product of the sizes before axis, product of the others])",
      .inputs = {{"x", "the input"}},
      .outputs = {{"y", "the same elements, with two axes"}},
      .attrs_doc = {{"axis",
                     "The first of the axes that are merged into the columns; a negative one "
                     "counts from the "
                     "end. If axis is the rank of x, all axes are merged into the rows."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .onnx = "Flatten",
  });
}

}  // namespace tenon::ops
