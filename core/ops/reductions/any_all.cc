// any and all: logical or, and logical and, over some axes.

#include "core/ops/reductions/reduction.h"

namespace tenon::ops {
namespace {

using Attrs = ReduceAttrs;

// Constraints.
//   C1  x is bool.
//   C2  -rank(x) <= axis < rank(x) for each of `axes`; see reduction.h.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require(in[0].dtype == DType::kBool, "C1: x must be bool, but is {}: compare it with 0 first",
          in[0].dtype);
  return infer_reduced(attrs, in[0]);
}

// Computes any or all as the max or min (`extreme`) of x, converted to 0 and 1. For an empty input,
// which max and min reject, returns `of_nothing`.
Tensor any_or_all(const Attrs& attrs, const Tensor& x,
                  Tensor (*extreme)(const Tensor&, const Along&), bool of_nothing) {
  if (count(x->shape()) == 0) {
    const uint32_t mask = axes_mask(attrs.axes, x->rank());
    return fill(make_scalar_bool(of_nothing), reduced_shape(x->shape(), mask, attrs.keepdims),
                DType::kBool);
  }
  return cast(extreme(cast(x, DType::kU8), attrs), DType::kBool);
}

Tensors any_decompose(const Attrs& attrs, TensorSpan in) {
  return {any_or_all(attrs, in[0], max, false)};
}

Tensors all_decompose(const Attrs& attrs, TensorSpan in) {
  return {any_or_all(attrs, in[0], min, true)};
}

// The cases of any or all. The arguments are the expected results for x = [[0, 1], [0, 0], [1, 1]]:
// over all elements, over each row, over each column, and for an empty input.
Cases<Attrs> cases(double whole, std::initializer_list<double> rows,
                   std::initializer_list<double> columns, double of_nothing) {
  const CaseTensor x = boolean({3, 2}, {0, 1, 0, 0, 1, 1});
  return {
      {.name = "example", .inputs = {x}, .expect = {boolean({}, {whole})}},
      {.name = "rows", .attrs = {.axes = {-1}}, .inputs = {x}, .expect = {boolean({3}, rows)}},
      {.name = "keepdims",
       .attrs = {.axes = {0}, .keepdims = true},
       .inputs = {x},
       .expect = {boolean({1, 2}, columns)}},
      {.name = "rank_0", .inputs = {boolean({}, {1})}, .expect = {boolean({}, {1})}},
      {.name = "of_nothing",
       .attrs = {.axes = {1}},
       .inputs = {boolean({2, 0}, {})},
       .expect = {boolean({of_nothing, of_nothing})}},
      {.name = "number_is_not_bool", .inputs = {f32({1})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axes = {2}}, .inputs = {x}, .error = "C2"},
  };
}

}  // namespace

OpDef any_def() {
  return define_reduction<Attrs>({
      .name = "any",
      .summary = "Whether at least one element along some axes is true.",
      .formula = "y = x[0] or x[1] or ...",
      .details = "A reduction over no elements gives false.",
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer,
      .decompose = any_decompose,
      .cases =
          [] {
            return cases(1, {1, 0, 1}, {1, 1}, 0);
          },
      .sparse_output = true,
      .no_gradient = "its result is bool",
  });
}

OpDef all_def() {
  return define_reduction<Attrs>({
      .name = "all",
      .summary = "Whether all elements along some axes are true.",
      .formula = "y = x[0] and x[1] and ...",
      .details = "A reduction over no elements gives true.",
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer,
      .decompose = all_decompose,
      .cases =
          [] {
            return cases(0, {0, 0, 1}, {0, 0}, 1);
          },
      .sparse_output = true,
      .no_gradient = "its result is bool",
  });
}

}  // namespace tenon::ops
