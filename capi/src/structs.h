// Reads and writes versioned structs up to the size that both sides know.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "capi/src/handles.h"

namespace tenon::capi {

constexpr size_t kMinStructSize = 2 * sizeof(uint32_t);

// Returns the caller's fields, with defaults for those beyond its struct_size, without validation.
// Needed for callbacks, whose ownership is taken even if the call fails.
template <class Struct>
Struct known_fields(const Struct* given, Struct value) {
  if (!given) return value;
  uint32_t size;
  std::memcpy(&size, given, sizeof size);
  std::memcpy(&value, given, std::min<size_t>(size, sizeof value));
  return value;
}

// Like known_fields(), but validates the struct. Fields that this version does not have must be
// zero, so that no request of the caller is ignored.
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

// Fills the caller's struct up to its struct_size, and sets struct_size to the number of bytes
// written.
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
