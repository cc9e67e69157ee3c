// Inline scalars and views: tensors that need no memory of their own.

#include <cstring>

#include "core/base/error.h"
#include "core/base/storage_dtype.h"
#include "core/tensor/tensor.h"

namespace tenon {
namespace {

// Creates a tensor of rank 0 with an inline value and a weak dtype.
Tensor make_inline(DType dtype) {
  auto* scalar = new TensorImpl;
  scalar->type.dtype = dtype;
  scalar->type.weak = true;
  return Tensor::adopt(scalar);
}

template <class T>
void store(T value, void* to) {
  std::memcpy(to, &value, sizeof value);
}

// Writes `value` as one element of `dtype`. Integers wrap around, as in casts between integer
// types.
void store_int(int64_t value, DType dtype, void* to) {
  switch (dtype) {
    case DType::kF16:
      return store(double_to_half(static_cast<double>(value)), to);
    case DType::kBF16:
      return store(double_to_bfloat16(static_cast<double>(value)), to);
    case DType::kF32:
      return store(static_cast<float>(value), to);
    case DType::kF64:
      return store(static_cast<double>(value), to);
    case DType::kF128:
      return store(double_to_quad(static_cast<double>(value)), to);
    case DType::kBool:
      return store(static_cast<uint8_t>(value != 0), to);
    case DType::kI8:
    case DType::kU8:
      return store(static_cast<uint8_t>(value), to);
    case DType::kI16:
    case DType::kU16:
      return store(static_cast<uint16_t>(value), to);
    case DType::kI32:
    case DType::kU32:
      return store(static_cast<uint32_t>(value), to);
    default:
      return store(value, to);
  }
}

// Writes `value` as one element of `dtype`.
void store_float(double value, DType dtype, void* to) {
  switch (dtype) {
    case DType::kF16:
      return store(double_to_half(value), to);
    case DType::kBF16:
      return store(double_to_bfloat16(value), to);
    case DType::kF32:
      return store(static_cast<float>(value), to);
    case DType::kF64:
      return store(value, to);
    case DType::kF128:
      return store(double_to_quad(value), to);
    default:
      fail(Code::kInvalidArgument, "the scalar {} cannot be converted to {} implicitly: use cast",
           {value, dtype});
  }
}

}  // namespace

Tensor make_scalar(double value) {
  Tensor scalar = make_inline(DType::kF32);  // The dtype if no other operand determines one.
  scalar->float_value = value;
  return scalar;
}

Tensor make_scalar(int64_t value) {
  Tensor scalar = make_inline(DType::kI64);
  scalar->int_value = value;
  return scalar;
}

Tensor make_scalar_bool(bool value) {
  Tensor scalar = make_inline(DType::kBool);
  scalar->int_value = value ? 1 : 0;
  return scalar;
}

// Writes the inline value of `scalar` as one element of `dtype`.
void write_scalar(const TensorImpl& scalar, DType dtype, ElementBits* to) {
  const bool is_float = is_floating(scalar.type.dtype);
  if (is_storage(dtype)) [[unlikely]] {
    const double value = is_float ? scalar.float_value : static_cast<double>(scalar.int_value);
    return store(encode_storage(value, dtype), to);
  }
  if (is_float) {
    store_float(scalar.float_value, dtype, to);
  } else {
    store_int(scalar.int_value, dtype, to);
  }
}

Tensor make_view(const TensorImpl& base, const TensorType& type, const Dims& strides,
                 int64_t offset) {
  auto* view = new TensorImpl;
  Tensor owner = Tensor::adopt(view);
  view->type = type;
  view->strides = strides;
  view->offset = offset;
  view->storage = base.storage;
  view->dense = is_dense(type.shape, strides);
  return owner;
}

// Creates an alias: a tensor with the same value, which tapes distinguish from `x`.
Tensor alias_of(const TensorImpl& x) {
  Tensor y = Tensor::adopt(new TensorImpl);
  y->type = x.type;
  y->strides = x.strides;
  y->offset = x.offset;
  y->storage = x.storage;
  y->int_value = x.int_value;
  y->plan_input = x.plan_input;
  y->dense = x.dense;
  return y;
}

}  // namespace tenon
