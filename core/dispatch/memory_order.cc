#include "core/dispatch/memory_order.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/dispatch/dispatch.h"
#include "core/ops/definition/op_ids.h"

namespace tenon {

#ifdef TENON_KEPT_OPS
// The small build for web pages omits this optimisation.
bool run_in_memory_order(Scope&, const Call&, const TensorTypes&, Tensors&) { return false; }
#else
namespace {

// The axes of a tensor, from the outermost to the innermost in memory.
struct AxisOrder {
  size_t rank = 0;
  size_t axes[kMaxRank];

  AxisOrder() = default;
  explicit AxisOrder(const Dims& strides) : rank(strides.rank()) {
    std::iota(axes, axes + rank, size_t{0});
    std::stable_sort(axes, axes + rank,
                     [&](size_t a, size_t b) { return strides.data()[a] > strides.data()[b]; });
  }

  void push_back(size_t axis) { axes[rank++] = axis; }
  // Returns the position of an axis, which may count from the end.
  int64_t position(int64_t axis) const {
    const auto at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
    return std::find(axes, axes + rank, at) - axes;
  }
  // Returns the sizes or strides in the order of the axes.
  Dims permuted(const Dims& values) const {
    Dims result;
    result.set_rank(rank);
    for (size_t i = 0; i < rank; ++i) result[i] = values[axes[i]];
    return result;
  }
  // Returns the values that permuted() has put in the order of the axes.
  Dims restored(const Dims& values) const {
    Dims result;
    result.set_rank(rank);
    for (size_t i = 0; i < rank; ++i) result[axes[i]] = values[i];
    return result;
  }
};

// How a call's axes can be reordered.
enum class Axes : uint8_t {
  kFixed,      // Not at all.
  kElements,   // Each output element depends only on the input elements at its index.
  kAttribute,  // The attributes `axis` and `axes` list axes. The others are treated alike.
  kReduced,    // The attribute `axes` lists the axes that are reduced.
  kInserted,   // The attribute `axis` is the index of a new axis of the output.
};

// Returns an attribute.
template <class T>
const T& attribute(AnyAttrs attrs, std::string_view name) {
  return attrs.type->find(name)->get<T>(attrs.data);
}
const Ints& attribute_axes(AnyAttrs attrs) { return attribute<Ints>(attrs, "axes"); }

Axes axes_of(const Call& call) {
  if (call.op.arrange) return Axes::kFixed;
  if (call.op.elementwise) return Axes::kElements;
  switch (static_cast<OpId>(call.op.id)) {
    case OpId::k_sgd:
    case OpId::k_momentum:
    case OpId::k_rmsprop:
    case OpId::k_adagrad:
    case OpId::k_adam:
    case OpId::k_adamw:
      return Axes::kElements;
    case OpId::k_concat:
    case OpId::k_cummax:
    case OpId::k_cummin:
    case OpId::k_cumprod:
    case OpId::k_cumsum:
    case OpId::k_diff:
      return Axes::kAttribute;
    case OpId::k_roll:  // Without axes, all elements are one axis.
      return attribute_axes(call.attrs).empty() ? Axes::kFixed : Axes::kAttribute;
    // Composites, which compute the same for any reduced axes.
    case OpId::k_count_nonzero:
    case OpId::k_l1_norm:
    case OpId::k_log_sum:
    case OpId::k_logsumexp:
    case OpId::k_moments:
    case OpId::k_sum_square:
    case OpId::k_var:
      return attribute_axes(call.attrs).empty() ? Axes::kFixed : Axes::kReduced;
    case OpId::k_stack:
      return Axes::kInserted;
    default:
      return Axes::kFixed;
  }
}

// Returns the order of the output's axes, given that of the input. A new axis becomes the first
// one. Returns an order of another rank if the output's axes do not correspond to those of the
// inputs, or if the elements would be reduced in another order.
AxisOrder order_of_output(const Call& call, Axes kind, const AxisOrder& order, size_t rank) {
  AxisOrder result = order;
  if (kind == Axes::kInserted) {
    const int64_t axis = attribute<int64_t>(call.attrs, "axis");
    const auto added = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
    result.rank = 0;
    result.push_back(added);
    for (size_t i = 0; i < order.rank; ++i) {
      result.push_back(order.axes[i] + (order.axes[i] >= added ? 1 : 0));
    }
  } else if (kind == Axes::kReduced) {
    bool is_reduced[kMaxRank] = {};
    for (const int64_t axis : attribute_axes(call.attrs)) {
      is_reduced[order.axes[order.position(axis)]] = true;
    }
    result.rank = 0;
    size_t last = 0;
    for (size_t i = 0; i < order.rank; ++i) {
      const size_t axis = order.axes[i];
      if (!is_reduced[axis]) {
        if (rank < order.rank) {
          result.push_back(axis -
                           static_cast<size_t>(std::count(is_reduced, is_reduced + axis, true)));
        }
      } else if (std::exchange(last, axis) > axis) {
        return AxisOrder();
      }
    }
    if (rank == order.rank) return order;
  }
  return result;
}

// Returns the attributes of a call whose axes have this order.
OwnedAttrs in_order(AnyAttrs attrs, Axes kind, const AxisOrder& order) {
  OwnedAttrs result(attrs);
  if (attrs.empty()) return result;
  for (const AttrField& field : attrs.type->all()) {
    const std::string_view name(field.name);
    if (name == "axis") {
      int64_t& axis = field.get<int64_t>(result.data());
      axis = kind == Axes::kInserted ? 0 : order.position(axis);
    } else if (name == "axes") {
      for (int64_t& axis : field.get<Ints>(result.data())) axis = order.position(axis);
    }
  }
  return result;
}

// Returns a view of an input with the axes of the output in another order. An axis that the input
// lacks has size 1.
Tensor in_order(const TensorImpl& x, const AxisOrder& order) {
  const size_t added = order.rank - x.rank();
  Dims sizes, strides;
  for (size_t axis = 0; axis < order.rank; ++axis) {
    sizes.push_back(axis < added ? Size(1) : x.shape()[axis - added]);
    strides.push_back(axis < added ? Size(0) : x.strides[axis - added]);
  }
  return make_view(x, TensorType(x.type.dtype, order.permuted(sizes)), order.permuted(strides),
                   x.offset);
}

// Whether the input is passed on as it is.
bool has_no_axes(const TensorImpl* x) { return !x || x->rank() == 0; }

// Returns the first input that is neither dense nor repeats one element, and that has the shape
// `shape` unless it is NULL. NULL if there is none.
const TensorImpl* strided_input(Inputs inputs, const Dims* shape) {
  for (const TensorImpl* x : inputs) {
    if (has_no_axes(x) || x->dense) continue;
    if (shape && !(x->shape() == *shape)) continue;
    if (!is_uniform(x->shape(), x->strides)) return x;
  }
  return nullptr;
}

// Whether the inputs have no gaps in this order. Inputs that are broadcast to `shape` may have any
// layout if `broadcasts`.
bool are_dense_in_order(const Call& call, const AxisOrder& order, const Dims& shape,
                        bool broadcasts) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorImpl* x = call.inputs[i];
    if (!x || x->is_scalar_value()) continue;
    if (x->donation != Donation::kNone || x->type.dtype != call.types[i].dtype) return false;
    if (x->rank() == 0) continue;
    const bool repeats = broadcasts && (!(x->shape() == shape) || is_uniform(shape, x->strides));
    if (repeats) continue;
    if (x->rank() != order.rank) return false;
    if (!is_dense(order.permuted(x->shape()), order.permuted(x->strides))) return false;
  }
  return true;
}

}  // namespace

