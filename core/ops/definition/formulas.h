// Ops as C++ functions and operators, so that derivatives and decompositions read like formulas.
// Each function calls apply() once in the current scope.
//
// The attribute structs in this file belong to ops that formulas call. The files that define these
// ops use the same structs.

#pragma once

#include <initializer_list>

#include "core/ops/definition/op.h"
#include "core/ops/definition/registry.h"

namespace tenon {

// ---- attributes that several ops share

struct ReduceAttrs {
  Ints axes;              // The axes to reduce, negative ones from the end; empty for all.
  bool keepdims = false;  // Whether reduced axes stay, with size 1.
  TENON_ATTRS(axes, keepdims)
};
using Along = ReduceAttrs;

struct ArgReduceAttrs {
  int64_t axis = 0;       // The axis to search along; a negative one counts from the end.
  bool keepdims = false;  // Whether the axis stays, with size 1.
  TENON_ATTRS(axis, keepdims)
};

struct AxisAttrs {
  int64_t axis = 0;  // The axis along which the op works; a negative one counts from the end.
  TENON_ATTRS(axis)
};

struct LastAxisAttrs {
  int64_t axis = -1;  // The axis along which the op works; a negative one counts from the end.
  TENON_ATTRS(axis)
};

struct ShapeAttrs {
  Sizes shape;  // The sizes of the result.
  TENON_ATTRS(shape)
};

struct AxesAttrs {
  Ints axes;  // The axes that the op flips, removes or inserts; negative ones count from the end.
  TENON_ATTRS(axes)
};

struct FillAttrs {
  Sizes shape;                 // The sizes of the result.
  DType dtype = DType::kNone;  // The dtype of the result; kNone: that of the value.
  TENON_ATTRS(shape, dtype)
};

struct IotaAttrs {
  Sizes shape;                // The sizes of the result.
  DType dtype = DType::kI64;  // The dtype of the result.
  int64_t axis = 0;           // The axis along which the numbers increase.
  TENON_ATTRS(shape, dtype, axis)
};

struct OneHotAttrs {
  Size depth = 0;             // The number of classes.
  int64_t axis = -1;          // Position of the new axis; a negative one counts from the end.
  DType dtype = DType::kF32;  // The dtype of the result.
  TENON_ATTRS(depth, axis, dtype)
};

struct TransposeAttrs {
  Ints perm;  // Output axis i is input axis perm[i]; empty reverses the axes.
  TENON_ATTRS(perm)
};

struct SliceAttrs {
  Sizes starts;  // The first index along each axis of `axes`; negative ones count from the end.
  Sizes ends;    // One past the last index; clamped to the size, so that INT64_MAX means the end.
  Ints axes;     // The axes to slice; empty for the first starts.size() axes.
  Ints steps;    // Step along each axis; empty: 1. Negative: backwards. 0 is an error.
  TENON_ATTRS(starts, ends, axes, steps)
};

struct SplitAttrs {
  int64_t axis = 0;  // The axis to split; a negative one counts from the end.
  // Number of outputs of equal size, of which the last may be smaller; 0: use `split`.
  int64_t num_outputs = 0;
  Sizes split;  // Size of each output along the axis.
  TENON_ATTRS(axis, num_outputs, split)
};

struct CastAttrs {
  DType to = DType::kNone;  // The dtype of the result.
  // Whether numbers beyond the range of a storage dtype with floats become its largest value. If
  // not, they become infinity or, if the dtype has none, NaN.
  bool saturate = true;
  TENON_ATTRS(to, saturate)
};

struct BitcastAttrs {
  DType dtype = DType::kNone;  // The dtype of the result.
  TENON_ATTRS(dtype)
};

enum class PadMode : int32_t { kConstant, kReflect, kEdge, kWrap };
EnumInfo enum_info(PadMode);

struct PadAttrs {
  Sizes pads;                         // Number of elements added before each axis, then after each.
  PadMode mode = PadMode::kConstant;  // How the added elements are computed.
  Ints axes;                          // The axes that pads applies to; empty for all.
  TENON_ATTRS(pads, mode, axes)
};

enum class ScatterReduction : int32_t { kNone, kAdd, kMul, kMin, kMax };
EnumInfo enum_info(ScatterReduction);

struct GatherNdAttrs {
  int64_t batch_dims = 0;  // Number of leading axes that x and indices share.
  TENON_ATTRS(batch_dims)
};

struct ScatterElementsAttrs {
  int64_t axis = 0;                                      // The axis of x that indices refer to.
  ScatterReduction reduction = ScatterReduction::kNone;  // How updates are combined with x.
  TENON_ATTRS(axis, reduction)
};

struct ScatterNdAttrs {
  ScatterReduction reduction = ScatterReduction::kNone;  // How updates are combined with x.
  TENON_ATTRS(reduction)
};

struct SortAttrs {
  int64_t axis = -1;        // The axis to sort along; a negative one counts from the end.
  bool descending = false;  // Whether the largest element comes first.
  TENON_ATTRS(axis, descending)
};

struct NonzeroAttrs {
  Size size = -1;    // Capacity of the result; -1: the number of nonzero elements.
  int64_t fill = 0;  // Value of the unused capacity.
  TENON_ATTRS(size, fill)
};

struct CumsumAttrs {
  int64_t axis = 0;        // The axis to accumulate along; a negative one counts from the end.
  bool exclusive = false;  // Whether the cumulative sum y[i] excludes x[i].
  bool reverse = false;    // Whether to accumulate from the end.
  TENON_ATTRS(axis, exclusive, reverse)
};

struct RngBitsAttrs {
  Sizes shape;                // The sizes of the result.
  DType dtype = DType::kU32;  // kU32, or kU64 (two 32-bit words per element).
  TENON_ATTRS(shape, dtype)
};

struct RandomUniformAttrs {
  Sizes shape;                // The sizes of the result.
  DType dtype = DType::kF32;  // The dtype of the result, which must be floating point.
  double low = 0;             // Lower bound, inclusive.
  double high = 1;            // Upper bound, exclusive.
  TENON_ATTRS(shape, dtype, low, high)
};

struct MatmulAttrs {
  bool transpose_a = false;  // Whether to swap the last two axes of a first.
  bool transpose_b = false;  // Whether to swap the last two axes of b first.
  TENON_ATTRS(transpose_a, transpose_b)
};

struct ConvAttrs {
  Ints strides;       // Step of the window per spatial axis; empty: 1.
  Ints pads;          // Padding before, then after each spatial axis; empty: 0.
  Ints dilations;     // Dilation of the filter per spatial axis; empty: 1.
  int64_t group = 1;  // Number of independent groups of channels.
  Ints lhs_dilation;  // Dilation of the input per spatial axis; empty: 1.
  TENON_ATTRS(strides, pads, dilations, group, lhs_dilation)
};

// Attributes of conv_backward_input and conv_backward_filter: those of the forward conv, and the
// shape of the result, which the other attributes do not determine.
struct ConvBackwardAttrs {
  Sizes shape;  // Shape of the result: that of conv's input or that of its filter.
  Ints strides;
  Ints pads;
  Ints dilations;
  int64_t group = 1;
  Ints lhs_dilation;
  TENON_ATTRS(shape, strides, pads, dilations, group, lhs_dilation)
};

struct PoolAttrs {
  Ints kernel_shape;       // Size of the window per spatial axis.
  Ints strides;            // Step of the window per spatial axis; empty: 1.
  Ints pads;               // Padding before, then after each spatial axis; empty: 0.
  Ints dilations;          // Dilation of the window per spatial axis; empty: 1.
  bool ceil_mode = false;  // Whether to include a last window that extends past the end.
  TENON_ATTRS(kernel_shape, strides, pads, dilations, ceil_mode)
};

struct AvgPoolAttrs {
  Ints kernel_shape;               // Size of the window per spatial axis.
  Ints strides;                    // Step of the window per spatial axis; empty: 1.
  Ints pads;                       // Padding before, then after each spatial axis; empty: 0.
  Ints dilations;                  // Dilation of the window per spatial axis; empty: 1.
  bool ceil_mode = false;          // Whether to include a last window that extends past the end.
  bool count_include_pad = false;  // Whether the mean includes padding elements (as zeros).
  TENON_ATTRS(kernel_shape, strides, pads, dilations, ceil_mode, count_include_pad)
};

// ---- calls

// Calls an op in the current scope. `attrs` holds the attribute struct of that op.
Tensors call_op(OpId id, AnyAttrs attrs, TensorSpan inputs);

// Calls an op with one output and returns that output.
Tensor call_single(OpId id, AnyAttrs attrs, TensorSpan inputs);

// As call_single(), but takes the attribute struct itself.
template <class A>
Tensor call1(OpId id, const A& attrs, std::initializer_list<Tensor> inputs) {
  return call_single(id, any_attrs(attrs), {inputs.begin(), inputs.size()});
}

#define TENON_FORMULA_UNARY(name) Tensor name(const Tensor& x);
#define TENON_FORMULA_BINARY(name) Tensor name(const Tensor& a, const Tensor& b);
#include "core/ops/definition/formulas.def"

inline Tensor operator-(const Tensor& x) { return neg(x); }
#define TENON_FORMULA_OPERATOR(symbol, name)                                             \
  inline Tensor operator symbol(const Tensor& a, const Tensor& b) { return name(a, b); } \
  Tensor operator symbol(const Tensor& a, double b);                                     \
  Tensor operator symbol(double a, const Tensor& b);
TENON_FORMULA_OPERATOR(+, add)
TENON_FORMULA_OPERATOR(-, sub)
TENON_FORMULA_OPERATOR(*, mul)
TENON_FORMULA_OPERATOR(/, div)
#undef TENON_FORMULA_OPERATOR
// Returns a weak scalar, for comparisons such as greater(x, number(0)). Use integer() if x may have
// an integer dtype.
inline Tensor number(double value) { return make_scalar(value); }
// Returns a weak integer scalar.
inline Tensor integer(int64_t value) { return make_scalar(value); }

Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y);
Tensor clip(const Tensor& x, const Tensor& min, const Tensor& max);
Tensor sum(const Tensor& x, const Along& along = {});
Tensor prod(const Tensor& x, const Along& along = {});
Tensor max(const Tensor& x, const Along& along = {});
Tensor min(const Tensor& x, const Along& along = {});
Tensor mean(const Tensor& x, const Along& along = {});
Tensor cast(const Tensor& x, DType to, bool saturate = true);
Tensor bitcast(const Tensor& x, DType dtype);
Tensor reshape(const Tensor& x, const Dims& shape);
Tensor transpose(const Tensor& x, const Ints& perm = {});
Tensor broadcast_to(const Tensor& x, const Dims& shape);
Tensor expand_dims(const Tensor& x, const Ints& axes);
Tensor squeeze(const Tensor& x, const Ints& axes);
Tensor flip(const Tensor& x, const Ints& axes);
Tensor slice(const Tensor& x, const SliceAttrs& attrs);
// Pads with zeros. Returns x if there is nothing to pad or to crop.
Tensor pad(const Tensor& x, const Sizes& pads);
Tensor pad(const Tensor& x, const Tensor& value, const Sizes& pads);
Tensor cumsum(const Tensor& x, const CumsumAttrs& attrs);
Tensor concat(TensorSpan parts, int64_t axis);
Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis);
Tensor gather_elements(const Tensor& x, const Tensor& indices, int64_t axis);
Tensor gather_nd(const Tensor& x, const Tensor& indices);
Tensor scatter_elements(const Tensor& x, const Tensor& indices, const Tensor& updates,
                        const ScatterElementsAttrs& attrs);
