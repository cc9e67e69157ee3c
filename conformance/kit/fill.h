// Values that are hard on purpose, of a dtype.

#pragma once

#include "conformance/kit/dtypes.h"

namespace tenon_kit {

// Zeros, ones, the ends of the range, what lies beside them, and what is no number.
Reals specials(tenon_dtype dtype);

// Where functions, casts and activations change their course, with the values beside each, of
// either sign. Of integers the special ones.
Reals thresholds(tenon_dtype dtype);

// The powers of two up to 2^64 and what lies beside them, of either sign, as far as the dtype holds
// them.
Reals around_powers(tenon_dtype dtype);

}  // namespace tenon_kit
