// check_numerics: returns its input, or fails if an element is NaN or infinite.

#include <cmath>

#include "core/ops/definition/op_ids.h"
#include "core/ops/definition/type_rules.h"

namespace tenon::ops {
namespace {

// Constraints.
//   C1  x is floating point.
//   C2  All elements of x are finite; checked when the op runs.
//   y is x.

// Converts a row-major index to an index along each axis.
Dims index_of(int64_t flat, const Dims& shape) {
  Dims place = shape;
  for (size_t i = shape.rank(); i-- > 0;) {
    place[i] = flat % shape[i];
    flat /= shape[i];
  }
  return place;
}

[[noreturn]] void report(const Tensor& x, const Tensor& is_finite) {
  const int64_t n = count(x->shape());
  const Tensor is_bad = reshape(cast(logical_not(is_finite), DType::kI64), {n});
  const int64_t n_bad = read_integer(sum(is_bad));
  const int64_t first = read_integer(call1(OpId::k_argmax, ArgReduceAttrs{}, {is_bad}));
  const int64_t n_nan = read_integer(sum(cast(isnan(x), DType::kI64)));
  fail(Code::kInvalidArgument,
       "C2: x must be finite, but {} of {} elements of x: {} are NaN and {} infinite, the first at "
       "{}",
       {n_nan, n, x->type, n_bad - n_nan, index_of(first, x->shape())});
}

Tensors decompose(const NoAttrs&, TensorSpan in) {
  const Tensor &x = in[0], is_finite = isfinite(x);
  if (!read_bool(call1(OpId::k_all, Along{}, {is_finite}))) report(x, is_finite);
  return {identity(x)};
}

Tensors vjp(const NoAttrs&, const VjpArgs& v) { return {v.cotangent(0)}; }

Cases<NoAttrs> cases() {
  return {
      {.name = "example",
       .inputs = {f32({2, 2}, {1, -2, 0, 60000})},
       .expect = {f32({2, 2}, {1, -2, 0, 60000})},
       .check_gradient = false},
      {.name = "drawn", .inputs = {uniform({2, 3})}},
      {.name = "half", .inputs = {f16({65504, -0.0})}, .expect = {f16({65504, -0.0})}},
      {.name = "rank_0", .inputs = {f64({}, {3})}, .expect = {f64({}, {3})}},
      {.name = "no_elements", .inputs = {f32({2, 0}, {})}, .expect = {f32({2, 0}, {})}},
      {.name = "nan_and_infinities",
       .inputs = {f32({2, 3}, {1, 2, 3, -INFINITY, NAN, INFINITY})},
       .error = "C2: x must be finite, but 1 of 6 elements of x: f32[2,3] are NaN and 2 infinite, "
                "the first at [1,0]"},
      {.name = "one_of_rank_0",
       .inputs = {f64({}, {NAN})},
       .error = "C2: x must be finite, but 1 of 1"},
      {.name = "integers", .inputs = {i32({1})}, .error = "C1"},
  };
}

}  // namespace

OpDef check_numerics_def() {
  return define<NoAttrs>({
      .name = "check_numerics",
      .summary = "The input, after a check that it contains neither NaN nor infinities.",
      .formula = "y = x",
      .details =
          "Fails if an element is NaN or infinite; the error reports how many are and the "
          "index of the first. The host waits for the check. The derivative passes unchecked.",
      .inputs = {{"x", "the tensor to check"}},
      .outputs = {{"y", "the input, unchanged"}},
      .infer = infer_floating,
      .vjp = vjp,
      .decompose = decompose,
      .cases = cases,
  });
}

}  // namespace tenon::ops
