// boolean_mask: selects the slices of x at which a mask is true.

#include "core/ops/definition/data_dependent_sizes.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t axis = 0;  // First axis of x that the mask covers; a negative one counts from the end.
  Size size = -1;    // Capacity of the result, in slices; -1 for the number of selected slices.
  double fill = 0;   // Value of the unused capacity.
  TENON_ATTRS(axis, size, fill)
};

// Returns the shape of x with the masked axes merged into one axis of size `size`.
Dims with_masked_axis(const Dims& x, size_t axis, size_t n_axes, Size size) {
  Dims shape;
  for (size_t i = 0; i < axis; ++i) shape.push_back(x[i]);
  shape.push_back(size);
  for (size_t i = axis + n_axes; i < x.rank(); ++i) shape.push_back(x[i]);
  return shape;
}

// Constraints.
//   C1  mask is bool and has at least one axis.
//   C2  -rank(x) <= axis < rank(x).
//   C3  the shape of mask matches the axes of x that start at axis.
//   C4  size is -1 or not negative, and the result has at most 2^62 bytes.
//   C5  fill is a value of the dtype of x.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &x = in[0], &mask = in[1];
  require(mask.dtype == DType::kBool && mask.rank() > 0,
          "C1: mask must be bool and have an axis, but is {}", mask);
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, x, "C2"));
  bool agree = axis + mask.rank() <= x.rank();
  for (size_t i = 0; agree && i < mask.rank(); ++i) agree = mask.shape[i] == x.shape[axis + i];
  require(agree, "C3: mask {} does not have the sizes of {} from axis {} on", mask, x, axis);
  require_size(attrs.size, "C4");
  require_fill(attrs.fill, x.dtype, "C5");
  const Size size = has_size(attrs.size) ? attrs.size : count(mask.shape);
  const TensorType y(x.dtype, with_masked_axis(x.shape, axis, mask.rank(), size));
  check_size(y);
  return {y, TensorType(DType::kI64, {})};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor &x = in[0], &mask = in[1];
  const auto axis = static_cast<size_t>(from_front(attrs.axis, x->rank()));
  const Size n = count(mask->shape());
  const Tensor slices = reshape(x, with_masked_axis(x->shape(), axis, mask->rank(), n));
  const Tensors chosen = nonzero(reshape(mask, {n}), {.size = attrs.size});
  const Tensor& n_chosen = chosen[1];
  const Tensor places = squeeze(chosen[0], {0});
  if (!has_size(attrs.size)) {
    return {gather(slices, places, static_cast<int64_t>(axis)), n_chosen};
  }

  const Tensor filler = fill_scalar(attrs.fill, x->type.dtype);
  const Dims shape = with_masked_axis(x->shape(), axis, mask->rank(), attrs.size);
  // If x has no slices, gather has nothing to read.
  if (n == 0) return {fill(filler, shape, x->type.dtype), n_chosen};
  const Tensor y = gather(slices, places, static_cast<int64_t>(axis));
  Dims along(shape);
  for (size_t i = 0; i < shape.rank(); ++i) along[i] = i == axis ? attrs.size : Size(1);
  return {where(less(iota(along, DType::kI64, static_cast<int64_t>(axis)), n_chosen), y, filler),
          n_chosen};
}