Tensor scatter_nd(const Tensor& x, const Tensor& indices, const Tensor& updates,
                  ScatterReduction reduction);
Tensor argsort(const Tensor& x, const SortAttrs& attrs);
// Returns the indices and their number.
Tensors nonzero(const Tensor& x, const NonzeroAttrs& attrs);
Tensor one_hot(const Tensor& indices, Size depth, DType dtype, int64_t axis = -1);
Tensor fill(const Tensor& value, const Dims& shape, DType dtype);
Tensor iota(const Dims& shape, DType dtype, int64_t axis);
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulAttrs& attrs = {});
Tensor softmax(const Tensor& x, int64_t axis);
Tensor log_softmax(const Tensor& x, int64_t axis);
// Returns the bits and the new state.
Tensors rng_bits(const Tensor& state, const Dims& shape, DType dtype);
Tensors random_uniform(const Tensor& state, const Dims& shape, DType dtype);  // Draws from [0, 1).

// ---- helpers of formulas

Tensor zeros(const TensorType& type);
Tensor ones(const TensorType& type);
// Returns a weak scalar, which adopts the floating dtype of the tensor that it is combined with.
inline Tensor scalar_like(const Tensor&, double value) { return make_scalar(value); }

// Waits for an integer tensor of rank 0 and returns its value. Used if an output's shape depends on
// data.
int64_t read_integer(const Tensor& x);

