// Tensors of small integers. Every dtype represents them exactly, and sums of their products are
// exact in any order. Results can therefore be compared bit by bit, which is quick enough for
// millions of elements.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conformance/kit/problem.h"

namespace tenon_kit {

// Element `i` of an operand with this fill, whose kind is kWhole.
int32_t whole_value(const Fill& fill, size_t i);

// All elements, row-major.
std::vector<int32_t> whole_values(const Operand& x);

// Converts integers to bytes of the dtype. Floats are rounded to the nearest value, ties to even;
// integers wrap.
std::vector<std::byte> encode_whole(std::span<const int32_t> values, tenon_dtype dtype);

}  // namespace tenon_kit
