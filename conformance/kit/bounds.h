// Tolerances of results: the numeric contract that the kit defines for all vendors.

#pragma once

#include <tenon/plugin.h>

#include <span>

#include "conformance/kit/problem.h"

namespace tenon_kit {

enum class Profile { kStrict, kRelaxed };

// Error bound. A result may differ from the oracle by the largest of these tolerances.
struct Bound {
  double ulp = 0;
  double rtol = 0;
  double atol = 0;
  bool bits = false;         // Zeros must have the same sign as the oracle's.
  bool accumulates = false;  // The bound depends on the number of terms and their magnitudes.
  bool flushes = false;      // A subnormal result may be flushed to a zero of either sign.
};

// Returns the facts of the problem's op, with the numeric class that its attributes and dtypes
// imply. For example, a scatter is an accumulation only if it sums floats.
OpFacts facts_of(const Problem& problem);

// Returns the error bound for an output of `dtype`. `k` is the approximate number of input elements
// on which each element of a composite's result depends.
Bound bound_of(const OpFacts& op, tenon_dtype dtype, Profile profile, tenon_features device,
               double k = 1);

// The bound for a derivative of the op. A derivative is a composite of products and sums, so its
// bound is the larger of a composite's bound and the op's own.
Bound gradient_bound_of(const OpFacts& op, tenon_dtype dtype, Profile profile,
                        tenon_features device, double k);

// Returns the tolerance that is added to bound_of() for an element computed from the values
// `inputs`, one for each input. In relaxed numerics, the error of exp(x) grows with x, and that of
// pow(x, y) with y log2 x.
Real slack_of(const OpFacts& op, tenon_dtype dtype, Profile profile, std::span<const Real> inputs,
              Real oracle);
// Whether slack_of() can be nonzero.
bool has_slack(const OpFacts& op, tenon_dtype dtype, Profile profile);

// Whether the op's results are copies of input values.
bool only_copies_values(const OpFacts& op);

// Whether the device may flush subnormals to zero in this op: it declares that it flushes, and the
// op does not just move values.
bool may_flush(const OpFacts& op, tenon_features device);
Real smallest_normal(tenon_dtype dtype);  // 0 if the dtype is not a float.
// Flushes subnormal values to zeros of the same sign, in an operand or in all inputs of a problem.
Operand flush_subnormals(const Operand& x);
Problem flush_subnormals(const Problem& problem);

// The unit roundoff of accumulators: that of float32 for half types, else of the dtype itself.
double accumulator_roundoff(tenon_dtype dtype);

// Maximum number of roundings that a term goes through in a sum of k terms: at most 4096 serial
// additions, plus twice the square root of k for sums in blocks.
double roundings_of_sum(double k);

// The error bound of a sum with k roundings per term, 1.01 gamma_k size, where `size` is the sum of
// the terms' absolute values. Excludes the rounding of the result.
Real accumulation_bound(double k, Real size, tenon_dtype dtype);

}  // namespace tenon_kit