// Returns a data-dependent size, which is at most `most`. In a trace, it is a symbol.
Size read_size(const Tensor& x, Size most);

// Waits for a bool tensor of rank 0 and returns its value.
bool read_bool(const Tensor& x);

// Returns `value` as a weak scalar of the same kind as `dtype`: bool, integer or floating.
Tensor number_of(DType dtype, int64_t value);

// Sums x over the axes along which `type` was broadcast to the shape of x. The result has the shape
// of `type`. This is the transpose of the broadcast.
Tensor sum_to(const Tensor& x, const TensorType& type);

// Broadcasts `g` to the shape of x along the axes in `mask`. This is the transpose of a sum over
// these axes.
Tensor broadcast_along(const Tensor& g, const TensorType& x, uint32_t mask);

// Calls `body` on x and returns the result in the dtype of x. Half types are widened to float32 for
// `body`, because they are too inexact for sums of many elements.
template <class Body>
Tensor in_wide(const Tensor& x, const Body& body) {
  const DType dtype = x->type.dtype;
  return size_of(dtype) >= 4 ? body(x) : cast(body(cast(x, DType::kF32)), dtype);
}

// Returns the dtype in which an op computes: float32 for half types, `dtype` itself otherwise.
inline DType wide_dtype(DType dtype) { return size_of(dtype) < 4 ? DType::kF32 : dtype; }

