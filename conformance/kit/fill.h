// Values of a dtype for which implementations tend to give wrong results.

#pragma once

#include "conformance/kit/dtypes.h"

namespace tenon_kit {

// Special values: zeros, ones, the ends of the range and their neighbours, infinities and NaN.
Reals special_values(tenon_dtype dtype);

// Values at which functions, casts and activations change behaviour, and their neighbours, with
// both signs. For integers, the same as special_values().
Reals threshold_values(tenon_dtype dtype);

// The powers of two up to 2^64 and their neighbours, with both signs, if representable.
Reals powers_of_two_and_neighbours(tenon_dtype dtype);

}  // namespace tenon_kit
