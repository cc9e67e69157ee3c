// sum, prod, max and min: reductions over some axes.

#include <bit>
#include <limits>

#include "core/ops/reductions/reduction.h"

namespace tenon::ops {
namespace {

using Attrs = ReduceAttrs;

// Constraints of all of them:
//   C1  x is numeric.
//   C2  the axes are axes of x; see reduction.h.
// and of max and min:
//   C3  none of the reduced axes is empty, unless the result is empty.

TensorTypes infer_numeric(const Attrs& attrs, TypeSpan in) {
  require(is_numeric(in[0].dtype), "C1: x must be numeric, but is {}: convert it with cast",
          in[0].dtype);
  return infer_reduced(attrs, in[0]);
}

// The type rule of max and min.
TensorTypes infer_extreme(const Attrs& attrs, TypeSpan in) {
  TensorTypes y = infer_numeric(attrs, in);
  require(count(in[0].shape) > 0 || count(y[0].shape) == 0,
          "C3: {} has no elements to choose from along these axes", in[0]);
  return y;
}

// Returns the reduced axes as a bit mask.
uint32_t mask_of(const Attrs& attrs, const VjpArgs& v) {
  return axes_mask(attrs.axes, v.input_type(0).rank());
}

Tensors sum_vjp(const Attrs& attrs, const VjpArgs& v) {
  return {broadcast_along(v.cotangent(0), v.input_type(0), mask_of(attrs, v))};
}

// All elements that equal the extreme share its cotangent equally.
Tensors extreme_vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& x = v.input_type(0);
  const uint32_t mask = mask_of(attrs, v);
  const Dims kept = reduced_shape(x.shape, mask, true);
  const Tensor wins = equal(v.input(0), reshape(v.output(0), kept));
  const Tensor winners = sum(cast(wins, x.dtype), {.axes = attrs.axes, .keepdims = true});
  const Tensor share = reshape(v.cotangent(0), kept) / winners;
  return {where(wins, share, number(0))};
}

// For each element along the last axis, returns the product of all elements before it, or after it
// if `after`. Each iteration of the loop doubles the number of factors.
Tensor exclusive_products(const Tensor& x, bool after) {
  const size_t last = x->rank() - 1;
  const auto shifted = [&](const Tensor& t, int64_t by) {
    Sizes pads(2 * x->rank(), 0);
    pads[last] = after ? -by : by;
    pads[2 * last + 1] = after ? by : -by;
    return pad(t, number(1), pads);
  };
  Tensor product = shifted(x, 1);
  for (int64_t reach = 1; reach < x->shape()[last]; reach *= 2) {
    product = product * shifted(product, reach);
  }
  return product;
}

// The derivative of a product with respect to an element is the product of all other elements. It
// is computed without division, so it is correct for zeros, and can be differentiated any number of
// times.
Tensors prod_vjp(const Attrs& attrs, const VjpArgs& v) {
  const TensorType& x = v.input_type(0);
  const uint32_t mask = mask_of(attrs, v);
  if (count(x.shape) == 0 || mask == 0) return {broadcast_along(v.cotangent(0), x, mask)};

  // Move the reduced axes to the end and merge them into one.
  const size_t rank = x.rank(), n_kept = rank - static_cast<size_t>(std::popcount(mask));
  Ints order, back(rank, 0);
  Dims turned, flat;
  int64_t n_reduced = 1;
  for (const bool reduced : {false, true}) {
    for (size_t i = 0; i < rank; ++i) {
      if ((mask >> i & 1) != reduced) continue;
      back[i] = static_cast<int64_t>(order.size());
      order.push_back(static_cast<int64_t>(i));
      turned.push_back(x.shape[i]);
      if (reduced) n_reduced *= x.shape[i];
    }
  }
  for (size_t i = 0; i < n_kept; ++i) flat.push_back(turned[i]);
  flat.push_back(n_reduced);

  const Tensor rows = reshape(transpose(v.input(0), order), flat);
  // Half types are multiplied in float32, like in prod itself.
  const Tensor slope = in_wide(rows, [](const Tensor& wide) {
    return exclusive_products(wide, false) * exclusive_products(wide, true);
  });
  return {broadcast_along(v.cotangent(0), x, mask) * transpose(reshape(slope, turned), back)};
}

// The numbers 1 to 6 in two rows.
CaseTensor matrix() { return f32({2, 3}, {1, 2, 3, 4, 5, 6}); }

// The cases of one reduction. `all`, `rows` and `columns` are its expected results for matrix().
Cases<Attrs> cases(double all, std::initializer_list<double> rows,
                   std::initializer_list<double> columns) {
  return {
      {.name = "example", .inputs = {matrix()}, .expect = {f32({}, {all})}},
      {.name = "rows", .attrs = {.axes = {1}}, .inputs = {matrix()}, .expect = {f32({2}, rows)}},
      {.name = "columns",
       .attrs = {.axes = {-2}},
       .inputs = {matrix()},
       .expect = {f32({3}, columns)}},
      {.name = "keepdims",
       .attrs = {.axes = {0}, .keepdims = true},
       .inputs = {matrix()},
       .expect = {f32({1, 3}, columns)}},
      {.name = "all_keepdims",
       .attrs = {.keepdims = true},
       .inputs = {matrix()},
       .expect = {f32({1, 1}, {all})}},
      {.name = "outer_and_inner_axis", .attrs = {.axes = {0, 2}}, .inputs = {uniform({3, 4, 5})}},
      {.name = "rank_0", .inputs = {f64({}, {3})}, .expect = {f64({}, {3})}},
      {.name = "no_results", .attrs = {.axes = {0}}, .inputs = {uniform({3, 0})}},
      {.name = "bool_is_not_numeric", .inputs = {boolean({1})}, .error = "C1"},
      {.name = "axis_out_of_range", .attrs = {.axes = {2}}, .inputs = {matrix()}, .error = "C2"},
      {.name = "axis_twice", .attrs = {.axes = {1, -1}}, .inputs = {matrix()}, .error = "C2"},
  };
}

// Returns the cases of max or min alone. `of_integers` is the expected result for -128 and 127.
Cases<Attrs> extreme_cases(double of_integers) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return {
      {.name = "nan_wins",
       .inputs = {f32({1, kNaN, 2})},
       .expect = {f32({}, {kNaN})},
       .check_gradient = false},
      {.name = "extremes_of_integers",
       .inputs = {i8({-128, 127})},
       .expect = {i8({}, {of_integers})}},
      {.name = "of_nothing", .inputs = {uniform({0})}, .error = "C3"},
      {.name = "of_empty_rows", .attrs = {.axes = {1}}, .inputs = {uniform({2, 0})}, .error = "C3"},
  };
}

}  // namespace

