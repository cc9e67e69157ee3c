// Values of a dtype at which implementations tend to fail.

#pragma once

#include "conformance/kit/dtypes.h"

namespace tenon_kit {

// Zeros, ones, the ends of the range, values next to these, infinities and NaN.
Reals specials(tenon_dtype dtype);

// Values where functions, casts and activations change behaviour, with their neighbours, and both
// signs. For integers, the special values.
Reals thresholds(tenon_dtype dtype);

// The powers of two up to 2^64 and their neighbours, with both signs, if representable.
Reals around_powers(tenon_dtype dtype);

}  // namespace tenon_kit
