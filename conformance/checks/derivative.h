// Computes derivatives of a problem with a tape in a session, for the gradient checks. Outputs are
// weighted by numbers that depend only on the element's index.

#pragma once

#include "conformance/checks/check.h"

namespace tenon_kit {

// kFirst: gradients of <outputs, weights> by each floating-point input. kSecond: gradients of
// <those gradients, weights>.
enum class Order { kFirst, kSecond };

// Returns the weights for the elements of `y`, the i-th of the results.
using Weights = Reals (*)(const Result& y, size_t i);

// Pseudorandom weights with few bits. Every dtype represents them exactly, so devices and the
// oracle use the same weights.
Reals drawn_weights(const Result& y, size_t i);

struct Gradients {
  // Indices of the inputs to differentiate by; `values` has one gradient for each.
  std::vector<size_t> inputs;
  std::vector<Result> values;
};

Gradients gradients(const Session& session, const Problem& problem, Order order,
                    Weights weights = drawn_weights);

// The inner product of the floating-point results with drawn_weights().
Real weighed(const std::vector<Result>& results);

// Whether a gradient with respect to the operand is computed.
bool is_source(const Operand& x);

// `n` pseudorandom numbers between -1 and 1 that are exact in float64.
Reals drawn(size_t n, uint64_t seed);

// The problem with the values of input `i` replaced.
Problem with_values(const Problem& problem, size_t i, Reals values);

// ---- selection of claims and problems

bool has_gradient(const Environment& env, const Claim& claim);
// Whether the claim has a gradient and its dtype is float64. Kinks and domains do not depend on the
// width of the dtype, so the oracle's derivatives are checked in float64 only.
bool has_wide_gradient(const Environment& env, const Claim& claim);

// The claim's differentiable problems: those with finite values, without cases at kinks. The first
// input has at most `most_of_first` elements.
std::vector<Problem> smooth_problems(const Environment& env, const Claim& claim,
                                     int64_t most_of_first = 2000);

}  // namespace tenon_kit
