// unique: returns the distinct values of a tensor.

#include <limits>

#include "core/ops/definition/data_dependent_sizes.h"
#include "core/ops/definition/op_ids.h"
#include "core/ops/definition/symbolic_sizes.h"

namespace tenon::ops {
namespace {

struct Attrs {
  bool sorted = true;  // true: values in ascending order; false: in order of first occurrence.
  Size size = -1;      // Capacity of the result; -1 for the number of distinct values.
  double fill = 0;     // Value of the unused capacity.
  TENON_ATTRS(sorted, size, fill)
};

enum Output { kValues, kIndices, kInverse, kCounts, kCount };

// Constraints.
//   C1  size is -1 or not negative, and the size of the result does not overflow.
//   C2  fill is a value of x's dtype.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require_size(attrs.size, "C1");
  require_fill(attrs.fill, x.dtype, "C2");
  const Size n = count(x.shape), size = has_size(attrs.size) ? attrs.size : n;
  const TensorType indices(DType::kI64, {size});
  check_size(indices);
  return {TensorType(x.dtype, {size}), indices, TensorType(DType::kI64, {n}), indices,
          TensorType(DType::kI64, {})};
}

// Returns a vector of `size` elements: truncates x, or appends zeros.
Tensor resized(const Tensor& x, Size size) { return pad(x, {0, size - x->shape()[0]}); }

// Decomposition with a given `size`, for devices without a kernel. Sorting makes equal elements
// adjacent. A cumulative sum over the elements that differ from their predecessor then gives each
// distinct value its number.
Tensors decompose_sized(const Attrs& attrs, const Tensor& x) {
  const DType dtype = x->type.dtype;
  const Size n = x->shape()[0];
  const TensorType numbers(DType::kI64, {n});
  const auto running_count = [](const Tensor& which) { return sub(cumsum(which, {}), integer(1)); };

  const Tensor places = argsort(x, {.axis = 0}), in_order = gather(x, places, 0);
  const Tensor index = iota({n}, DType::kI64, 0);
  const Tensor before = gather(in_order, maximum(sub(index, integer(1)), integer(0)), 0);
  const Tensor is_new = logical_or(equal(index, integer(0)), not_equal(in_order, before));
  const Tensor is_first = cast(is_new, DType::kI64);
  Tensor number = running_count(is_first);
  const auto first_places = [&] {
    return scatter_elements(fill(integer(n), {n}, DType::kI64), number, places,
                            {.reduction = ScatterReduction::kMin});
  };
  if (!attrs.sorted) {
    const Tensor by_occurrence =
        running_count(scatter_elements(zeros(numbers), places, is_first, {}));
    number = gather(by_occurrence, gather(first_places(), number, 0), 0);
  }

  const Tensor n_found = sum(is_first);
  const Tensor is_found = less(iota({attrs.size}, DType::kI64, 0), n_found);
  const Tensor indices = where(is_found, resized(first_places(), attrs.size), integer(0));
  const Tensor counts = scatter_elements(zeros(numbers), number, ones(numbers),
                                         {.reduction = ScatterReduction::kAdd});
  const Tensor filler = fill_scalar(attrs.fill, dtype);
  const Tensor values =
      n == 0 ? fill(filler, {attrs.size}, dtype) : where(is_found, gather(x, indices, 0), filler);
  return {values, indices, scatter_elements(zeros(numbers), places, number, {}),
          resized(counts, attrs.size), n_found};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Tensor x = reshape(in[0], {count(in[0]->shape())});
  if (has_size(attrs.size)) return decompose_sized(attrs, x);
  Attrs bounded = attrs;
  bounded.size = x->shape()[0];
  Tensors found = call_op(OpId::k_unique, any_attrs(bounded), {&x, 1});
  const Size n_found = read_size(found[kCount], bounded.size);
  for (const Output i : {kValues, kIndices, kCounts}) found[i] = cut(found[i], n_found, 0);
  return found;
}

Cases<Attrs> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const CaseTensor x = f32({2, 1, 1, 3, 4, 3});
  return {
      {.name = "example",
       .inputs = {x},
       .expect = {f32({1, 2, 3, 4}), i64({1, 0, 3, 4}), i64({1, 0, 0, 2, 3, 2}), i64({2, 1, 2, 1}),
                  i64({}, {4})},
       .n_outputs = 5},
      {.name = "in_order_of_occurrence",
       .attrs = {.sorted = false},
       .inputs = {x},
       .expect = {f32({2, 1, 3, 4}), i64({0, 1, 3, 4}), i64({0, 1, 1, 2, 3, 2}), i64({1, 2, 2, 1}),
                  i64({}, {4})},
       .n_outputs = 5},
      {.name = "room_is_filled",
       .attrs = {.size = 3, .fill = -5},
       .inputs = {i16({2, 2}, {7, 0, 7, 7})},
       .expect = {i16({0, 7, -5}), i64({1, 0, 0}), i64({1, 0, 1, 1}), i64({1, 3, 0}), i64({}, {2})},
       .n_outputs = 5},
      {.name = "room_for_more_than_there_is",
       .attrs = {.sorted = false, .size = 4, .fill = 0.5},
       .inputs = {bf16({3, 1})},
       .expect = {bf16({3, 1, 0.5, 0.5}), i64({0, 1, 0, 0}), i64({0, 1}), i64({1, 1, 0, 0}),
                  i64({}, {2})},
       .n_outputs = 5},
      {.name = "no_room_for_all",
       .attrs = {.size = 2},
       .inputs = {x},
       .expect = {f32({1, 2}), i64({1, 0}), i64({1, 0, 0, 2, 3, 2}), i64({2, 1}), i64({}, {4})},
       .n_outputs = 5},
      {.name = "each_nan_is_a_value_and_zeros_are_one",
       .inputs = {f32({kNaN, 0, kNaN, -0.0})},
       .expect = {f32({0, kNaN, kNaN}), i64({1, 0, 2}), i64({1, 0, 2, 0}), i64({2, 1, 1}),
                  i64({}, {3})},
       .n_outputs = 5},
      {.name = "each_nan_is_a_value_where_it_occurs",
       .attrs = {.sorted = false},
       .inputs = {f64({kNaN, 5, kNaN, 5})},
       .expect = {f64({kNaN, 5, kNaN}), i64({0, 1, 2}), i64({0, 1, 2, 1}), i64({1, 2, 1}),
                  i64({}, {3})},
       .n_outputs = 5},
      {.name = "bool",
       .inputs = {boolean({1, 0, 1})},
       .expect = {boolean({0, 1}), i64({1, 0}), i64({1, 0, 1}), i64({1, 2}), i64({}, {2})},
       .n_outputs = 5},
      {.name = "rank_0",
       .inputs = {u8({}, {9})},
       .expect = {u8({9}), i64({0}), i64({0}), i64({1}), i64({}, {1})},
       .n_outputs = 5},
      {.name = "no_elements",
       .attrs = {.size = 1, .fill = 8},
       .inputs = {uniform({2, 0})},
       .expect = {f32({8}), i64({0}), i64({0}, {}), i64({0}), i64({}, {0})},
       .n_outputs = 5},
      {.name = "nothing",
       .inputs = {f32({0}, {})},
       .expect = {f32({0}, {}), i64({0}, {}), i64({0}, {}), i64({0}, {}), i64({}, {0})},
       .n_outputs = 5},
      {.name = "drawn", .inputs = {uniform({30, 100}, -500, 500, DType::kI32)}, .n_outputs = 5},
      {.name = "drawn_in_order_of_occurrence",
       .attrs = {.sorted = false},
       .inputs = {uniform({3000}, 0, 200, DType::kU8)},
       .n_outputs = 5},
      {.name = "negative_size", .attrs = {.size = -3}, .inputs = {x}, .error = "C1"},
      {.name = "fill_is_no_value_of_the_dtype",
       .attrs = {.size = 1, .fill = -1},
       .inputs = {u8({1})},
       .error = "C2"},
  };
}

}  // namespace