bool run_in_memory_order(Scope& scope, const Call& call, const TensorTypes& types,
                         Tensors& outputs) {
  const Dims& shape = types[0].shape;
  const Axes axes = axes_of(call);
  // A recorded launch plan has dense outputs.
  if (axes == Axes::kFixed || scope.recorder()) return false;
  const bool is_elementwise = axes == Axes::kElements;
  const TensorImpl* const strided = strided_input(call.inputs, is_elementwise ? &shape : nullptr);
  if (!strided) return false;
  const AxisOrder order(strided->strides);
  const AxisOrder output_order = order_of_output(call, axes, order, shape.rank());
  if (!are_dense_in_order(call, order, shape, is_elementwise)) return false;
  for (const TensorType& type : types) {
    if (is_elementwise ? !(type.shape == shape) : type.rank() != output_order.rank) return false;
  }

  Tensors views;
  SmallVector<TensorImpl*, 6> inputs;
  SmallVector<const TensorType*, 6> input_types;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    TensorImpl* x = call.inputs[i];
    const TensorType* type = &call.types[i];
    if (!has_no_axes(x)) {
      views.push_back(in_order(*x, order));
      x = views.back().get();
      type = &x->type;
    }
    inputs.push_back(x);
    input_types.push_back(type);
  }
  OwnedAttrs attrs;
  if (!is_elementwise) attrs = in_order(call.attrs, axes, order);
  const Tensors results = eager(scope, {call.op,
                                        is_elementwise ? call.attrs : attrs.view(),
                                        inputs,
                                        {input_types.data(), input_types.size()}});
  for (const Tensor& y : results) {
    outputs.push_back(make_view(*y, TensorType(y->type.dtype, output_order.restored(y->shape())),
                                output_order.restored(y->strides), y->offset));
  }
  return true;
}
#endif

}  // namespace tenon
