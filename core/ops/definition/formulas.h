// Ops as functions and operators, so that derivatives and decompositions read like formulas. Each
// is one apply() in the current scope.
//
// The attribute structs here belong to ops that formulas call; the ops' own files use them too.

#pragma once

#include <initializer_list>

#include "core/ops/definition/op.h"
#include "core/ops/definition/registry.h"

namespace tenon {

// ---- attributes that families share
// ---------------------------------------------------------------

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
  int64_t axis = 0;  // The axis; a negative one counts from the end.
  TENON_ATTRS(axis)
};

struct LastAxisAttrs {
  int64_t axis = -1;  // The axis; a negative one counts from the end.
  TENON_ATTRS(axis)
};

struct ShapeAttrs {
  Sizes shape;  // The sizes.
  TENON_ATTRS(shape)
};

struct AxesAttrs {
  Ints axes;  // The axes, negative ones from the end.
  TENON_ATTRS(axes)
};

struct FillAttrs {
  Sizes shape;                 // The sizes.
  DType dtype = DType::kNone;  // Of the result; none takes that of the value.
  TENON_ATTRS(shape, dtype)
};

struct IotaAttrs {
  Sizes shape;                // The sizes.
  DType dtype = DType::kI64;  // Of the result.
  int64_t axis = 0;           // The axis along which the numbers increase.
  TENON_ATTRS(shape, dtype, axis)
};

struct OneHotAttrs {
  Size depth = 0;             // The number of classes.
  int64_t axis = -1;          // Position of the new axis; a negative one counts from the end.
  DType dtype = DType::kF32;  // Of the result.
  TENON_ATTRS(depth, axis, dtype)
};

struct TransposeAttrs {
  Ints perm;  // Output axis i is input axis perm[i]; empty reverses the axes.
  TENON_ATTRS(perm)
};

struct SliceAttrs {
  Sizes starts;  // The first index along each axis of `axes`; negative ones count from the end.
  Sizes ends;    // One past the last; clamped, so that a large one means the end.
  Ints axes;     // The axes; empty for the first ones.
  Ints steps;    // Empty for ones; negative ones walk backwards; zero is an error.
  TENON_ATTRS(starts, ends, axes, steps)
};

struct SplitAttrs {
  int64_t axis = 0;         // The axis to cut; a negative one counts from the end.
  int64_t num_outputs = 0;  // Number of equal parts, the last one smaller; 0 uses `split`.
  Sizes split;              // The size of each part.
  TENON_ATTRS(axis, num_outputs, split)
};

struct CastAttrs {
  DType to = DType::kNone;  // The dtype of the result.
  TENON_ATTRS(to)
};

struct BitcastAttrs {
  DType dtype = DType::kNone;  // Of the result.
  TENON_ATTRS(dtype)
};

enum class PadMode : int32_t { kConstant, kReflect, kEdge, kWrap };
EnumInfo enum_info(PadMode);

struct PadAttrs {
  Sizes pads;                         // Elements added before each of the axes, then after each.
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
  int64_t axis = 0;                                      // The axis that indices count along.
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
  Size size = -1;    // Capacity of the result; -1 for the number of nonzero elements.
  int64_t fill = 0;  // Fills the unused capacity.
  TENON_ATTRS(size, fill)
};

struct CumsumAttrs {
  int64_t axis = 0;        // The axis to accumulate along; a negative one counts from the end.
  bool exclusive = false;  // Whether element i excludes x[i].
  bool reverse = false;    // Whether to accumulate from the end.
  TENON_ATTRS(axis, exclusive, reverse)
};

struct RngBitsAttrs {
  Sizes shape;                // The sizes of the draw.
  DType dtype = DType::kU32;  // u32, or u64 for two words each.
  TENON_ATTRS(shape, dtype)
};