Cases<Attrs> cases() {
  const CaseTensor x = f32({3, 2}, {1, 2, 3, 4, 5, 6});
  const CaseTensor rows = boolean({1, 0, 1});
  const CaseTensor all_places = boolean({3, 2}, {0, 1, 1, 0, 0, 1});
  return {
      {.name = "example",
       .inputs = {x, rows},
       .expect = {f32({2, 2}, {1, 2, 5, 6}), i64({}, {2})},
       .n_outputs = 2},
      {.name = "mask_of_all_axes",
       .inputs = {x, all_places},
       .expect = {f32({2, 3, 6}), i64({}, {3})},
       .n_outputs = 2},
      {.name = "axis",
       .attrs = {.axis = -1},
       .inputs = {x, boolean({0, 1})},
       .expect = {f32({3, 1}, {2, 4, 6}), i64({}, {1})},
       .n_outputs = 2},
      {.name = "axes_in_the_middle",
       .attrs = {.axis = 1},
       .inputs = {uniform({2, 3, 2, 2}), all_places},
       .n_outputs = 2},
      {.name = "room_is_filled",
       .attrs = {.size = 3, .fill = -1.5},
       .inputs = {x, rows},
       .expect = {f32({3, 2}, {1, 2, 5, 6, -1.5, -1.5}), i64({}, {2})},
       .n_outputs = 2},
      {.name = "room_along_an_axis_is_filled",
       .attrs = {.axis = 1, .size = 2, .fill = 9},
       .inputs = {i8({2, 3}, {1, 2, 3, 4, 5, 6}), boolean({0, 0, 1})},
       .expect = {i8({2, 2}, {3, 9, 6, 9}), i64({}, {1})},
       .n_outputs = 2},
      {.name = "no_room_for_all",
       .attrs = {.size = 1},
       .inputs = {x, rows},
       .expect = {f32({1, 2}, {1, 2}), i64({}, {2})},
       .n_outputs = 2},
      {.name = "bool_is_filled",
       .attrs = {.size = 2, .fill = 1},
       .inputs = {boolean({0, 0}), boolean({1, 0})},
       .expect = {boolean({0, 1}), i64({}, {1})},
       .n_outputs = 2},
      {.name = "none",
       .inputs = {x, boolean({0, 0, 0})},
       .expect = {f32({0, 2}, {}), i64({}, {0})},
       .n_outputs = 2},
      {.name = "no_slices",
       .attrs = {.size = 2, .fill = 4},
       .inputs = {uniform({0, 1}), boolean({0}, {})},
       .expect = {f32({2, 1}, {4, 4}), i64({}, {0})},
       .n_outputs = 2},
      {.name = "drawn",
       .inputs = {uniform({4, 5}), uniform({4, 5}, 0, 2, DType::kBool)},
       .n_outputs = 2},
      {.name = "mask_is_integer", .inputs = {x, i32({1, 0, 1})}, .error = "C1"},
      {.name = "mask_of_rank_0", .inputs = {x, boolean({}, {1})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axis = 2}, .inputs = {x, rows}, .error = "C2"},
      {.name = "mask_differs_in_size", .inputs = {x, boolean({1, 0})}, .error = "C3"},
      {.name = "mask_has_more_axes",
       .attrs = {.axis = 1},
       .inputs = {x, all_places},
       .error = "C3"},
      {.name = "negative_size", .attrs = {.size = -2}, .inputs = {x, rows}, .error = "C4"},
      {.name = "fill_is_no_value_of_the_dtype",
       .attrs = {.size = 3, .fill = 128},
       .inputs = {i8({1}), boolean({1})},
       .error = "C5"},
      {.name = "fill_is_no_whole_number",
       .attrs = {.size = 3, .fill = 0.5},
       .inputs = {u32({1}), boolean({1})},
       .error = "C5"},
  };
}

}  // namespace

OpDef boolean_mask_def() {
  return define<Attrs>({
      .name = "boolean_mask",
      .summary = "The slices at which a mask is true.",
      .formula = "y = x[mask], for axis 0",
      .details =
          "The slices keep their row-major order. If `size` is given, slices beyond it are "
          "dropped, but count includes them. Otherwise, the inferred type is the largest that the "
          "result can have.",
      .inputs = {{"x", "the tensor to select from"},
                 {"mask", "bool; its shape matches the axes of x that start at axis"}},
      .outputs = {{"y", "the slices, along one axis in place of the axes of the mask"},
                  {"count", "the number of slices that the mask selects"}},
      .attrs_doc =
          {{"axis",
            "The first axis of x that the mask covers; a negative one counts from the end."},
           kSizeDoc,
           {"fill", "The value of the elements beyond the selected slices."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .sparse_output = true,
  });
}

}  // namespace tenon::ops