OpDef sum_def() {
  return define_reduction<Attrs>({
      .name = "sum",
      .summary = "The sum of the elements along some axes.",
      .formula = "y = sum(x[i])",
      .details = "The sum of no elements is 0. Integers wrap in their own dtype.",
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer_numeric,
      .vjp = sum_vjp,
      .cases =
          [] {
            return joined(
                cases(21, {6, 15}, {5, 7, 9}),
                {
                    {.name = "of_nothing",
                     .attrs = {.axes = {1}},
                     .inputs = {uniform({2, 0})},
                     .expect = {f32({0, 0})}},
                    {.name = "integers_wrap",
                     .inputs = {i8({100, 100})},
                     .expect = {i8({}, {-56})}},
                    {.name = "many_halves", .inputs = {uniform({5000}, 0, 1, DType::kF16)}},
                });
          },
      .numeric = Numeric::kAccumulation,
      .onnx = "ReduceSum",
  });
}

OpDef prod_def() {
  return define_reduction<Attrs>({
      .name = "prod",
      .summary = "The product of the elements along some axes.",
      .formula = "y = product(x[i])",
      .details = "The product of no elements is 1. Integers wrap in their own dtype.",
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer_numeric,
      .vjp = prod_vjp,
      .cases =
          [] {
            return joined(
                cases(720, {6, 120}, {4, 10, 18}),
                {
                    {.name = "of_nothing",
                     .attrs = {.axes = {1}},
                     .inputs = {uniform({2, 0})},
                     .expect = {f32({1, 1})}},
                    {.name = "integers_wrap", .inputs = {i8({16, 17})}, .expect = {i8({}, {16})}},
                    {.name = "one_zero", .inputs = {f32({2, 0, 5})}, .expect = {f32({}, {0})}},
                    {.name = "two_zeros", .inputs = {f32({0, 3, 0})}, .expect = {f32({}, {0})}},
                });
          },
      .saves = Saves::kFirstInput,
      .numeric = Numeric::kAccumulation,
      .onnx = "ReduceProd",
  });
}

OpDef max_def() {
  return define_reduction<Attrs>({
      .name = "max",
      .summary = "The largest element along some axes.",
      .formula = "y = max(x[i])",
      .details =
          "The result is NaN if any element is NaN. Elements that tie share the gradient evenly.",
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer_extreme,
      .vjp = extreme_vjp,
      .cases =
          [] {
            return joined(cases(6, {3, 6}, {4, 5, 6}), extreme_cases(127));
          },
      .saves = Saves::kInputsAndOutputs,
      .onnx = "ReduceMax",
  });
}

OpDef min_def() {
  return define_reduction<Attrs>({
      .name = "min",
      .summary = "The smallest element along some axes.",
      .formula = "y = min(x[i])",
      .details =
          "The result is NaN if any element is NaN. Elements that tie share the gradient evenly.",
      .attrs_doc = {kAxesDoc, kKeepdimsDoc},
      .infer = infer_extreme,
      .vjp = extreme_vjp,
      .cases =
          [] {
            return joined(cases(1, {1, 4}, {1, 2, 3}), extreme_cases(-128));
          },
      .saves = Saves::kInputsAndOutputs,
      .onnx = "ReduceMin",
  });
}

}  // namespace tenon::ops
