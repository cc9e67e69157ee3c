#include "core/base/dtype.h"

#include <utility>

namespace tenon {

DType dtype_from_c(tenon_dtype c, bool* known) {
  for (size_t i = 0; i < kDTypeCount; ++i) {
    if (detail::kDTypes[i].c == c) {
      if (known) *known = true;
      return static_cast<DType>(i);
    }
  }
  if (known) *known = false;
  return DType::kNone;
}

DType dtype_from_name(std::string_view name) {
  for (size_t i = 1; i < kDTypeCount; ++i) {
    const detail::DTypeInfo& info = detail::kDTypes[i];
    if (name == info.name || name == info.numpy_name) return static_cast<DType>(i);
  }
  return DType::kNone;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_floating(a) && is_floating(b)) {
    if (size_of(a) == size_of(b)) return DType::kF32;  // float16 and bfloat16 promote to float32.
    return size_of(a) > size_of(b) ? a : b;
  }
  if (!is_integer(a) || !is_integer(b)) return DType::kNone;
  if (is_signed_integer(a) == is_signed_integer(b)) return size_of(a) > size_of(b) ? a : b;

  if (is_unsigned_integer(a)) std::swap(a, b);  // Now a is signed and b is not.
  if (size_of(a) > size_of(b)) return a;
  switch (size_of(b)) {
    case 1:
      return DType::kI16;
    case 2:
      return DType::kI32;
    case 4:
      return DType::kI64;
    default:
      return DType::kNone;
  }
}

}  // namespace tenon
