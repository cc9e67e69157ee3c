// Reads and writes C structs that begin with struct_size. Only fields that the caller and this
// version of Tenon have in common are copied.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "capi/src/handles.h"

namespace tenon::capi {

constexpr size_t kMinStructSize = 2 * sizeof(uint32_t);

// Returns the caller's struct. Fields beyond its struct_size have their defaults. Does not
// validate. Used for structs with callbacks, whose ownership is taken even if the call fails.
template <class Struct>
Struct known_fields(const Struct* given, Struct value) {
  if (!given) return value;
  uint32_t size;
  std::memcpy(&size, given, sizeof size);
  std::memcpy(&value, given, std::min<size_t>(size, sizeof value));
  return value;
}

// Like known_fields(), but throws if the struct is invalid. Fields that only a newer version of
// Tenon has must be zero, because they cannot be honoured.
template <class Struct>
Struct read_struct(const Struct* given, Struct value, const char* name) {
  if (!given) return value;
  uint32_t size;
  std::memcpy(&size, given, sizeof size);
  if (size < sizeof size) fail_argument(name, "has no struct_size");
  const auto* bytes = reinterpret_cast<const char*>(given);
  const bool has_unknown = size > sizeof value && std::any_of(bytes + sizeof value, bytes + size,
                                                              [](char byte) { return byte != 0; });
  if (has_unknown) fail_argument(name, "has fields that only a newer version of Tenon supports");
  value = known_fields(given, value);
  value.struct_size = sizeof value;
  return value;
}

// Copies `value` to the caller's struct, up to its struct_size. Sets struct_size to the number of
// bytes copied.
template <class Struct>
void write_struct(Struct value, Struct* out, const char* name) {
  require_pointer(out, name);
  uint32_t size;
  std::memcpy(&size, out, sizeof size);
  if (size < kMinStructSize) fail_argument(name, "has no struct_size");
  size = std::min<uint32_t>(size, sizeof value);
  value.struct_size = size;
  std::memcpy(out, &value, size);
}

}  // namespace tenon::capi
