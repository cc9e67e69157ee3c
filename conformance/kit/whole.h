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

// Returns element `i` of an operand with this fill. The fill must be of kind kWhole.
int32_t integer_element(const Fill& fill, size_t i);

// Returns all elements of x, which has a fill of kind kWhole, in row-major order.
std::vector<int32_t> integer_elements(const Operand& x);

// Converts integers to bytes of the dtype. Floats are rounded to the nearest value, ties to even;
// integers wrap.
std::vector<std::byte> encode_integers(std::span<const int32_t> values, tenon_dtype dtype);

}  // namespace tenon_kit
