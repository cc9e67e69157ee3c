// How far from the truth a result may be: the tolerances of the numeric contract, which the kit
// states and no vendor does.

#pragma once

#include <tenon/plugin.h>

#include <span>

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
  bool flushes = false;      // A subnormal result may be a zero of either sign.
};

// The facts of the problem's op, with the numeric class that it has for these attributes: of
// scatters, only sums of floats accumulate.
OpFacts facts_of(const Problem& problem);

// What an output of `dtype` is held to. Each element of a composite's result depends on about `k`
// others.
Bound bound_of(const OpFacts& op, tenon_dtype dtype, Profile profile, tenon_features device,
               double k = 1);

// What a derivative of it is held to: it is a composite, products and sums of what the op itself is
// made of, and held to that class, or to the op's own where that allows more.
Bound gradient_bound_of(const OpFacts& op, tenon_dtype dtype, Profile profile,
                        tenon_features device, double k);

// What is allowed beside `bound_of` for an element where it depends on the inputs: in relaxed the
// error of exp grows with x, and that of pow with y log2 x. `inputs` has one value of each.
Real slack_of(const OpFacts& op, tenon_dtype dtype, Profile profile, std::span<const Real> inputs,
              Real oracle);
bool has_slack(const OpFacts& op, tenon_dtype dtype, Profile profile);

// Whether results are values of inputs as they are.
bool only_moves(const OpFacts& op);

// Whether the device may take subnormals for zeros in this op: it says that it flushes, and the op
// does not only move them.
bool may_flush(const OpFacts& op, tenon_features device);
Real least_normal(tenon_dtype dtype);  // 0 for what is no float.
// With subnormal numbers as zeros of the same sign; the problem with all its inputs so.
Operand flushed(const Operand& x);
Problem flushed(const Problem& problem);

// The unit roundoff of what a device adds up in: float32 for the half types, else the dtype itself.
double accumulator_roundoff(tenon_dtype dtype);

// How many roundings an element of a sum of k terms may go through: no more than 4096 terms, and
// the square root of k blocks of them, are added one after another, twice over.
double roundings_of_sum(double k);

// The bound on what goes through k roundings and has terms whose absolute values add up to `size`,
// beside the rounding of the result: 1.01 gamma_k size.
Real accumulation_bound(double k, Real size, tenon_dtype dtype);

}  // namespace tenon_kit
