#include "capi/src/host_memory.h"

#include <cstring>
#include <limits>

#include "core/base/storage_dtype.h"
#include "core/dispatch/dispatch.h"

namespace tenon::capi {
namespace {

// Copies the elements of a strided array, from `axis` on, to dense row-major memory at `to`.
void gather(const HostArray& array, size_t axis, const char* from, char*& to) {
  const size_t element = size_of(array.type.dtype);
  if (axis == array.type.rank()) {
    std::memcpy(to, from, element);
    to += element;
    return;
  }
  for (int64_t i = 0; i < array.type.shape[axis]; ++i) {
    gather(array, axis + 1, from + i * array.strides[axis] * static_cast<int64_t>(element), to);
  }
}

template <class T>
T load(const void* bits) {
  T value;
  std::memcpy(&value, bits, sizeof value);
  return value;
}

int64_t load_integer(DType dtype, const void* bits) {
  if (is_storage(dtype)) return static_cast<int64_t>(decode_storage(load<uint8_t>(bits), dtype));
  switch (dtype) {
    case DType::kBool:
      return load<uint8_t>(bits) != 0;
    case DType::kI8:
      return load<int8_t>(bits);
    case DType::kI16:
      return load<int16_t>(bits);
    case DType::kI32:
      return load<int32_t>(bits);
    case DType::kU8:
      return load<uint8_t>(bits);
    case DType::kU16:
      return load<uint16_t>(bits);
    case DType::kU32:
      return load<uint32_t>(bits);
    default:
      return load<int64_t>(bits);
  }
}

double load_double(DType dtype, const void* bits) {
  if (is_storage(dtype)) return decode_storage(load<uint8_t>(bits), dtype);
  switch (dtype) {
    case DType::kF16:
      return half_to_float(load<uint16_t>(bits));
    case DType::kBF16:
      return bfloat16_to_float(load<uint16_t>(bits));
    case DType::kF32:
      return load<float>(bits);
    case DType::kF64:
      return load<double>(bits);
    case DType::kF128:
      return quad_to_double(load<ElementBits>(bits));
    case DType::kU64:
      return static_cast<double>(load<uint64_t>(bits));
    default:
      return static_cast<double>(load_integer(dtype, bits));
  }
}

}  // namespace

HostArray host_array(const TensorType& type, const int64_t* strides, void* data) {
  HostArray array{.type = type, .strides = dense_strides(type.shape), .data = data};
  if (count(type.shape) == 0) return array;
  int64_t before = 0, after = 0;  // Numbers of elements on each side of `data`.
  const auto element = static_cast<int64_t>(size_of(type.dtype));
  for (size_t axis = 0; axis < type.rank(); ++axis) {
    const int64_t steps = type.shape[axis] - 1;
    // The stride of an axis of size 1 is never used. Exporters may store arbitrary values there.
    if (steps == 0) continue;
    const int64_t stride = strides ? strides[axis] : int64_t{array.strides[axis]};
    const int64_t room = std::numeric_limits<int64_t>::max() / element - 1 - before - after;
    require(stride <= room / steps && stride >= -(room / steps),
            "stride {} of axis {} reaches beyond the address space", stride, axis);
    array.strides[axis] = stride;
    (stride < 0 ? before : after) += steps * (stride < 0 ? -stride : stride);
  }
  array.bytes_before = static_cast<uint64_t>(before * element);
  array.bytes = static_cast<uint64_t>((before + after + 1) * element);
  return array;
}

Tensor copy_from_host(Scope& scope, const HostArray& array) {
  if (is_dense(array.type.shape, array.strides)) {
    return from_host(scope, scope.device(), array.type, array.data);
  }
  std::vector<char> bytes(static_cast<size_t>(count(array.type.shape)) * size_of(array.type.dtype));
  char* to = bytes.data();
  gather(array, 0, static_cast<const char*>(array.data), to);
  return from_host(scope, scope.device(), array.type, bytes.data());
}

// Creates a tensor that uses the array's memory in place if possible, and else a copy of it.
Tensor tensor_of_host_memory(Scope& scope, const HostArray& array, Payload loan) {
  const auto address = reinterpret_cast<uintptr_t>(array.data);
  const bool aligned = address % size_of(array.type.dtype) == 0;
  if (array.bytes == 0 || !aligned) return copy_from_host(scope, array);

  // The deleter of the storage owns the payload, and destroys it when the storage is destroyed.
  auto kept = std::make_unique<Payload>(std::move(loan));
  const tenon_deleter deleter = {[](void* payload) { delete static_cast<Payload*>(payload); },
                                 kept.get()};
  void* const begin = static_cast<char*>(array.data) - array.bytes_before;
  const Ref<Storage> storage = scope.device().allocator().import(begin, array.bytes, deleter);
  if (!storage) return copy_from_host(scope, array);
  kept.release();
  auto* tensor = new TensorImpl;
  Tensor owner = Tensor::adopt(tensor);
  tensor->type = array.type;
  tensor->strides = array.strides;
  tensor->offset = static_cast<int64_t>(array.bytes_before / size_of(array.type.dtype));
  tensor->storage = storage;
  tensor->dense = is_dense(array.type.shape, array.strides);
  return owner;
}

// Converts an element of dtype `from` to an int64 or a double, depending on the dtype `as`.
void convert_element(DType from, const void* bits, DType as, void* to) {
  if (as == DType::kF64) {
    const double value = load_double(from, bits);
    std::memcpy(to, &value, sizeof value);
    return;
  }
  require_code(from != DType::kU64 || load<uint64_t>(bits) >> 63 == 0, Code::kOutOfRange,
               "{} exceeds the range of int64", load<uint64_t>(bits));
  const int64_t value = load_integer(from, bits);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace tenon::capi
