// bincount: counts how often each nonnegative integer occurs.

#include "core/ops/definition/data_dependent_sizes.h"
#include "core/ops/definition/op_ids.h"
#include "core/ops/reductions/reduction.h"

namespace tenon::ops {
namespace {

struct Attrs {
  int64_t minlength = 0;  // Minimum length of the result; used if length is -1.
  Size length = -1;       // Length of the result; -1: the largest element of x plus 1.
  TENON_ATTRS(minlength, length)
};

// Maximum number of elements of a tensor of 2^62 bytes with the widest dtype, which has 16 bytes.
constexpr int64_t kMaxCounts = int64_t{1} << 58;

// Returns the number of distinct nonnegative values of a dtype, but at most kMaxCounts.
int64_t n_nonnegative_values(DType dtype) {
  const auto bits = static_cast<int>(8 * size_of(dtype)) - (is_signed_integer(dtype) ? 1 : 0);
  return bits < 58 ? int64_t{1} << bits : kMaxCounts;
}

// Returns an upper bound of the length of the result if attrs.length is -1.
Size max_counts(const Attrs& attrs, DType dtype) {
  return std::max(attrs.minlength, n_nonnegative_values(dtype));
}

// Constraints.
//   C1  x is integer.
//   C2  0 <= element < length for each element of x.
//   C3  weights are numeric and have the shape of x.
//   C4  minlength is not negative, length is -1 or not negative, and the result has at most 2^62
//       bytes.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require(is_integer(x.dtype), "C1: x must be integer, but is {}", x.dtype);
  TensorType y(DType::kI64, {});
  if (in.has(1)) {
    const TensorType& weights = in[1];
    require(is_numeric(weights.dtype) && weights.shape == x.shape,
            "C3: weights {} must have one element for each element of {}", weights, x);
    y.dtype = weights.dtype;
  }
  require(attrs.minlength >= 0, "C4: minlength must not be negative, but is {}", attrs.minlength);
  require(!has_size(attrs.length) || attrs.length >= 0,
          "C4: length must be -1 or not negative, but is {}", attrs.length);
  const Size length = has_size(attrs.length) ? attrs.length : max_counts(attrs, x.dtype);
  return {require_sizes(y.dtype, {length}, "C4")};
}

// Returns the length of the result: the largest element of x plus 1, but at least attrs.minlength.
Size length_for_largest(const Attrs& attrs, const Tensor& x) {
  if (count(x->shape()) == 0) return attrs.minlength;
  const Tensor largest = cast(max(x), DType::kI64);
  return read_size(maximum(add(largest, integer(1)), integer(attrs.minlength)),
                   max_counts(attrs, x->type.dtype));
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  if (!has_size(attrs.length)) {
    Attrs sized = attrs;
    sized.length = length_for_largest(attrs, in[0]);
    require(sized.length <= kMaxCounts,
            "C4: the largest element of x, {}, would need a result that exceeds the maximum size",
            sized.length - 1);
    return call_op(OpId::k_bincount, any_attrs(sized), in);
  }
  const Size length = attrs.length;
  const Tensor length_value = length.known() ? integer(length) : count_as(DType::kI64, length);
  const Size n = count(in[0]->shape());
  Tensor places = cast(reshape(in[0], {n}), DType::kI64);
  // scatter_elements accepts negative indices, which count from the end. Subtracting the length
  // makes them out of range, and thus an error.
  places = where(less(places, integer(0)), sub(places, length_value), places);
  const auto add_up = [&](const Tensor& updates) {
    return scatter_elements(zeros(TensorType(updates->type.dtype, {length})), places, updates,
                            {.reduction = ScatterReduction::kAdd});
  };
  if (!has(in, 1)) return {add_up(ones(TensorType(DType::kI64, {n})))};
  const Tensor weights = reshape(in[1], {n});
  return {is_floating(weights->type.dtype) ? in_wide(weights, add_up) : add_up(weights)};
}

Cases<Attrs> cases() {
  const CaseTensor x = i64({1, 3, 1, 0, 1});
  const CaseTensor weights = f32({0.5, 2, 0.25, -1, 8});
  return {
      {.name = "example", .inputs = {x}, .expect = {i64({1, 3, 0, 1})}},
      {.name = "weights", .inputs = {x, weights}, .expect = {f32({-1, 8.75, 0, 2})}},
      {.name = "length",
       .attrs = {.length = 6},
       .inputs = {x},
       .expect = {i64({1, 3, 0, 1, 0, 0})}},
      {.name = "length_and_weights",
       .attrs = {.length = 5},
       .inputs = {x, weights},
       .expect = {f32({-1, 8.75, 0, 2, 0})}},
      {.name = "minlength_is_more",
       .attrs = {.minlength = 5},
       .inputs = {u8({1, 3})},
       .expect = {i64({0, 1, 0, 1, 0})}},
      {.name = "minlength_is_less",
       .attrs = {.minlength = 2},
       .inputs = {i32({1, 3})},
       .expect = {i64({0, 1, 0, 1})}},
      {.name = "all_axes_count",
       .attrs = {.length = 3},
       .inputs = {i16({2, 2}, {2, 0, 2, 2})},
       .expect = {i64({1, 0, 3})}},
      {.name = "integer_weights_wrap",
       .attrs = {.length = 1},
       .inputs = {i64({0, 0}), i8({100, 100})},
       .expect = {i8({-56})}},
      {.name = "halves_are_summed_in_float32",
       .attrs = {.length = 1},
       .inputs = {i64({0, 0, 0}), f16({2048, 1, 1})},
       .expect = {f16({2050})}},
      {.name = "drawn",
       .attrs = {.length = 7},
       .inputs = {uniform({5, 20}, 0, 7, DType::kU16), uniform({5, 20})}},
      {.name = "nothing", .inputs = {i64({0}, {})}, .expect = {i64({0}, {})}},
      {.name = "nothing_has_the_minlength",
       .attrs = {.minlength = 2},
       .inputs = {i64({0}, {})},
       .expect = {i64({0, 0})}},
      {.name = "floating", .inputs = {f32({1})}, .error = "C1"},
      {.name = "number_out_of_range",
       .attrs = {.length = 3},
       .inputs = {x},
       .error = "index 3 is outside [0, 3)"},
      {.name = "negative_number",
       .attrs = {.length = 3},
       .inputs = {i32({1, -1})},
       .error = "index -4 is outside [-3, 0)"},
      {.name = "negative_number_without_length",
       .inputs = {i32({1, -1})},
       .error = "index -3 is outside [-2, 0)"},
      {.name = "too_large_a_number", .inputs = {i64({1e18})}, .error = "C4"},
      {.name = "weights_differ_in_shape", .inputs = {x, f32({1})}, .error = "C3"},
      {.name = "weights_are_bool", .inputs = {i64({1}), boolean({1})}, .error = "C3"},
      {.name = "negative_minlength", .attrs = {.minlength = -1}, .inputs = {x}, .error = "C4"},
      {.name = "negative_length", .attrs = {.length = -2}, .inputs = {x}, .error = "C4"},
  };
}

}  // namespace

OpDef bincount_def() {
  return define<Attrs>({
      .name = "bincount",
      .summary = "The number of occurrences of each integer, or the sum of their weights.",
      .formula = "y[i] = sum(weights[j] for all j with x[j] = i)",
      .details =
          "An element outside [0, length) is dropped and is an error; the error reports a negative "
          "element minus the length. If length is -1, the host waits for the largest element, and "
          "the inferred type has one element for each nonnegative value of the dtype of x, at most "
          "2^58. Half types are summed in float32.",
      .inputs = {{"x", "the integers to count"},
                 {"weights", "the weight of each element of x; 1 if absent", InputKind::kOptional}},
      .outputs = {{"y", "the counts as int64, or the sums in the dtype of the weights"}},
      .attrs_doc = {{"minlength", "The minimum length of the result if length is -1."},
                    {"length",
                     "The length of the result; -1 for one more than the largest element."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .numeric = Numeric::kAccumulation,
      .sparse_output = true,
      .index_rule = "C2",
  });
}

}  // namespace tenon::ops
