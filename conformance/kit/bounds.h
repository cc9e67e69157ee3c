// How far from the truth a result may be: the tolerances of the numeric contract, which the kit
// states and no vendor does.

#pragma once

#include <tenon/plugin.h>

#include <string>

#include "conformance/kit/problem.h"

namespace tenon_kit {

enum class Profile { kStrict, kRelaxed };

// A result may differ from the oracle by the largest of these.
struct Bound {
  double ulp = 0;
  double rtol = 0;
  double atol = 0;
  bool bits = false;         // Zeros must have the oracle's sign too.
  bool accumulates = false;  // The bound follows from the number of terms and their sizes.
};

// What an output of `dtype` is held to. Each element of a composite's result depends on about `k`
// others.
Bound bound_of(const OpFacts& op, tenon_dtype dtype, Profile profile, tenon_features device,
               double k = 1);

// The unit roundoff of what a device adds up in: float32 for the half types, else the dtype itself.
double accumulator_roundoff(tenon_dtype dtype);

// The bound on a sum of k terms whose absolute values add up to `size`, beside the rounding of the
// result: 1.01 gamma_k size.
Real accumulation_bound(double k, Real size, tenon_dtype dtype);

}  // namespace tenon_kit
