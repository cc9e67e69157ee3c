// tensordot: the contraction of two tensors over pairs of axes.

#include "core/ops/definition/formulas.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Ints axes_a;  // The axes of a to sum over, negative ones from the end.
  Ints axes_b;  // The axes of b to sum over, paired with axes_a in order.
  TENON_ATTRS(axes_a, axes_b)
};

// The axes of one operand, divided into those that are kept and those that are summed over.
struct Parts {
  Ints kept, summed;
  Dims kept_shape;
  Size n_kept = 1, n_summed = 1;

  Parts(const Ints& axes, const Dims& shape) {
    const uint32_t mask = axes.empty() ? 0 : axes_mask(axes, shape.rank());
    for (size_t i = 0; i < shape.rank(); ++i) {
      if (mask >> i & 1) continue;
      kept.push_back(static_cast<int64_t>(i));
      kept_shape.push_back(shape[i]);
      n_kept *= shape[i];
    }
    for (const int64_t axis : axes) {
      summed.push_back(from_front(axis, shape.rank()));
      n_summed *= shape[static_cast<size_t>(summed.back())];
    }
  }
};

Ints operator+(Ints a, const Ints& b) {
  for (const int64_t value : b) a.push_back(value);
  return a;
}

// Constraints.
//   C1  a and b are numeric and of one dtype.
//   C2  axes_a and axes_b have the same length.
//   C3  axes_a are axes of a and axes_b of b, none of them twice.
//   C4  paired axes have the same size.
//   C5  y has the other axes of a, then those of b, at most 16; and its size does not overflow.
TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  const TensorType &a = in[0], &b = in[1];
  require(is_numeric(a.dtype) && a.dtype == b.dtype,
          "C1: a and b must be numeric and of one dtype, but are {} and {}", a, b);
  const size_t n = attrs.axes_a.size();
  require(attrs.axes_b.size() == n,
          "C2: axes_a and axes_b must have the same length, but have {} and {}", n,
          attrs.axes_b.size());
  require_axes(attrs.axes_a, a, "C3");
  require_axes(attrs.axes_b, b, "C3");
  const Parts left(attrs.axes_a, a.shape), right(attrs.axes_b, b.shape);
  for (size_t i = 0; i < n; ++i) {
    const int64_t at = left.summed[i], bt = right.summed[i];
    require(a.shape[static_cast<size_t>(at)] == b.shape[static_cast<size_t>(bt)],
            "C4: axis {} of a: {} does not match axis {} of b: {}", at, a, bt, b);
  }
  require(left.kept.size() + right.kept.size() <= kMaxRank,
          "C5: the product of {} and {} over {} axes has more than {} axes", a, b, n, kMaxRank);
  TensorType y(a.dtype, left.kept_shape);
  for (const Size size : right.kept_shape) y.shape.push_back(size);
  check_size(y);
  return {y};
}

Tensors decompose(const Attrs& attrs, TensorSpan in) {
  const Parts a(attrs.axes_a, in[0]->shape()), b(attrs.axes_b, in[1]->shape());
  const Tensor left = reshape(transpose(in[0], a.kept + a.summed), {a.n_kept, a.n_summed});
  const Tensor right = reshape(transpose(in[1], b.summed + b.kept), {b.n_summed, b.n_kept});
  Dims shape = a.kept_shape;
  for (const Size size : b.kept_shape) shape.push_back(size);
  return {reshape(matmul(left, right), shape)};
}

Cases<Attrs> cases() {
  const CaseTensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6}), b = f32({3, 2}, {1, 0, 0, 1, 1, 1});
  return {
      {.name = "example",
       .attrs = {.axes_a = {1}, .axes_b = {0}},
       .inputs = {a, b},
       .expect = {f32({2, 2}, {4, 5, 10, 11})}},
      {.name = "two_axes_in_another_order",
       .attrs = {.axes_a = {0, 1}, .axes_b = {-1, -2}},
       .inputs = {a, b},
       .expect = {f32({}, {15})}},
      {.name = "outer_product",
       .inputs = {f32({1, 2}), f32({3, 4, 5})},
       .expect = {f32({2, 3}, {3, 4, 5, 6, 8, 10})}},
      {.name = "matrix_times_vector",
       .attrs = {.axes_a = {0}, .axes_b = {0}},
       .inputs = {a, f32({1, -1})},
       .expect = {f32({-3, -3, -3})}},
      {.name = "more_axes",
       .attrs = {.axes_a = {2, 0}, .axes_b = {1, 2}},
       .inputs = {uniform({2, 3, 4}), uniform({5, 4, 2})}},
      {.name = "rank_0", .inputs = {f32({}, {2}), f32({3, 4})}, .expect = {f32({6, 8})}},
      {.name = "integers_wrap",
       .attrs = {.axes_a = {0}, .axes_b = {0}},
       .inputs = {i8({100, 100}), i8({1, 1})},
       .expect = {i8({}, {-56})}},
      {.name = "half",
       .attrs = {.axes_a = {0}, .axes_b = {0}},
       .inputs = {f16({2048, 1, 1}), f16({1, 1, 1})},
       .expect = {f16({}, {2050})}},
      {.name = "sum_of_nothing",
       .attrs = {.axes_a = {1}, .axes_b = {0}},
       .inputs = {f32({2, 0}, {}), f32({0, 1}, {})},
       .expect = {f32({2, 1}, {0, 0})}},
      {.name = "no_elements",
       .attrs = {.axes_a = {1}, .axes_b = {0}},
       .inputs = {uniform({0, 3}), uniform({3, 2})},
       .expect = {f32({0, 2}, {})}},
      {.name = "boolean", .inputs = {boolean({1}), boolean({1})}, .error = "C1"},
      {.name = "lists_differ_in_length", .attrs = {.axes_a = {1}}, .inputs = {a, b}, .error = "C2"},
      {.name = "axis_out_of_range",
       .attrs = {.axes_a = {2}, .axes_b = {0}},
       .inputs = {a, b},
       .error = "C3"},
      {.name = "axis_twice",
       .attrs = {.axes_a = {0, 0}, .axes_b = {0, 1}},
       .inputs = {a, a},
       .error = "C3"},
      {.name = "sizes_differ",
       .attrs = {.axes_a = {0}, .axes_b = {0}},
       .inputs = {a, b},
       .error = "C4"},
      {.name = "too_many_axes",
       .inputs = {uniform({1, 1, 1, 1, 1, 1, 1, 1, 1}), uniform({1, 1, 1, 1, 1, 1, 1, 1})},
       .error = "C5"},
  };
}

}  // namespace

OpDef tensordot_def() {
  return define<Attrs>({
      .name = "tensordot",
      .summary = "The contraction of two tensors over pairs of axes: the sum of products.",
      .formula = "y[i, j] = sum(a[i, k] * b[k, j] for k), where i, j and k are lists of axes",
      .details =
          "Without axes the result is the outer product. A sum of no elements is 0. Integers wrap.",
      .inputs = {{"a", "the left operand"}, {"b", "the right operand"}},
      .outputs = {{"y", "the contraction, with the other axes of a, then those of b"}},
      .attrs_doc = {{"axes_a", "The axes of a to sum over, negative ones from the end."},
                    {"axes_b", "The axes of b that are paired with them, in the same order."}},
      .infer = infer,
      .decompose = decompose,
      .cases = cases,
      .promotes = Promotes::kAll,
      .numeric = Numeric::kAccumulation,
  });
}

}  // namespace tenon::ops
