// First and second derivatives: the oracle's are compared with finite differences in binary128, and
// the device's with the oracle's. Ops that are linear are checked more precisely in adjoints.cc;
// derivatives at kinks are compared with declared values in kinks.cc.

#include <algorithm>
#include <optional>

#include "conformance/checks/derivative.h"

namespace tenon_kit {
namespace {

// ---- the oracle's derivative against finite differences

// Returns the scalar whose derivative is tested, after adding step * direction to input `i`. For
// first-order gradients, the scalar is the weighted sum of the outputs; for second-order gradients,
// the weighted sum of the gradients.
Real loss_at_offset(const Environment& env, const Problem& problem, Order order, size_t i,
                    const Reals& direction, Real step) {
  Reals values = problem.inputs[i].values();
  for (size_t k = 0; k < values.size(); ++k) values[k] += step * direction[k];
  const Problem moved = with_values(problem, i, std::move(values));
  return weighted_sum(order == Order::kFirst ? env.oracle.run(moved)
                                             : gradients(env.oracle, moved, Order::kFirst).values);
}

// Estimates the slope of `f` at 0 by central differences, extrapolated to cancel error terms of
// second and fourth order. Not finite if `f` is not finite nearby.
template <class F>
Real slope(const F& f) {
  if (const Real value = f(0); !real_is_finite(value)) return value;
  const auto difference = [&](Real h) { return (f(h) - f(-h)) / (2 * h); };
  const Real h = real_scale(1, kRealIsQuad ? -24 : -12);
  const Real a = difference(h), b = difference(h / 2), c = difference(h / 4);
  const Real ab = (4 * b - a) / 3, bc = (4 * c - b) / 3;
  return (16 * bc - ab) / 15;
}

// Maximum number of elements to perturb one at a time. This is done if perturbing all elements of
// an input at once would leave the op's domain.
constexpr size_t kMaxAlone = 64;

// Checks that the oracle's derivative of order kOrder agrees with finite differences.
template <Order kOrder>
Finding test_differences(const Environment& env, const Problem& problem) {
  const Problem wide = widen(problem, kRealIsQuad ? TENON_FLOAT128 : TENON_FLOAT64);
  const Gradients found = gradients(env.oracle, wide, kOrder);
  size_t n_compared = 0;
  for (size_t g = 0; g < found.inputs.size(); ++g) {
    const size_t i = found.inputs[g];
    const Operand& x = wide.inputs[i];
    if (found.values[g].shape != x.shape)
      return Finding::fault("a gradient has another shape than its input");
    const Reals gradient = found.values[g].values();
    // Returns nothing if the function is not differentiable at this input, for example at the edge
    // of its domain.
    const auto is_right = [&](const Reals& direction, Finding& finding) -> std::optional<bool> {
      const Real numeric =
          slope([&](Real h) { return loss_at_offset(env, wide, kOrder, i, direction, h); });
      if (!real_is_finite(numeric)) return std::nullopt;
      ++n_compared;
      Real analytic = 0;
      for (size_t k = 0; k < direction.size(); ++k) {
        if (direction[k] != 0) analytic += gradient[k] * direction[k];
      }
      const Real allowed = Real(1e-8) * std::max({Real(1), real_abs(analytic), real_abs(numeric)});
      if (real_is_finite(analytic) && real_abs(analytic - numeric) <= allowed) return true;
      finding =
          Finding::fault("the gradient of input " + std::to_string(i) + " along a direction is " +
                         text(analytic) + ", but the finite difference is " + text(numeric));
      return false;
    };
    Finding finding;
    const Reals all = random_reals(static_cast<size_t>(count_of(x.shape)), 55 + i);
    const std::optional<bool> whole = is_right(all, finding);
    if (whole && !*whole) return finding;
    if (whole) continue;
    for (size_t k = 0; k < std::min(all.size(), kMaxAlone); ++k) {
      Reals alone(all.size(), 0);
      alone[k] = all[k];
      if (!is_right(alone, finding).value_or(true)) return finding;
    }
  }
  return {.trusted = n_compared > 0};
}

// ---- the device's derivative against the oracle's

// Returns the error bound of a gradient of the problem that has dtype `dtype`.
Bound bound_of_gradient(const Environment& env, const Problem& problem, tenon_dtype dtype,
                        Order order) {
  double k = 1;
  for (const Operand& x : problem.inputs) {
    for (const int64_t size : x.shape) k = std::max(k, static_cast<double>(size));
  }
  Bound bound = gradient_bound_of(*problem.op, dtype, env.profile, env.features, k);
  if (order == Order::kSecond) bound.rtol *= 4, bound.atol *= 4;
  return bound;
}

// Checks that the device's gradients of order kOrder agree with the oracle's.
template <Order kOrder>
Finding test_gradient(const Environment& env, const Problem& problem) {
  const Gradients got = gradients(env.device, problem, kOrder);
  const Gradients want = gradients(env.oracle, widen(problem), kOrder);
  if (got.inputs != want.inputs)
    return Finding::fault("the device differentiates with respect to other inputs than the oracle");
  Finding finding;
  for (size_t g = 0; g < got.inputs.size(); ++g) {
    const Result& y = got.values[g];
    if (y.shape != want.values[g].shape || y.dtype != problem.inputs[got.inputs[g]].dtype) {
      return Finding::fault("a gradient has another dtype or shape than its input");
    }
    const Bound bound = bound_of_gradient(env, problem, y.dtype, kOrder);
    const Verdict verdict = compare(y.values(), y.dtype, want.values[g].values(), bound);
    finding.ulp = std::max(finding.ulp, verdict.largest_ulp);
    if (!verdict.passed) {
      return Finding::fault("the gradient of input " + std::to_string(got.inputs[g]) + ": " +
                            verdict.message);
    }
  }
  return finding;
}

// Whether the device's gradient of the claim is tested. A decomposition is the same in every dtype,
// so gradients of unclaimed signatures are tested in float32 only.
bool has_own_gradient(const Environment& env, const Claim& claim) {
  return has_gradient(env, claim) && (claim.claimed || claim.outputs[0] == TENON_FLOAT32);
}

std::vector<Problem> all_smooth_problems(const Environment& env, const Claim& claim) {
  return smooth_problems(env, claim);
}

std::vector<Problem> few_smooth_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = smooth_problems(env, claim, 200);
  if (problems.size() > (env.thorough ? 4 : 1)) problems.resize(env.thorough ? 4 : 1);
  return problems;
}

}  // namespace

std::vector<Check> gradient_checks() {
  return {
      {.name = "differences",
       .level = 4,
       .what = "The oracle's gradient agrees with finite differences of its values.",
       .applies = has_float64_gradient,
       .problems = all_smooth_problems,
       .test = test_differences<Order::kFirst>,
       .of_unclaimed = true},
      {.name = "gradient",
       .level = 4,
       .what = "The device's gradient agrees with the oracle's.",
       .applies = has_own_gradient,
       .problems = all_smooth_problems,
       .test = test_gradient<Order::kFirst>,
       .of_unclaimed = true},
      {.name = "second_differences",
       .level = 4,
       .what = "The oracle's second derivative agrees with finite differences of its first.",
       .applies = has_float64_gradient,
       .problems = few_smooth_problems,
       .test = test_differences<Order::kSecond>,
       .of_unclaimed = true},
      {.name = "second_gradient",
       .level = 4,
       .what = "The device's second derivative agrees with the oracle's.",
       .applies = has_own_gradient,
       .problems = few_smooth_problems,
       .test = test_gradient<Order::kSecond>,
       .of_unclaimed = true},
  };
}

}  // namespace tenon_kit