struct RandomUniformAttrs {
  Sizes shape;                // The sizes of the draw.
  DType dtype = DType::kF32;  // Of the draw; floating point.
  double low = 0;             // The lower bound, which may be drawn.
  double high = 1;            // The upper bound, which is not.
  TENON_ATTRS(shape, dtype, low, high)
};

struct MatmulAttrs {
  bool transpose_a = false;  // Swap the last two axes of a first.
  bool transpose_b = false;  // Swap the last two axes of b first.
  TENON_ATTRS(transpose_a, transpose_b)
};

struct ConvAttrs {
  Ints strides;       // Per spatial axis; empty for ones.
  Ints pads;          // Before each spatial axis, then after each; empty for zeros.
  Ints dilations;     // Of the filter, per spatial axis; empty for ones.
  int64_t group = 1;  // Channels are cut into this many independent groups.
  Ints lhs_dilation;  // Of the input, per spatial axis; empty for ones.
  TENON_ATTRS(strides, pads, dilations, group, lhs_dilation)
};

// conv_backward_input and conv_backward_filter: the attributes of the forward call, and the
// result's sizes, which those do not determine.
struct ConvBackwardAttrs {
  Sizes shape;  // Of the result: the input's sizes, or the filter's.
  Ints strides;
  Ints pads;
  Ints dilations;
  int64_t group = 1;
  Ints lhs_dilation;
  TENON_ATTRS(shape, strides, pads, dilations, group, lhs_dilation)
};

struct PoolAttrs {
  Ints kernel_shape;       // The window's size per spatial axis.
  Ints strides;            // Empty for ones.
  Ints pads;               // Before each spatial axis, then after each; empty for zeros.
  Ints dilations;          // Empty for ones.
  bool ceil_mode = false;  // Whether windows that extend past the end count.
  TENON_ATTRS(kernel_shape, strides, pads, dilations, ceil_mode)
};

struct AvgPoolAttrs {
  Ints kernel_shape;               // The window's size per spatial axis.
  Ints strides;                    // Empty for ones.
  Ints pads;                       // Before each spatial axis, then after each; empty for zeros.
  Ints dilations;                  // Empty for ones.
  bool ceil_mode = false;          // Whether windows that extend past the end count.
  bool count_include_pad = false;  // Whether padding counts as elements.
  TENON_ATTRS(kernel_shape, strides, pads, dilations, ceil_mode, count_include_pad)
};

// ---- calls
// ----------------------------------------------------------------------------------------

// Calls an op in the current scope. `attrs` holds the op's own attribute struct.
Tensors call_op(OpId id, AnyAttrs attrs, TensorSpan inputs);

// The same for an op with one output.
Tensor call_single(OpId id, AnyAttrs attrs, TensorSpan inputs);

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
// A scalar for comparisons: greater(x, number(0)). An int64 number also suits integer tensors.
inline Tensor number(double value) { return make_scalar(value); }
inline Tensor integer(int64_t value) { return make_scalar(value); }

Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y);
Tensor clip(const Tensor& x, const Tensor& min, const Tensor& max);
Tensor sum(const Tensor& x, const Along& along = {});
Tensor prod(const Tensor& x, const Along& along = {});
Tensor max(const Tensor& x, const Along& along = {});
Tensor min(const Tensor& x, const Along& along = {});
Tensor mean(const Tensor& x, const Along& along = {});
Tensor cast(const Tensor& x, DType to);
Tensor bitcast(const Tensor& x, DType dtype);
Tensor reshape(const Tensor& x, const Dims& shape);
Tensor transpose(const Tensor& x, const Ints& perm = {});
Tensor broadcast_to(const Tensor& x, const Dims& shape);
Tensor expand_dims(const Tensor& x, const Ints& axes);
Tensor squeeze(const Tensor& x, const Ints& axes);
Tensor flip(const Tensor& x, const Ints& axes);
Tensor slice(const Tensor& x, const SliceAttrs& attrs);
Tensor pad(const Tensor& x, const Sizes& pads);  // With zeros.
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
Tensors nonzero(const Tensor& x, const NonzeroAttrs& attrs);  // The indices, and their count.
Tensor one_hot(const Tensor& indices, Size depth, DType dtype, int64_t axis = -1);
Tensor fill(const Tensor& value, const Dims& shape, DType dtype);
Tensor iota(const Dims& shape, DType dtype, int64_t axis);
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulAttrs& attrs = {});
Tensor softmax(const Tensor& x, int64_t axis);
Tensor log_softmax(const Tensor& x, int64_t axis);
Tensors rng_bits(const Tensor& state, const Dims& shape, DType dtype);  // The bits, the new state.
Tensors random_uniform(const Tensor& state, const Dims& shape, DType dtype);  // In [0, 1).

