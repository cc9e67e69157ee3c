#include "core/ops/definition/formulas.h"

#include <algorithm>

#include "core/ops/definition/op_ids.h"

namespace tenon {

// ---- enumerations

EnumInfo enum_info(PadMode) {
  static constexpr const char* kNames[] = {"constant", "reflect", "edge", "wrap"};
  return {"pad_mode", kNames};
}

EnumInfo enum_info(ScatterReduction) {
  static constexpr const char* kNames[] = {"none", "add", "mul", "min", "max"};
  return {"scatter_reduction", kNames};
}

// ---- calls

// Calls an op with one output and returns that output.
Tensor call_single(OpId id, AnyAttrs attrs, TensorSpan inputs) {
  return std::move(call_op(id, attrs, inputs)[0]);
}

static Tensor call_unary(OpId id, const Tensor& x) {
  return call_single(id, any_attrs(NoAttrs{}), {&x, 1});
}

static Tensor call_binary(OpId id, const Tensor& a, const Tensor& b) {
  return call1(id, NoAttrs{}, {a, b});
}

#define TENON_FORMULA_UNARY(name) \
  Tensor name(const Tensor& x) { return call_unary(OpId::k_##name, x); }
#define TENON_FORMULA_BINARY(name) \
  Tensor name(const Tensor& a, const Tensor& b) { return call_binary(OpId::k_##name, a, b); }
#include "core/ops/definition/formulas.def"

#define TENON_FORMULA_OPERATOR(symbol, name)                                            \
  Tensor operator symbol(const Tensor& a, double b) { return name(a, make_scalar(b)); } \
  Tensor operator symbol(double a, const Tensor& b) { return name(make_scalar(a), b); }
TENON_FORMULA_OPERATOR(+, add)
TENON_FORMULA_OPERATOR(-, sub)
TENON_FORMULA_OPERATOR(*, mul)
TENON_FORMULA_OPERATOR(/, div)
#undef TENON_FORMULA_OPERATOR

Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  return call1(OpId::k_where, NoAttrs{}, {condition, x, y});
}

Tensor clip(const Tensor& x, const Tensor& min, const Tensor& max) {
  return call1(OpId::k_clip, NoAttrs{}, {x, min, max});
}

Tensor sum(const Tensor& x, const Along& along) { return call1(OpId::k_sum, along, {x}); }
Tensor prod(const Tensor& x, const Along& along) { return call1(OpId::k_prod, along, {x}); }
Tensor max(const Tensor& x, const Along& along) { return call1(OpId::k_max, along, {x}); }
Tensor min(const Tensor& x, const Along& along) { return call1(OpId::k_min, along, {x}); }
Tensor mean(const Tensor& x, const Along& along) { return call1(OpId::k_mean, along, {x}); }

Tensor cumsum(const Tensor& x, const CumsumAttrs& attrs) {
  return call1(OpId::k_cumsum, attrs, {x});
}

// Returns x itself if it already has the dtype and is not a weak scalar.
Tensor cast(const Tensor& x, DType to, bool saturate) {
  if (x->type.dtype == to && !x->type.weak) return x;
  return call1(OpId::k_cast, CastAttrs{.to = to, .saturate = saturate}, {x});
}

Tensor bitcast(const Tensor& x, DType dtype) {
  return call1(OpId::k_bitcast, BitcastAttrs{.dtype = dtype}, {x});
}

Tensor reshape(const Tensor& x, const Dims& shape) {
  if (identical(x->shape(), shape)) return x;
  return call1(OpId::k_reshape, ShapeAttrs{.shape = to_sizes(shape)}, {x});
}

Tensor transpose(const Tensor& x, const Ints& perm) {
  return call1(OpId::k_transpose, TransposeAttrs{.perm = perm}, {x});
}

Tensor broadcast_to(const Tensor& x, const Dims& shape) {
  if (identical(x->shape(), shape)) return x;
  return call1(OpId::k_broadcast_to, ShapeAttrs{.shape = to_sizes(shape)}, {x});
}

Tensor expand_dims(const Tensor& x, const Ints& axes) {
  return call1(OpId::k_expand_dims, AxesAttrs{.axes = axes}, {x});
}

Tensor squeeze(const Tensor& x, const Ints& axes) {
  return call1(OpId::k_squeeze, AxesAttrs{.axes = axes}, {x});
}

Tensor flip(const Tensor& x, const Ints& axes) {
  return call1(OpId::k_flip, AxesAttrs{.axes = axes}, {x});
}

Tensor slice(const Tensor& x, const SliceAttrs& attrs) { return call1(OpId::k_slice, attrs, {x}); }

Tensor pad(const Tensor& x, const Sizes& pads) {
  const auto is_zero = [](const Size& n) { return identical(n, 0); };
  if (std::all_of(pads.begin(), pads.end(), is_zero)) return x;
  return call1(OpId::k_pad, PadAttrs{.pads = pads}, {x});
}

Tensor pad(const Tensor& x, const Tensor& value, const Sizes& pads) {
  return call1(OpId::k_pad, PadAttrs{.pads = pads}, {x, value});
}

Tensor concat(TensorSpan parts, int64_t axis) {
  return call_single(OpId::k_concat, any_attrs(AxisAttrs{.axis = axis}), parts);
}

Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis) {
  return call1(OpId::k_gather, AxisAttrs{.axis = axis}, {x, indices});
}

Tensor gather_elements(const Tensor& x, const Tensor& indices, int64_t axis) {
  return call1(OpId::k_gather_elements, AxisAttrs{.axis = axis}, {x, indices});
}

Tensor gather_nd(const Tensor& x, const Tensor& indices) {
  return call1(OpId::k_gather_nd, GatherNdAttrs{}, {x, indices});
}

Tensor scatter_elements(const Tensor& x, const Tensor& indices, const Tensor& updates,
                        const ScatterElementsAttrs& attrs) {
  return call1(OpId::k_scatter_elements, attrs, {x, indices, updates});
}

Tensor scatter_nd(const Tensor& x, const Tensor& indices, const Tensor& updates,
                  ScatterReduction reduction) {
  return call1(OpId::k_scatter_nd, ScatterNdAttrs{.reduction = reduction}, {x, indices, updates});
}

Tensor argsort(const Tensor& x, const SortAttrs& attrs) {
  return call1(OpId::k_argsort, attrs, {x});
}

Tensors nonzero(const Tensor& x, const NonzeroAttrs& attrs) {
  return call_op(OpId::k_nonzero, any_attrs(attrs), {&x, 1});
}

Tensor one_hot(const Tensor& indices, Size depth, DType dtype, int64_t axis) {
  const OneHotAttrs attrs{.depth = depth, .axis = axis, .dtype = dtype};
  return call1(OpId::k_one_hot, attrs, {indices});
}

Tensor fill(const Tensor& value, const Dims& shape, DType dtype) {
  return call1(OpId::k_fill, FillAttrs{.shape = to_sizes(shape), .dtype = dtype}, {value});
}

Tensor iota(const Dims& shape, DType dtype, int64_t axis) {
  return call1(OpId::k_iota, IotaAttrs{.shape = to_sizes(shape), .dtype = dtype, .axis = axis}, {});
}

Tensor matmul(const Tensor& a, const Tensor& b, const MatmulAttrs& attrs) {
  return call1(OpId::k_matmul, attrs, {a, b});
}

Tensor softmax(const Tensor& x, int64_t axis) {
  return call1(OpId::k_softmax, LastAxisAttrs{.axis = axis}, {x});
}

Tensor log_softmax(const Tensor& x, int64_t axis) {
  return call1(OpId::k_log_softmax, LastAxisAttrs{.axis = axis}, {x});
}

Tensors rng_bits(const Tensor& state, const Dims& shape, DType dtype) {
  const RngBitsAttrs attrs{.shape = to_sizes(shape), .dtype = dtype};
  return call_op(OpId::k_rng_bits, any_attrs(attrs), {&state, 1});
}

Tensors random_uniform(const Tensor& state, const Dims& shape, DType dtype) {
  const RandomUniformAttrs attrs{.shape = to_sizes(shape), .dtype = dtype};
  return call_op(OpId::k_random_uniform, any_attrs(attrs), {&state, 1});
}

// ---- helpers of formulas

// Returns `value` as a weak scalar of the same kind as `dtype`: bool, integer or floating.
Tensor number_of(DType dtype, int64_t value) {
  if (dtype == DType::kBool) return make_scalar_bool(value != 0);
  return is_floating(dtype) ? make_scalar(static_cast<double>(value)) : make_scalar(value);
}

Tensor zeros(const TensorType& type) {
  return fill(number_of(type.dtype, 0), type.shape, type.dtype);
}
Tensor ones(const TensorType& type) {
  return fill(number_of(type.dtype, 1), type.shape, type.dtype);
}

// Sums x over the axes along which `type` was broadcast to the shape of x.
Tensor sum_to(const Tensor& x, const TensorType& type) {
  const Dims& from = x->shape();
  if (identical(from, type.shape)) return x;
  const size_t extra = from.rank() - type.rank();
  Ints axes;
  for (size_t i = 0; i < from.rank(); ++i) {
    const bool repeated = i < extra || identical(type.shape[i - extra], 1);
    if (repeated && !identical(from[i], 1)) axes.push_back(static_cast<int64_t>(i));
  }
  const Tensor total = axes.empty() ? x : sum(x, {.axes = axes, .keepdims = true});
  return reshape(total, type.shape);
}

// Broadcasts `g` to the shape of x along the axes in `mask`.
Tensor broadcast_along(const Tensor& g, const TensorType& x, uint32_t mask) {
  return broadcast_to(reshape(g, reduced_shape(x.shape, mask, true)), x.shape);
}

// ---- constraints

// Requires -rank <= axis < rank, and returns the axis as an index in [0, rank).
int64_t require_axis(int64_t axis, const TensorType& x, std::string_view label,
                     std::string_view input) {
  const auto rank = static_cast<int64_t>(x.rank());
  require(axis >= -rank && axis < rank, "{}: axis {} is outside [{}, {}) for {}: {}", label, axis,
          -rank, rank, input, x);
  return from_front(axis, x.rank());
}

// Requires -rank <= axis < rank, and returns the axis as an index in [0, rank).
int64_t require_axis(int64_t axis, size_t rank, std::string_view label) {
  const auto n = static_cast<int64_t>(rank);
  require(axis >= -n && axis < n, "{}: axis {} is outside [{}, {})", label, axis, -n, n);
  return from_front(axis, rank);
}

// Requires each axis to be valid and listed once. Returns the axes as a bit mask; all axes if
// `axes` is empty.
uint32_t require_axes(const Ints& axes, const TensorType& x, std::string_view label) {
  uint32_t mask = 0;
  for (const int64_t axis : axes) {
    const uint32_t bit = 1u << require_axis(axis, x, label);
    require((mask & bit) == 0, "{}: axis {} is listed twice", label, axis);
    mask |= bit;
  }
  return axes.empty() ? axes_mask(axes, x.rank()) : mask;
}

uint32_t axes_mask(const Ints& axes, size_t rank) {
  if (axes.empty()) return (1u << rank) - 1;
  uint32_t mask = 0;
  for (const int64_t axis : axes) mask |= 1u << from_front(axis, rank);
  return mask;
}

// Returns the shape that a and b broadcast to. Throws if there is none.
Dims require_broadcast(const TensorType& a, const TensorType& b, std::string_view label) {
  const bool a_is_longer = a.rank() >= b.rank();
  Dims shape = a_is_longer ? a.shape : b.shape;
  const Dims& other = a_is_longer ? b.shape : a.shape;
  const size_t extra = shape.rank() - other.rank();
  for (size_t i = 0; i < other.rank(); ++i) {
    Size& size = shape[extra + i];
    // An unknown size is not assumed to be 1, so it does not broadcast.
    if (identical(other[i], 1)) continue;
    if (identical(size, 1)) {
      size = other[i];
      continue;
    }
    require(other[i] == size, "{}: shapes {} and {} do not broadcast", label, a.shape, b.shape);
    if (other[i].known()) size = other[i];
  }
  return shape;
}

// Returns the shape after a reduction of the axes in `mask`.
Dims reduced_shape(const Dims& shape, uint32_t mask, bool keepdims) {
  Dims reduced;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if ((mask >> i & 1) == 0) {
      reduced.push_back(shape[i]);
    } else if (keepdims) {
      reduced.push_back(1);
    }
  }
  return reduced;
}

// Returns the type of a tensor with this dtype and shape. Throws if a size is negative or the
// tensor would be too large.
TensorType require_sizes(DType dtype, const Sizes& shape, std::string_view label) {
  const TensorType type(dtype, to_dims(shape));
  for (const Size size : type.shape) {
    require(size >= 0, "{}: size {} of shape {} is negative", label, size, type.shape);
  }
  check_size(type);
  return type;
}

}  // namespace tenon
