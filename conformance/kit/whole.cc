#include "conformance/kit/whole.h"

#include <algorithm>
#include <cstring>

namespace tenon_kit {

int32_t integer_element(const Fill& fill, size_t i) {
  // Hashes the seed and the index with SplitMix64. An element depends on nothing else.
  uint64_t bits = (fill.seed << 32) + (i + 1) * 0x9e3779b97f4a7c15ull;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
  const auto low = static_cast<int32_t>(fill.low);
  const auto n = static_cast<uint64_t>(static_cast<int64_t>(fill.high) - low);
  return low + static_cast<int32_t>((bits >> 32) % n);
}

std::vector<int32_t> integer_elements(const Operand& x) {
  std::vector<int32_t> values(static_cast<size_t>(count_of(x.shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = integer_element(x.fill, i);
  return values;
}

std::vector<std::byte> encode_integers(std::span<const int32_t> values, tenon_dtype dtype) {
  const size_t size = facts(dtype).size;
  std::vector<std::byte> bytes(values.size() * size);
  if (values.empty()) return bytes;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  // Encodes each number from the smallest to the largest value once, into a table.
  std::vector<std::byte> table;
  for (int64_t value = *low; value <= *high; ++value) {
    if (is_float(dtype) || is_bool(dtype)) {
      const std::vector<std::byte> one = encode({rounded(static_cast<Real>(value), dtype)}, dtype);
      table.insert(table.end(), one.begin(), one.end());
    } else {
      const std::vector<std::byte> one = encode({static_cast<Real>(value)}, TENON_INT64);
      table.insert(table.end(), one.begin(), one.begin() + static_cast<std::ptrdiff_t>(size));
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<size_t>(int64_t{values[i]} - *low);
    std::memcpy(&bytes[i * size], &table[at * size], size);
  }
  return bytes;
}

}  // namespace tenon_kit
