// lp_pool: the p-norm of each window. global_lp_pool: the p-norm of each channel over all spatial
// axes.

#include <cmath>

#include "core/ops/convolution/conv_shape.h"
#include "core/ops/definition/op_ids.h"
#include "core/ops/reductions/square_scale.h"

namespace tenon::ops {
namespace {

struct Attrs {
  Ints kernel_shape;       // Size of the window per spatial axis.
  Ints strides;            // Step of the window per spatial axis; empty: 1.
  Ints pads;               // Padding before, then after each spatial axis; empty: 0.
  Ints dilations;          // Dilation of the window per spatial axis; empty: 1.
  bool ceil_mode = false;  // Whether to include a last window that extends past the end.
  int64_t p = 2;           // Exponent of the norm.
  TENON_ATTRS(kernel_shape, strides, pads, dilations, ceil_mode, p)
};

struct GlobalAttrs {
  int64_t p = 2;  // Exponent of the norm.
  TENON_ATTRS(p)
};

// Returns the attributes of a pooling op with the same windows.
PoolAttrs pool_attrs(const Attrs& attrs) {
  return {.kernel_shape = attrs.kernel_shape,
          .strides = attrs.strides,
          .pads = attrs.pads,
          .dilations = attrs.dilations,
          .ceil_mode = attrs.ceil_mode};
}

// Returns the spatial axes, which a reduction keeps with size 1.
Along spatial_axes(const Dims& x) {
  Along spatial{.keepdims = true};
  for (size_t i = kSpatial; i < x.rank(); ++i) spatial.axes.push_back(static_cast<int64_t>(i));
  return spatial;
}

// Returns the sum of the elements in each window.
Tensor sums(const Attrs& attrs, const Tensor& x) { return window_sum(x, pool_attrs(attrs)); }
// Adds each element of g to all elements of its window in a tensor of the shape of x. This is the
// transpose of sums().
Tensor spread(const Attrs& attrs, const Tensor& g, const Dims& x) {
  return window_spread(g, x, pool_attrs(attrs));
}
// Returns the sum of the elements in each channel, for global_lp_pool.
Tensor sums(const GlobalAttrs&, const Tensor& x) { return sum(x, spatial_axes(x->shape())); }

// Returns |x|^n, without calling pow for the usual exponents 0, 1 and 2.
Tensor power(const Tensor& x, int64_t n) {
  if (n == 0) return ones(x->type);
  if (n == 1) return abs(x);
  return n == 2 ? square(x) : pow(abs(x), number(static_cast<double>(n)));
}

// The p-norm of each window. The elements of x may differ so much in magnitude that no single scale
// factor suits all windows. For p = 2, the squares of ordinary, large and small elements are
// therefore scaled and summed separately, and hypot combines the three norms.
Tensor norms(const Attrs& attrs, const Tensor& x, DType from) {
  if (attrs.p == 1) return sums(attrs, abs(x));
  if (attrs.p > 2) {
    return pow(sums(attrs, power(x, attrs.p)), number(1 / static_cast<double>(attrs.p)));
  }
  const SquareScale scale = square_scale(from, [&] { return square(x); });
  if (!scale.factor) return sqrt(sums(attrs, square(x)));
  const auto hypot = [](const Tensor& a, const Tensor& b) {
    return call1(OpId::k_hypot, NoAttrs{}, {a, b});
  };
  const auto lengths = [&](const Tensor& condition) {
    return sqrt(sums(attrs, square(where(condition, scale.of(x), number(0)))));
  };
  const auto [down, up] = square_factors(x->type.dtype);
  const Tensor large = lengths(less(scale.factor, number(1))) * (1 / down);
  const Tensor small = lengths(greater(scale.factor, number(1))) * (1 / up);
  return hypot(hypot(lengths(equal(scale.factor, number(1))), small), large);
}

// The p-norm of each channel. For p > 2, elements are divided by the largest magnitude if its
// power, or a sum of such powers, could overflow or underflow.
Tensor norms(const GlobalAttrs& attrs, const Tensor& x, DType from) {
  if (attrs.p == 1) return sums(attrs, abs(x));
  const Along along = spatial_axes(x->shape());
  if (attrs.p == 2) {
    const SquareScale scale = square_scale(from, [&] { return sum(square(x), along); });
    return scale.undo(sqrt(sum(square(scale.of(x)), along)));
  }
  const auto root = [&](const Tensor& total) {
    return pow(total, number(1 / static_cast<double>(attrs.p)));
  };
  if (count(x->shape()) == 0) return root(sums(attrs, power(x, attrs.p)));
  const double most = std::exp2(96.0 / static_cast<double>(attrs.p));
  const Tensor size = abs(x), largest = stop_gradient(max(size, along));
  const Tensor is_ordinary =
      logical_and(less_equal(largest, number(most)), greater_equal(largest, number(1 / most)));
  const Tensor has_meaning = logical_and(greater(largest, number(0)), isfinite(largest));
  const Tensor by = where(logical_and(has_meaning, logical_not(is_ordinary)), largest,
                          ones(TensorType(x->type.dtype, {})));
  return root(sums(attrs, power(size / by, attrs.p))) * by;
}

template <class A>
Tensors decompose(const A& attrs, TensorSpan in) {
  const DType dtype = in[0]->type.dtype;
  return {in_wide(in[0], [&](const Tensor& x) { return norms(attrs, x, dtype); })};
}

// The derivative: sign(x) |x|^(p - 1) times the sum, over the windows that contain x, of dy / y^(p
// - 1).
Tensor slope(const Attrs& attrs, const Tensor& x, const Tensor& y, const Tensor& dy) {
  const Tensor reaching = spread(attrs, dy / power(y, attrs.p - 1), x->shape());
  return (attrs.p == 2 ? x : sign(x) * power(x, attrs.p - 1)) * reaching;
}
// The derivative of global_lp_pool: sign(x) |x / y|^(p - 1) dy.
Tensor slope(const GlobalAttrs& attrs, const Tensor& x, const Tensor& y, const Tensor& dy) {
  const Tensor share = x / y;
  return (attrs.p == 2 ? share : sign(x) * power(share, attrs.p - 1)) * dy;
}

// Where y is 0, the norm has a kink; the derivative is defined as 0 there.
template <class A>
Tensors vjp(const A& attrs, const VjpArgs& v) {
  const DType dtype = v.input_type(0).dtype, wide = wide_dtype(dtype);
  const Tensor x = to_dtype(v.input(0), wide), y = to_dtype(v.output(0), wide);
  const Tensor is_zero = equal(y, number(0));
  const Tensor dy = where(is_zero, number(0), to_dtype(v.cotangent(0), wide));
  return {to_dtype(slope(attrs, x, where(is_zero, number(1), y), dy), dtype)};
}

constexpr int64_t kMaxP = 1 << 10;

// Constraints of both ops.
//   C1  x is floating point.
//   C2  x has one to three spatial axes; global_lp_pool accepts more as well.
//   C5  p is from 1 to 1024.
//
// Constraints of lp_pool, in addition to these.
//   C3  kernel_shape has one positive value for each spatial axis; strides and dilations are empty
//       or have one positive value for each as well; pads is empty or has two non-negative values
//       for each.
//   C4  The window fits into each padded axis.
void require_norm(const TensorType& x, int64_t p) {
  require(is_floating(x.dtype), "C1: x must be floating point, but is {}", x.dtype);
  require(p >= 1 && p <= kMaxP, "C5: p must be from 1 to {}, but is {}", kMaxP, p);
}

TensorTypes infer(const Attrs& attrs, TypeSpan in) {
  require_norm(in[0], attrs.p);
  return {TensorType(in[0].dtype, infer_pool_shape(in[0].shape, pool_attrs(attrs)))};
}

TensorTypes global_infer(const GlobalAttrs& attrs, TypeSpan in) {
  const TensorType& x = in[0];
  require_norm(x, attrs.p);
  require(x.rank() > kSpatial, "C2: x must have a batch, channels and a spatial axis, but is {}",
          x);
  TensorType y(x.dtype, x.shape);
  for (size_t i = kSpatial; i < y.rank(); ++i) y.shape[i] = 1;
  return {y};
}

Cases<Attrs> cases() {
  const CaseTensor line = f32({1, 1, 6}, {1, -2, 3, -4, 5, 6});
  return {
      {.name = "example",
       .attrs = {.kernel_shape = {1, 2}},
       .inputs = {f32({1, 1, 2, 2}, {3, -4, 5, 12})},
       .expect = {f32({1, 1, 2, 1}, {5, 13})}},
      {.name = "sums_of_sizes",
       .attrs = {.kernel_shape = {3}, .strides = {2}, .p = 1},
       .inputs = {line},
       .expect = {f32({1, 1, 2}, {6, 12})}},
      {.name = "cubes",
       .attrs = {.kernel_shape = {2}, .p = 3},
       .inputs = {line},
       .expect = {f32({1, 1, 5}, {2.080083823051904, 3.2710663101885897, 4.497941445275415,
                                  5.738793548317167, 6.986368027818105})}},
      {.name = "pads",
       .attrs = {.kernel_shape = {3}, .strides = {2}, .pads = {1, 2}},
       .inputs = {line},
       .expect = {f32({1, 1, 4}, {2.23606797749979, 5.385164807134504, 8.774964387392123, 6})}},
      {.name = "dilations",
       .attrs = {.kernel_shape = {2}, .dilations = {4}},
       .inputs = {line},
       .expect = {f32({1, 1, 2}, {5.0990195135927845, 6.324555320336759})}},
      {.name = "ceil_mode",
       .attrs = {.kernel_shape = {4}, .strides = {3}, .ceil_mode = true},
       .inputs = {line},
       .expect = {f32({1, 1, 2}, {5.477225575051661, 8.774964387392123})}},
      {.name = "zeros",
       .attrs = {.kernel_shape = {2}},
       .inputs = {f32({1, 1, 3}, {0, 0, 7})},
       .expect = {f32({1, 1, 2}, {0, 7})},
       .check_gradient = false},
      {.name = "halves_do_not_overflow",
       .attrs = {.kernel_shape = {2}},
       .inputs = {f16({1, 1, 2}, {3000, 4000})},
       .expect = {f16({1, 1, 1}, {5000})}},
      {.name = "squares_would_leave_the_range",
       .attrs = {.kernel_shape = {2}},
       .inputs = {f32({1, 1, 6}, {3e30, 4e30, 3e-30, -4e-30, 1, 0})},
       .expect = {f32({1, 1, 5}, {5e30, 4e30, 5e-30, 1, 1})},
       .atol = 0,
       .check_gradient = false},
      {.name = "two_axes",
       .attrs = {.kernel_shape = {2, 3}, .strides = {1, 2}, .pads = {1, 0, 0, 1}},
       .inputs = {uniform({2, 2, 3, 4}, 0.5, 2)}},
      {.name = "fourth_powers",
       .attrs = {.kernel_shape = {2}, .p = 4},
       .inputs = {uniform({1, 2, 5}, 0.5, 2)}},
      {.name = "empty_batch", .attrs = {.kernel_shape = {2}}, .inputs = {uniform({0, 2, 4})}},
      {.name = "integers",
       .attrs = {.kernel_shape = {1}},
       .inputs = {i32({1, 1, 1}, {1})},
       .error = "C1"},
      {.name = "no_spatial_axes",
       .attrs = {.kernel_shape = {1}},
       .inputs = {uniform({1, 1})},
       .error = "C2"},
      {.name = "no_kernel_shape", .inputs = {line}, .error = "C3"},
      {.name = "window_is_larger", .attrs = {.kernel_shape = {7}}, .inputs = {line}, .error = "C4"},
      {.name = "p_of_zero",
       .attrs = {.kernel_shape = {1}, .p = 0},
       .inputs = {line},
       .error = "C5"},
  };
}

Cases<GlobalAttrs> global_cases() {
  return {
      {.name = "example",
       .inputs = {f32({1, 2, 1, 2}, {3, -4, 5, 12})},
       .expect = {f32({1, 2, 1, 1}, {5, 13})}},
      {.name = "sums_of_sizes",
       .attrs = {.p = 1},
       .inputs = {f32({1, 1, 3}, {1, -2, 3})},
       .expect = {f32({1, 1, 1}, {6})}},
      {.name = "cubes",
       .attrs = {.p = 3},
       .inputs = {f32({1, 1, 4}, {1, -2, 3, -4})},
       .expect = {f32({1, 1, 1}, {4.641588833612778})}},
      {.name = "zeros",
       .inputs = {f32({1, 1, 2}, {0, 0})},
       .expect = {f32({1, 1, 1}, {0})},
       .check_gradient = false},
      {.name = "halves_do_not_overflow",
       .inputs = {f16({1, 1, 2}, {3000, 4000})},
       .expect = {f16({1, 1, 1}, {5000})}},
      {.name = "squares_would_leave_the_range",
       .inputs = {f32({1, 3, 2}, {3e30, 4e30, 3e-30, -4e-30, 1, 0})},
       .expect = {f32({1, 3, 1}, {5e30, 5e-30, 1})},
       .atol = 0,
       .check_gradient = false},
      {.name = "cubes_would_leave_the_range",
       .attrs = {.p = 3},
       .inputs = {f32({1, 3, 2}, {1e30, -1e30, 1e-30, 0, 1, 2})},
       .expect = {f32({1, 3, 1}, {1.2599210498948732e30, 1e-30, 2.080083823051904})},
       .atol = 0,
       .check_gradient = false},
      {.name = "infinities_and_nan",
       .attrs = {.p = 3},
       .inputs = {f32({1, 3, 2}, {INFINITY, 1, NAN, 1, -8, 0})},
       .expect = {f32({1, 3, 1}, {INFINITY, NAN, 8})},
       .check_gradient = false},
      {.name = "four_axes", .attrs = {.p = 4}, .inputs = {uniform({2, 2, 2, 1, 2, 2}, 0.5, 2)}},
      {.name = "empty_batch", .inputs = {uniform({0, 2, 4})}, .expect = {f32({0, 2, 1}, {})}},
      {.name = "of_nothing",
       .inputs = {uniform({1, 1, 0})},
       .expect = {f32({1, 1, 1}, {0})},
       .check_gradient = false},
      {.name = "integers", .inputs = {i32({1, 1, 1}, {1})}, .error = "C1"},
      {.name = "no_spatial_axes", .inputs = {uniform({1, 1})}, .error = "C2"},
      {.name = "negative_p", .attrs = {.p = -1}, .inputs = {uniform({1, 1, 1})}, .error = "C5"},
  };
}

template <class A>
OpDef define_norm_pool(Definition<A> d) {
  d.details =
      "Padding elements are zeros. The derivative is 0 where the norm is 0. Half types are "
      "computed in float32. Squares neither overflow nor underflow (see l2_norm), and neither do "
      "the other powers in global_lp_pool. The powers in lp_pool with p > 2 must be in the range "
      "of the dtype.";
  d.vjp = vjp<A>;
  d.decompose = decompose<A>;
  d.saves = Saves::kInputsAndOutputs;
  d.numeric = Numeric::kComposite;
  return define(d);
}

}  // namespace

OpDef lp_pool_def() {
  return define_norm_pool<Attrs>({
      .name = "lp_pool",
      .summary = "The p-norm of each window.",
      .formula = "y[n, c, i] = sum(|x[n, c, i * stride + k * dilation - pad]|^p for k)^(1 / p)",
      .inputs = {{"x", "batch, channels, then one to three spatial axes"}},
      .outputs = {{"y", "the norms"}},
      .attrs_doc =
          {{"kernel_shape", "The size of the window along each spatial axis."},
           {"strides", "The step of the window along each spatial axis; empty for ones."},
           {"pads",
            "The number of zeros added before each spatial axis, then after each; empty for none."},
           {"dilations",
            "The step between elements of the window along each spatial axis; empty for ones."},
           {"ceil_mode", "Whether to include windows that extend past the end."},
           {"p", "The order of the norm."}},
      .infer = infer,
      .cases = cases,
      .onnx = "LpPool",
  });
}

OpDef global_lp_pool_def() {
  return define_norm_pool<GlobalAttrs>({
      .name = "global_lp_pool",
      .summary = "The p-norm of each channel over all spatial axes.",
      .formula = "y[n, c] = sum(|x[n, c, i]|^p for i)^(1 / p)",
      .inputs = {{"x", "batch, channels, then the spatial axes"}},
      .outputs = {{"y", "batch, channels, then axes of size 1"}},
      .attrs_doc = {{"p", "The order of the norm."}},
      .infer = global_infer,
      .cases = global_cases,
      .onnx = "GlobalLpPool",
  });
}

}  // namespace tenon::ops