// Casts x to the dtype, unless x has it already or is a weak scalar.
inline Tensor to_dtype(const Tensor& x, DType dtype) {
  return x->type.weak || x->type.dtype == dtype ? x : cast(x, dtype);
}

// Whether optional input i was passed.
inline bool has(TensorSpan in, size_t i) { return i < in.size() && in[i]; }

inline Dims to_dims(const Sizes& values) { return Dims(values.span()); }
inline Dims to_dims(const Ints& values) { return Dims(values.span()); }
inline Sizes to_sizes(const Dims& dims) { return Sizes(std::span<const Size>(dims)); }
inline Sizes to_sizes(const Ints& values) {
  Sizes sizes;
  for (const int64_t value : values) sizes.push_back(Size::number(value));
  return sizes;
}

// ---- constraints

// Requires -rank <= axis < rank; error messages begin with `label`. Returns the axis as an index in
// [0, rank).
int64_t require_axis(int64_t axis, const TensorType& x, std::string_view label,
                     std::string_view input = "x");
int64_t require_axis(int64_t axis, size_t rank, std::string_view label);
// Returns the index in [0, rank) of an axis that inference has already checked.
inline int64_t from_front(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

// Returns the axes as a bit mask; all axes if `axes` is empty. Requires each axis to be valid and
// listed once.
uint32_t require_axes(const Ints& axes, const TensorType& x, std::string_view label);
// Returns the axes as a bit mask; all axes if `axes` is empty. require_axes() must have accepted
// them.
uint32_t axes_mask(const Ints& axes, size_t rank);

// Returns the shape that a and b broadcast to. If there is none, throws an error that begins with
// `label`.
Dims require_broadcast(const TensorType& a, const TensorType& b, std::string_view label);

// Returns the shape after a reduction of the axes in `mask`: without them or, if `keepdims`, with
// size 1.
Dims reduced_shape(const Dims& shape, uint32_t mask, bool keepdims);

// Returns the type of a result whose sizes are attributes. Throws if a size is negative or the
// tensor would be too large.
TensorType require_sizes(DType dtype, const Sizes& shape, std::string_view label);

}  // namespace tenon
