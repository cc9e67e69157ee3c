// Computes derivatives of a problem with a tape in a session, for the gradient checks. Outputs are
// weighted by numbers that depend only on the element's index.

#pragma once

#include "conformance/checks/check.h"

namespace tenon_kit {

// kFirst: gradients of the inner product <outputs, weights> with respect to each floating-point
// input. kSecond: gradients of the inner product of these gradients and weights.
enum class Order { kFirst, kSecond };

// Returns the weights for the elements of `y`, the i-th of the results.
using Weights = Reals (*)(const Result& y, size_t i);

// Pseudorandom weights with few bits. Every dtype represents them exactly, so devices and the
// oracle use the same weights.
Reals random_weights(const Result& y, size_t i);

struct Gradients {
  // Indices of the differentiated inputs; `values` has the gradient with respect to each.
  std::vector<size_t> inputs;
  std::vector<Result> values;
};

// Computes gradients of the order `order` with respect to each floating-point tensor input.
Gradients gradients(const Session& session, const Problem& problem, Order order,
                    Weights weights = random_weights);

// The inner product of the floating-point results with random_weights().
Real weighted_sum(const std::vector<Result>& results);

// Whether the kit computes gradients with respect to the operand: it is a floating-point tensor.
bool is_differentiable_operand(const Operand& x);

// `n` pseudorandom numbers between -1 and 1 that are exact in float64.
Reals random_reals(size_t n, uint64_t seed);

// Returns the problem with the values of input `i` replaced by `values`.
Problem with_values(const Problem& problem, size_t i, Reals values);

// ---- selection of claims and problems

bool has_gradient(const Environment& env, const Claim& claim);
// Whether the claim has a gradient and its dtype is float64. Kinks and domains do not depend on the
// width of the dtype, so the oracle's derivatives are checked in float64 only.
bool has_float64_gradient(const Environment& env, const Claim& claim);

// Returns the claim's differentiable problems: those with finite values, without cases at kinks.
// Input 0 has at most `max_elements_of_input_0` elements.
std::vector<Problem> smooth_problems(const Environment& env, const Claim& claim,
                                     int64_t max_elements_of_input_0 = 2000);

}  // namespace tenon_kit
