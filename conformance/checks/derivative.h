// Derivatives of a problem for the gradient checks: taken by a tape in a session, with outputs
// weighted by numbers that depend only on the element's index.

#pragma once

#include "conformance/checks/check.h"

namespace tenon_kit {

// kFirst: gradients of <outputs, weights> by each floating-point input. kSecond: gradients of
// <those gradients, weights>.
enum class Order { kFirst, kSecond };

// The weights of the elements of `y`, the i-th of several tensors.
using Weights = Reals (*)(const Result& y, size_t i);

// Numbers with few bits, which every dtype represents exactly, so that devices and oracle get the
// same weights.
Reals drawn_weights(const Result& y, size_t i);

struct Gradients {
  std::vector<size_t> inputs;  // The inputs differentiated by; one entry in `values` each.
  std::vector<Result> values;
};

Gradients gradients(const Session& session, const Problem& problem, Order order,
                    Weights weights = drawn_weights);

// <results, drawn weights>, over the floating-point results.
Real weighed(const std::vector<Result>& results);

// Whether the operand is differentiated by.
bool is_source(const Operand& x);

// Numbers between -1 and 1 that are exact in float64.
Reals drawn(size_t n, uint64_t seed);

// The problem with the values of input `i` replaced.
Problem with_values(const Problem& problem, size_t i, Reals values);

// ---- which claims, and which problems

bool has_gradient(const Environment& env, const Claim& claim);
// Whether the claim has a gradient and computes in float64. Kinks and domains are the same in every
// width.
bool has_wide_gradient(const Environment& env, const Claim& claim);

// The claim's problems that are differentiable: with finite values, and without cases of kinks. The
// first input has at most `most_of_first` elements.
std::vector<Problem> smooth_problems(const Environment& env, const Claim& claim,
                                     int64_t most_of_first = 2000);

}  // namespace tenon_kit