OpDef unique_def() {
  return define<Attrs>({
      .name = "unique",
      .summary = "The distinct values of a tensor, and where they occur.",
      .formula = "values[inverse_indices[i]] = x[i]",
      .details = "Elements are numbered in row-major order. Each NaN is a distinct value; zeros of "
                 "either sign are one value, represented by the one that occurs first. With "
                 "`size`, values beyond it are omitted, but count and inverse_indices still cover "
                 "all values; after the values found, indices and counts are 0. Without `size`, "
                 "the inferred types are the largest that the results can have.",
      .inputs = {{"x", "the input, of any dtype"}},
      .outputs = {{"values", "the distinct values"},
                  {"indices", "the index of the first occurrence of each value"},
                  {"inverse_indices",
                   "the index of each element's value among all distinct values"},
                  {"counts", "the number of occurrences of each value"},
                  {"count", "the number of distinct values"}},
      .attrs_doc = {{"sorted",
                     "Whether values are in ascending order, NaN last; otherwise in the order of "
                     "first occurrence."},
                    kSizeDoc,
                    {"fill",
                     "The value that pads the output values if fewer than size are found."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .sparse_output = true,
      .no_gradient = "its values are chosen by comparison, and the other results are integers",
      .onnx = "Unique",
  });
}

}  // namespace tenon::ops