// ---- helpers of formulas
// --------------------------------------------------------------------------

Tensor zeros(const TensorType& type);
Tensor ones(const TensorType& type);
// A weak scalar, which adopts x's floating dtype.
inline Tensor scalar_like(const Tensor&, double value) { return make_scalar(value); }

// Reads an integer tensor of rank 0, for which the host waits. Used where an output's shape depends
// on data.
int64_t read_integer(const Tensor& x);

// A data-dependent size of at most `most`. In a trace its value is unknown.
Size read_size(const Tensor& x, Size most);

// The same for a bool.
bool read_bool(const Tensor& x);

// A weak scalar of the same kind as `dtype`: bool, integer or floating.
Tensor number_of(DType dtype, int64_t value);

// The transpose of broadcasting: sums `x` over the axes along which `type` was repeated, and
// returns exactly the shape of `type`.
Tensor sum_to(const Tensor& x, const TensorType& type);

// The transpose of a sum: repeats `g` along the reduced axes of `x`, which are those in the mask.
Tensor spread(const Tensor& g, const TensorType& x, uint32_t mask);

// Runs `body` on x, widened to float32 if it is half, and returns the result in x's dtype. 11 bits
// are too few for sums of many elements.
template <class Body>
Tensor in_wide(const Tensor& x, const Body& body) {
  const DType dtype = x->type.dtype;
  return size_of(dtype) >= 4 ? body(x) : cast(body(cast(x, DType::kF32)), dtype);
}

// The compute dtype: float32 for the half types, else `dtype`.
inline DType wide_dtype(DType dtype) { return size_of(dtype) < 4 ? DType::kF32 : dtype; }

// x itself if it has that dtype or is a weak scalar, which adopts it; else a cast.
inline Tensor to_dtype(const Tensor& x, DType dtype) {
  return x->type.weak || x->type.dtype == dtype ? x : cast(x, dtype);
}

// Whether optional input i was given.
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
// ----------------------------------------------------------------------------------

// Requires -rank <= axis < rank; errors begin with the label. Returns the axis from the front.
int64_t require_axis(int64_t axis, const TensorType& x, std::string_view label,
                     std::string_view input = "x");
int64_t require_axis(int64_t axis, size_t rank, std::string_view label);
// The same for an axis that inference has checked.
inline int64_t from_front(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

// Returns the axes as a mask, all axes if `axes` is empty. Each axis must be valid and listed once.
uint32_t require_axes(const Ints& axes, const TensorType& x, std::string_view label);
uint32_t axes_mask(const Ints& axes, size_t rank);  // The same where inference has checked it.

// Returns the shape that both broadcast to. Without one, throws an error that begins with the
// label.
Dims require_broadcast(const TensorType& a, const TensorType& b, std::string_view label);

// The shape without the axes of the mask, or with size 1 there.
Dims reduced_shape(const Dims& shape, uint32_t mask, bool keepdims);

// The type of a result whose sizes come from attributes. Throws if they are negative or too large.
TensorType require_sizes(DType dtype, const Sizes& shape, std::string_view label);

}  // namespace tenon
