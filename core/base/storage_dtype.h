// The formats of the storage dtypes, and the conversion of single elements on the host.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/shape.h"

namespace tenon {

// The format of a storage dtype with floating-point elements. A code consists of the sign, the
// exponent and the mantissa, from the highest bit to the lowest.
struct StorageFormat {
  int mantissa_bits;
  int bias;            // A code with exponent field e > 0 has the exponent e - bias.
  uint8_t sign;        // The sign bit; 0 for e8m0, which has no sign and no subnormal values.
  uint8_t greatest;    // The code of the largest finite value.
  uint8_t overflow;    // The code of infinity or, if the format has none, of NaN or `greatest`.
  uint8_t nan;         // The code to which NaN is converted.
  bool unsigned_zero;  // Whether 0 has no sign: the code of -0 is NaN (FNUZ).
};

// Returns the format of a storage dtype with floating-point elements.
const StorageFormat& storage_format(DType dtype);

// Returns the smallest and the largest value of a storage dtype with integer elements.
struct StorageRange {
  int64_t least, greatest;
};
StorageRange storage_range(DType dtype);

// Returns the value of the element with this code, of which only the dtype's bits are read.
double decode_storage(uint8_t code, DType dtype);

// Returns the code for a value, converted as the op cast converts float64: floats are rounded to
// nearest, ties to even (in e8m0 up), and saturate; integers are truncated toward zero and
// saturate.
uint8_t encode_storage(double value, DType dtype);

// Files pack elements of 4 or 2 bits: the first element of a byte is in its low bits.

// Returns the number of elements in a byte of a file: 1, 2 or 4.
size_t packed_elements_per_byte(DType dtype);
// Returns the size of n elements in a file, in bytes.
uint64_t packed_size(uint64_t n, DType dtype);
inline uint64_t packed_bytes_of(const TensorType& type) {
  return packed_size(static_cast<uint64_t>(int64_t{count(type.shape)}), type.dtype);
}
std::vector<std::byte> pack_elements(std::span<const std::byte> elements, DType dtype);
std::vector<std::byte> unpack_elements(std::span<const std::byte> bytes, size_t n, DType dtype);

}  // namespace tenon
