// Ops that gather, scatter, search or select by index.

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {
namespace {

// Returns the indices of the true elements of a bool vector.
Tensor indices_of(const Tensor& condition) {
  return reshape(call_named1("nonzero", {}, {condition}), {-1});
}

Tensor argsort(const Tensor& x) { return call_named1("argsort", {}, {x}); }

// Sorts the rows of a matrix lexicographically (stable) and returns the permutation. Sorts by one
// column at a time, from the last to the first.
Tensor argsort_rows(const Tensor& rows) {
  Tensor order = iota({rows->shape()[0]}, DType::kI64, 0);
  for (int64_t c = rows->shape()[1]; c-- > 0;) {
    const Tensor column = squeeze(slice(rows, {.starts = {c}, .ends = {c + 1}, .axes = {1}}), {1});
    order = gather(order, argsort(gather(column, order, 0)), 0);
  }
  return order;
}

// Returns the inverse of a permutation.
Tensor inverse_of(const Tensor& order) {
  const Tensor places = iota(order->shape(), DType::kI64, 0);
  return scatter_elements(zeros(order->type), order, places, {.axis = 0});
}

// Returns four tensors: the unique slices of x along an axis, the index of the first occurrence of
// each, the index of its unique slice for each slice of x, and the number of occurrences.
Tensors unique_slices(const Tensor& x, int64_t axis, bool sorted) {
  Ints axis_first = {axis};
  for (int64_t i = 0; i < static_cast<int64_t>(x->rank()); ++i) {
    if (i != axis) axis_first.push_back(i);
  }
  const int64_t n = x->shape()[static_cast<size_t>(axis)];
  const Tensor rows = reshape(transpose(x, axis_first), {n, n ? count(x->shape()) / n : Size(0)});
  const Tensor order = argsort_rows(rows), in_order = gather(rows, order, 0);
  const auto part = [&](int64_t begin, int64_t end) {
    return slice(in_order, {.starts = {begin}, .ends = {end}, .axes = {0}});
  };
  const Tensor differs =
      call_named1("any", {{"axes", Ints{1}}}, {not_equal(part(1, n), part(0, -1))});
  const Tensor begins = pad(differs, make_scalar_bool(true), {n ? 1 : 0, 0});

  const Tensor starts = indices_of(begins);
  const int64_t found = starts->shape()[0];
  Tensor group = sub(cumsum(cast(begins, DType::kI64), {}), integer(1));
  Tensor first = gather(order, starts, 0);
  Tensor counts = sub(
      pad(slice(starts, {.starts = {1}, .ends = {found}}), integer(n), {0, found ? 1 : 0}), starts);
  if (!sorted) {
    const Tensor by_place = argsort(first);
    group = gather(inverse_of(by_place), group, 0);
    first = gather(first, by_place, 0);
    counts = gather(counts, by_place, 0);
  }
  const Tensor inverse = scatter_elements(zeros(order->type), order, group, {.axis = 0});
  return {gather(x, first, axis), first, inverse, counts};
}

}  // namespace

// Scatter is the name of ScatterElements before version 11.
Tensors scatter(const NodeCall& n) {
  return {scatter_elements(n.in(0), n.in(1), n.in(2), {.axis = n.attr("axis", 0)})};
}

// One-hot encoding. The number of classes is input 1; the off and on values are input 2.
Tensors one_hot(const NodeCall& n) {
  const Tensor& indices = n.in(0);
  const bool is_whole = n.known(1) && !is_floating(n.known(1)->dtype);
  const double given = is_whole ? 0 : n.one_number(1);
  require(given >= 0 && given < 0x1p53, "depth must be in [0, 2^53), but is {}", given);
  const Size depth = is_whole ? n.one_size(1) : Size(static_cast<int64_t>(given));
  const Tensor& values = n.in(2);
  require(depth >= 0, "depth must not be negative, but is {}", depth);
  require(values->shape() == Dims{2}, "values must have shape [2], but is {}", values->type);
  const Tensor hot =
      tenon::one_hot(is_floating(indices->type.dtype) ? cast(indices, DType::kI64) : indices, depth,
                     DType::kBool, n.attr("axis", -1));
  const auto value = [&](int64_t i) {
    return reshape(slice(values, {.starts = {i}, .ends = {i + 1}}), {});
  };
  return {where(hot, value(1), value(0))};
}

// Selects slices along an axis by a bool vector. Without an axis, selects elements of the flattened
// input.
Tensors compress(const NodeCall& n) {
  const Tensor &x = n.in(0), &condition = n.in(1);
  require(condition->rank() == 1, "condition must have one axis, but is {}", condition->type);
  const Tensor places = indices_of(condition);
  if (n.has_attr("axis")) return {gather(x, places, n.attr("axis", 0))};
  return {gather(reshape(x, {count(x->shape())}), places, 0)};
}

// Returns the unique elements of x or, with an axis, its unique slices.
Tensors unique(const NodeCall& n) {
  const Tensor& x = n.in(0);
  const bool sorted = n.flag("sorted", true);
  if (n.has_attr("axis")) {
    return unique_slices(x, require_axis(n.attr("axis", 0), x->rank(), "axis"), sorted);
  }
  return call_named("unique", {{"sorted", int64_t{sorted}}}, {x});
}

}  // namespace tenon::onnx::adapters
