// Derivatives of a problem, as the checks of them take them: by a tape in a session, of outputs
// that are weighed by numbers which depend on nothing but their places.

#pragma once

#include "conformance/checks/check.h"

namespace tenon_kit {

// The gradients of <outputs, weights> by each floating input, or those of <gradients, weights>.
enum class Order { kFirst, kSecond };

// What the elements of `y`, the i-th of several tensors, are weighed by.
using Weights = Reals (*)(const Result& y, size_t i);

// Short numbers, which every dtype holds, so that devices and oracle are given the same.
Reals drawn_weights(const Result& y, size_t i);

struct Gradients {
  std::vector<size_t> inputs;  // By which they are, and as many values.
  std::vector<Result> values;
};

Gradients gradients(const Session& session, const Problem& problem, Order order,
                    Weights weights = drawn_weights);

// <results, drawn weights>, over those that are floating.
Real weighed(const std::vector<Result>& results);

// Whether derivatives are taken by it.
bool is_source(const Operand& x);

// Numbers between -1 and 1 that float64 holds.
Reals drawn(size_t n, uint64_t seed);

// The problem with other values in input `i`.
Problem with_values(const Problem& problem, size_t i, Reals values);

// ---- for which claims, and of what

bool has_gradient(const Environment& env, const Claim& claim);
// The same in float64. Kinks stay where they are in any width, and so do definitions.
bool has_wide_gradient(const Environment& env, const Claim& claim);

// Those of the claim's problems that have slopes: finite, and no case of a kink. The first input
// has so many elements at most.
std::vector<Problem> smooth_problems(const Environment& env, const Claim& claim,
                                     int64_t most_of_first = 2000);

}  // namespace tenon_kit
