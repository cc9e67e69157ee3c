// concat joins tensors along an existing axis; stack joins them along a new one.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

using Attrs = AxisAttrs;

// Constraints of concat.
//   C1  -rank <= axis < rank, where rank is that of the first input.
//   C2  all inputs have that rank, and the same sizes except along axis.
//   C3  the result has at most 2^62 bytes.
TensorTypes concat_infer(const Attrs& attrs, TypeSpan in) {
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, in[0], "C1", "the first input"));
  TensorType y(in[0].dtype, in[0].shape);
  for (size_t i = 1; i < in.size(); ++i) {
    Dims shape = in[i].shape;
    const bool same_rank = shape.rank() == y.rank();
    if (same_rank) shape[axis] = in[0].shape[axis];
    require(shape == in[0].shape,
            "C2: {} and {} must have the same rank and sizes except along axis {}", in[0], in[i],
            axis);
    y.shape[axis] += in[i].shape[axis];  // No overflow: both are below 2^62.
    check_size(y);                       // C3
  }
  return {y};
}

Tensors concat_vjp(const Attrs& attrs, const VjpArgs& v) {
  const int64_t axis = from_front(attrs.axis, v.output_type(0).rank());
  Tensors gradients;
  Size start = 0;
  for (size_t i = 0; i < v.n_inputs(); ++i) {
    const Size end = start + v.input_type(i).shape[static_cast<size_t>(axis)];
    gradients.push_back(
        v.needs(i) ? slice(v.cotangent(0), {.starts = {start}, .ends = {end}, .axes = {axis}})
                   : Tensor());
    start = end;
  }
  return gradients;
}

// Constraints of stack.
//   C1  -rank - 1 <= axis <= rank, where rank is that of the inputs.
//   C2  all inputs have the same shape.
//   C3  the result has at most 2^62 bytes.
TensorTypes stack_infer(const Attrs& attrs, TypeSpan in) {
  const auto axis = static_cast<size_t>(require_axis(attrs.axis, in[0].rank() + 1, "C1"));
  for (size_t i = 1; i < in.size(); ++i) {
    require(in[i].shape == in[0].shape, "C2: inputs must have the same shape, but are {} and {}",
            in[0], in[i]);
  }
  TensorType y(in[0].dtype, in[0].shape);
  y.shape.insert(axis, static_cast<int64_t>(in.size()));
  check_size(y);  // C3
  return {y};
}

Tensors stack_decompose(const Attrs& attrs, TensorSpan in) {
  Tensors parts;
  for (const Tensor& x : in) parts.push_back(expand_dims(x, {attrs.axis}));
  return {concat(parts, attrs.axis)};
}

Cases<Attrs> concat_cases() {
  return {
      {.name = "example",
       .inputs = {f32({1, 2}), f32({3}), f32({4, 5})},
       .expect = {f32({1, 2, 3, 4, 5})}},
      {.name = "last_axis",
       .attrs = {.axis = -1},
       .inputs = {f32({2, 1}, {1, 2}), f32({2, 2}, {3, 4, 5, 6})},
       .expect = {f32({2, 3}, {1, 3, 4, 2, 5, 6})}},
      {.name = "one_input", .inputs = {f32({1, 2})}, .expect = {f32({1, 2})}},
      {.name = "promotes", .inputs = {i8({1}), i32({1000})}, .expect = {i32({1, 1000})}},
      {.name = "empty_part", .inputs = {f32({1}), f32({0}, {}), f32({2})}, .expect = {f32({1, 2})}},
      {.name = "bool", .inputs = {boolean({1}), boolean({0})}, .expect = {boolean({1, 0})}},
      {.name = "rank_0_has_no_axis", .inputs = {f32({}, {1}), f32({}, {2})}, .error = "C1"},
      {.name = "sizes_differ", .inputs = {uniform({2, 3}), uniform({2, 4})}, .error = "C2"},
      {.name = "ranks_differ", .inputs = {uniform({2, 3}), uniform({2})}, .error = "C2"},
      {.name = "kinds_differ", .inputs = {f32({1}), i32({1})}, .error = "cast"},
  };
}

Cases<Attrs> stack_cases() {
  return {
      {.name = "example",
       .inputs = {f32({1, 2}), f32({3, 4})},
       .expect = {f32({2, 2}, {1, 2, 3, 4})}},
      {.name = "last_axis",
       .attrs = {.axis = -1},
       .inputs = {f32({1, 2}), f32({3, 4})},
       .expect = {f32({2, 2}, {1, 3, 2, 4})}},
      {.name = "rank_0", .inputs = {i64({}, {1}), i64({}, {2})}, .expect = {i64({1, 2})}},
      {.name = "no_elements", .inputs = {uniform({0}), uniform({0})}, .expect = {f32({2, 0}, {})}},
      {.name = "axis_out_of_range", .attrs = {.axis = 2}, .inputs = {uniform({2})}, .error = "C1"},
      {.name = "shapes_differ", .inputs = {uniform({2}), uniform({3})}, .error = "C2"},
  };
}

}  // namespace

OpDef concat_def() {
  return define<Attrs>({
      .name = "concat",
      .summary = "The concatenation of tensors along an existing axis.",
      .formula = "y = inputs[0], then inputs[1], ... along axis",
      .inputs = {{"inputs", "the tensors, promoted to a common dtype", InputKind::kVariadic}},
      .outputs = {{"y", "the concatenated tensor"}},
      .attrs_doc = {{"axis", "The axis to concatenate along; a negative one counts from the end."}},
      .infer = concat_infer,
      .vjp = concat_vjp,
      .cases = concat_cases,
      .promotes = Promotes::kAll,
      .storage = StorageUse::kMoves,
      .onnx = "Concat",
  });
}

OpDef stack_def() {
  return define<Attrs>({
      .name = "stack",
      .summary = "Tensors of the same shape, stacked along a new axis.",
      .formula = "y[..., k, ...] = inputs[k]",
      .inputs = {{"inputs", "the tensors, promoted to a common dtype", InputKind::kVariadic}},
      .outputs = {{"y", "the stacked tensor"}},
      .attrs_doc = {{"axis",
                     "The index of the new axis in the result; a negative one counts from its "
                     "end."}},
      .infer = stack_infer,
      .decompose = stack_decompose,
      .cases = stack_cases,
      .promotes = Promotes::kAll,
      .storage = StorageUse::kMoves,
  });
}

}  // namespace tenon::ops
