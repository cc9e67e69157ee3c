#include "core/dispatch/memory_order.h"

#include <array>

#include "core/dispatch/dispatch.h"
#include "core/dispatch/scope.h"

namespace tenon {
namespace {

// The axes of a tensor, those with the largest strides first.
class AxisOrder {
 public:
  explicit AxisOrder(const TensorImpl& x) : rank_(x.rank()) {
    for (size_t i = 0; i < rank_; ++i) {
      size_t at = i;
      for (; at > 0 && int64_t{x.strides[axes_[at - 1]]} < int64_t{x.strides[i]}; --at) {
        axes_[at] = axes_[at - 1];
      }
      axes_[at] = static_cast<uint8_t>(i);
    }
  }

  // Returns sizes or strides in this order.
  Dims transpose(const Dims& dims) const {
    Dims result = dims;
    for (size_t i = 0; i < rank_; ++i) result[i] = dims[axes_[i]];
    return result;
  }
  // Returns sizes or strides in the original order.
  Dims restore(const Dims& dims) const {
    Dims result = dims;
    for (size_t i = 0; i < rank_; ++i) result[axes_[i]] = dims[i];
    return result;
  }

 private:
  size_t rank_;
  std::array<uint8_t, kMaxRank> axes_;
};

// Whether the input is repeated along an axis of the output.
bool is_broadcast(const TensorImpl& x, const Dims& shape) {
  if (!(x.shape() == shape)) return true;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != 1 && x.strides[axis] == 0) return true;
  }
  return false;
}

bool have_same_strides(const TensorImpl& a, const TensorImpl& b) {
  for (size_t axis = 0; axis < a.rank(); ++axis) {
    if (a.shape()[axis] != 1 && a.strides[axis] != b.strides[axis]) return false;
  }
  return true;
}

// Returns an input of the shape of the output that is not dense; NULL if there is none, or if the
// layouts of several inputs differ.
const TensorImpl* find_transposed(Inputs inputs, const Dims& shape) {
  const TensorImpl* found = nullptr;
  for (const TensorImpl* x : inputs) {
    if (!x || x->is_scalar_value() || is_broadcast(*x, shape)) continue;
    if (x->dense || (found && !have_same_strides(*x, *found))) return nullptr;
    found = x;
  }
  return found;
}

// Returns the input as a view with transposed axes. An input with fewer axes than the output gets
// axes of size 1.
Tensor transposed_view(const TensorImpl& x, const AxisOrder& order, size_t rank) {
  Dims shape, strides;
  shape.set_rank(rank);
  strides.set_rank(rank);
  const size_t added = rank - x.rank();
  for (size_t axis = 0; axis < rank; ++axis) {
    shape[axis] = axis < added ? Size(1) : x.shape()[axis - added];
    strides[axis] = axis < added ? Size(0) : x.strides[axis - added];
  }
  return make_view(x, {x.type.dtype, order.transpose(shape)}, order.transpose(strides), x.offset);
}

}  // namespace

bool run_in_memory_order(Scope& scope, const Call& call, const TensorTypes& types,
                         Tensors& outputs) {
  const Dims& shape = types[0].shape;
  const TensorImpl* const like = find_transposed(call.inputs, shape);
  if (!like || !like->storage->device->synchronous()) return false;
  const AxisOrder order(*like);
  if (!is_dense(order.transpose(shape), order.transpose(like->strides))) return false;

  Tensors views;
  SmallVector<TensorImpl*, 3> inputs;
  SmallVector<const TensorType*, 3> input_types;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    TensorImpl* x = call.inputs[i];
    const TensorType* type = &call.types[i];
    if (x && !x->is_scalar_value() && x->rank() > 0) {
      views.push_back(transposed_view(*x, order, shape.rank()));
      x = views.back().get();
      type = &x->type;
    }
    inputs.push_back(x);
    input_types.push_back(type);
  }
  outputs = eager(scope, {call.op, call.attrs, inputs, {input_types.data(), input_types.size()}});
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorImpl& y = *outputs[i];
    outputs[i] = make_view(y, types[i], order.restore(y.strides), y.offset);
  }
  return true;
}

}  // namespace tenon
