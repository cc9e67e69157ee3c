// Structs that may grow: read and written as far as both sides know them.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "capi/src/handles.h"

namespace tenon::capi {

constexpr size_t kSmallestStruct = 2 * sizeof(uint32_t);

// What the caller gave, with defaults for what it did not know of, whether it is accepted or not:
// for callbacks, which are taken over in any case.
template <class Struct>
Struct known_part(const Struct* given, Struct value) {
  if (!given) return value;
  uint32_t size;
  std::memcpy(&size, given, sizeof size);
  std::memcpy(&value, given, std::min<size_t>(size, sizeof value));
  return value;
}

// The same, where it is accepted. What we do not know of has to be zero, or we would leave out
// something that the caller asked for.
template <class Struct>
Struct read_struct(const Struct* given, Struct value, const char* name) {
  if (!given) return value;
  uint32_t size;
  std::memcpy(&size, given, sizeof size);
  if (size < sizeof size) fail_argument(name, "has no struct_size");
  const auto* bytes = reinterpret_cast<const char*>(given);
  const bool has_unknown = size > sizeof value && std::any_of(bytes + sizeof value, bytes + size,
                                                              [](char byte) { return byte != 0; });
  if (has_unknown) fail_argument(name, "asks for what only a newer version of Tenon knows");
  value = known_part(given, value);
  value.struct_size = sizeof value;
  return value;
}

// Fills the caller's struct up to the size that it set, and sets that to what was written.
template <class Struct>
void write_struct(Struct value, Struct* out, const char* name) {
  require_pointer(out, name);
  uint32_t size;
  std::memcpy(&size, out, sizeof size);
  if (size < kSmallestStruct) fail_argument(name, "has no struct_size");
  size = std::min<uint32_t>(size, sizeof value);
  value.struct_size = size;
  std::memcpy(out, &value, size);
}

}  // namespace tenon::capi
