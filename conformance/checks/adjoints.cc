// For an input in which an op is linear, the derivative is checked exactly, without finite
// differences: <v, f(u) - f(0)> = <J^T v, u> for any u and v. Linearity is determined numerically,
// because it also depends on attributes.

#include <algorithm>
#include <map>

#include "conformance/checks/derivative.h"

namespace tenon_kit {
namespace {

// Maximum relative deviation from linearity at which an op counts as linear. It is far above the
// rounding error of the oracle's widest format (binary128, or else float64), and far below the
// deviation of a nonlinear op.
constexpr double kRounding = kRealIsQuad ? 1e-24 : 1e-12;
constexpr double kTolerance = 1e-12;

size_t count_input_elements(const Problem& problem, size_t i) {
  return static_cast<size_t>(count_of(problem.inputs[i].shape));
}

// Returns random values for input `i`.
Reals random_values(const Problem& problem, size_t i, uint64_t seed) {
  return random_reals(count_input_elements(problem, i), 70 + 2 * i + seed);
}

// Whether the outputs are linear in input `i`. False if the input does not affect the outputs,
// because comparing zero gradients would prove nothing.
bool is_linear_in(const Session& oracle, const Problem& wide, size_t i) {
  if (count_input_elements(wide, i) == 0) return false;
  const Reals u = random_values(wide, i, 0), w = random_values(wide, i, 1);
  const auto at = [&](Real a, Real b) {
    Reals x(u.size());
    for (size_t k = 0; k < x.size(); ++k) x[k] = a * u[k] + b * w[k];
    return weighted_sum(oracle.run(with_values(wide, i, std::move(x))));
  };
  const Real zero = at(0, 0), at_u = at(1, 0) - zero, at_w = at(0, 1) - zero;
  if (at_u == 0 && at_w == 0) return false;
  constexpr std::pair<double, double> kWays[] = {{1, 1}, {-1.4375, 0.6}, {0.3, -2.2}};
  return std::all_of(std::begin(kWays), std::end(kWays), [&](const auto& way) {
    const Real a = way.first, b = way.second;
    const Real want = a * at_u + b * at_w;
    const Real size = real_abs(zero) + real_abs(a * at_u) + real_abs(b * at_w);
    return real_abs(at(a, b) - zero - want) <= Real(kRounding) * size;  // False for NaN.
  });
}

// Returns the problem in binary128, or in float64 if the compiler does not support binary128.
Problem in_binary128(const Problem& problem) {
  return widen(problem, kRealIsQuad ? TENON_FLOAT128 : TENON_FLOAT64);
}

// Returns the indices of the float64 inputs in which the problem is linear.
std::vector<size_t> linear_inputs(const Environment& env, const Problem& problem) {
  const Problem wide = in_binary128(problem);
  std::vector<size_t> found;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const Operand& x = problem.inputs[i];
    if (!is_differentiable_operand(x) || x.dtype != TENON_FLOAT64) continue;
    try {
      if (is_linear_in(env.oracle, wide, i)) found.push_back(i);
    } catch (const tenon::Error&) {
      // The op fails for some values of this input, so it is not linear in it, and this check skips
      // the input. If the failure is a fault, the check `differences` reports it.
    }
  }
  return found;
}

std::vector<Problem> linear_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = smooth_problems(env, claim);
  std::erase_if(problems, [&](const Problem& p) { return linear_inputs(env, p).empty(); });
  return problems;
}

// Whether a problem of the claim is linear in an input. Caches the results, which are expensive.
bool has_linear_input(const Environment& env, const Claim& claim) {
  if (!env.thorough || !has_float64_gradient(env, claim)) return false;
  static std::map<std::pair<uint32_t, std::string>, bool> known;
  const auto [place, is_new] = known.try_emplace({claim.op->id, claim.dtypes}, false);
  if (is_new) {
    const std::vector<Problem> problems = smooth_problems(env, claim);
    place->second = std::any_of(problems.begin(), problems.end(),
                                [&](const Problem& p) { return !linear_inputs(env, p).empty(); });
  }
  return place->second;
}

// Checks <v, f(u) - f(0)> = <J^T v, u> for input `i`, with random u and v.
Finding check_adjoint(const Session& session, const Problem& problem, size_t i, Profile profile) {
  const Reals u = random_values(problem, i, 0);
  const Problem at_u = with_values(problem, i, u);
  const Problem at_zero = with_values(problem, i, Reals(u.size(), 0));
  const Gradients found = gradients(session, at_u, Order::kFirst);
  const auto place = std::find(found.inputs.begin(), found.inputs.end(), i) - found.inputs.begin();
  const Reals gradient = found.values.at(static_cast<size_t>(place)).values();
  if (gradient.size() != u.size())
    return Finding::fault("a gradient has another shape than its input");
  const Real difference = weighted_sum(session.run(at_u)) - weighted_sum(session.run(at_zero));
  Real product = 0;
  for (size_t k = 0; k < u.size(); ++k) product += gradient[k] * u[k];
  const Real allowed = Real((profile == Profile::kRelaxed ? 4 : 1) * kTolerance) *
                       std::max({Real(1), real_abs(difference), real_abs(product)});
  if (real_abs(difference - product) <= allowed) return {};
  return Finding::fault("the op is linear in input " + std::to_string(i) +
                        ": <v, f(u) - f(0)> is " + text(difference) + ", but <J^T v, u> is " +
                        text(product));
}

// Checks the oracle's derivative for each input in which the problem is linear.
Finding test_oracle(const Environment& env, const Problem& problem) {
  for (const size_t i : linear_inputs(env, problem)) {
    const Finding finding = check_adjoint(env.oracle, in_binary128(problem), i, env.profile);
    if (!finding.passed) return finding;
  }
  return {};
}

// Checks the device's derivative for each input in which the problem is linear.
Finding test_device(const Environment& env, const Problem& problem) {
  for (const size_t i : linear_inputs(env, problem)) {
    const Finding finding = check_adjoint(env.device, problem, i, env.profile);
    if (!finding.passed) return finding;
  }
  return {};
}

}  // namespace

std::vector<Check> adjoint_checks() {
  return {
      {.name = "adjoint_of_definition",
       .level = 4,
       .what = "Where an op is linear, the oracle's gradient is its adjoint.",
       .applies = has_linear_input,
       .problems = linear_problems,
       .test = test_oracle,
       .of_unclaimed = true},
      {.name = "adjoint",
       .level = 4,
       .what = "Where an op is linear, the device's float64 gradient is its adjoint.",
       .applies = has_linear_input,
       .problems = linear_problems,
       .test = test_device},
  };
}

}  // namespace tenon_kit
