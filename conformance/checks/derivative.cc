#include "conformance/checks/derivative.h"

#include <algorithm>

namespace tenon_kit {
namespace {

using tenon::Tensor;

// The targets of a gradient: the floating-point tensors among `tensors`, and their weights.
struct GradientTargets {
  std::vector<Tensor> targets, cotangents;

  GradientTargets(const Session& session, const std::vector<Tensor>& tensors, Weights weights) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (!is_float(tensors[i].dtype())) continue;
      const Result y = session.read(tensors[i]);
      targets.push_back(tensors[i]);
      cotangents.push_back(session.make(explicit_operand(y.dtype, y.shape, weights(y, i))));
    }
  }
};

}  // namespace

// Returns weights that depend only on `i`, the index of result `y`, and on the element's index.
Reals random_weights(const Result& y, size_t i) {
  Reals values = random_reals(static_cast<size_t>(count_of(y.shape)), 100 + i);
  for (Real& value : values) value = rounded(value, TENON_BFLOAT16);
  return values;
}

// Computes the gradients of the problem's outputs, weighted by `weights`, with a tape in `session`.
Gradients gradients(const Session& session, const Problem& problem, Order order, Weights weights) {
  Gradients result;
  const tenon::ScopeGuard current(session.scope());
  const std::vector<Tensor> inputs = session.make(problem.inputs);
  std::vector<tenon::Value> sources;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_differentiable_operand(problem.inputs[i])) continue;
    sources.emplace_back(inputs[i]);
    result.inputs.push_back(i);
  }
  const auto watching = [&](const tenon::Tape& tape) {
    for (const size_t i : result.inputs) tape.watch(inputs[i]);
  };
  const auto first = [&]() -> std::vector<Tensor> {
    const tenon::Tape tape;
    watching(tape);
    const GradientTargets outputs(session, session.call(problem, inputs), weights);
    if (outputs.targets.empty() || sources.empty()) return {};
    return tape.gradients(outputs.targets, outputs.cotangents, sources);
  };
  const auto second = [&]() -> std::vector<Tensor> {
    const tenon::Tape tape;
    watching(tape);
    const GradientTargets slopes(session, first(), weights);
    if (slopes.targets.empty()) return {};
    return tape.gradients(slopes.targets, slopes.cotangents, sources);
  };
  for (const Tensor& gradient : order == Order::kFirst ? first() : second()) {
    result.values.push_back(session.read(gradient));
  }
  if (result.values.empty()) result.inputs.clear();
  return result;
}

Real weighted_sum(const std::vector<Result>& results) {
  Real total = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!is_float(results[i].dtype)) continue;
    const Reals y = results[i].values(), weights = random_weights(results[i], i);
    for (size_t k = 0; k < y.size(); ++k) total += y[k] * weights[k];
  }
  return total;
}

bool is_differentiable_operand(const Operand& x) {
  return !x.absent && !x.scalar && is_float(x.dtype);
}

Reals random_reals(size_t n, uint64_t seed) {
  return uniform_operand(TENON_FLOAT64, {static_cast<int64_t>(n)}, seed).values();
}

// Returns the problem with the values of input `i` replaced by `values`.
Problem with_values(const Problem& problem, size_t i, Reals values) {
  Problem moved = problem;
  Operand& x = moved.inputs[i];
  x = explicit_operand(x.dtype, x.shape, std::move(values));
  return moved;
}

bool has_gradient(const Environment&, const Claim& claim) {
  return claim.op->differentiable && !claim.outputs.empty() && is_float(claim.outputs[0]) &&
         std::any_of(claim.inputs.begin(), claim.inputs.end(), is_float);
}

bool has_float64_gradient(const Environment& env, const Claim& claim) {
  return has_gradient(env, claim) && claim.outputs[0] == TENON_FLOAT64;
}

namespace {

// Whether the operand has ties (equal values). They arise if a case's values are repeated to fill a
// larger shape. An op may have a kink at a tie.
bool has_ties(const Operand& x) {
  if (!is_differentiable_operand(x) || x.fill.kind != Fill::Kind::kValues) return false;
  Reals values = x.fill.values;
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) != values.end();
}

}  // namespace

namespace {

// Like smooth_problems(), but chooses among the claim's cases and `n_generated` generated problems.
std::vector<Problem> smooth_problems_among(const Environment& env, const Claim& claim,
                                           size_t n_generated, int64_t max_elements_of_input_0) {
  std::vector<Problem> problems;
  for (Problem& own : valid_problems(claim, n_generated, env.seed, env.oracle)) {
    int64_t n = 0;
    bool finite = own.check_gradient && !own.was_whole, any = false;
    for (Operand& x : own.inputs) {
      // Converts scalars to tensors, because scalars have no derivative. The oracle converts them
      // anyway.
      if (is_float(x.dtype)) x.scalar = false;
      any = any || is_differentiable_operand(x);
      n += count_of(x.shape);
      for (const Real value : x.values()) finite = finite && real_is_finite(value);
    }
    if (!any || !finite || n > 2000 || count_of(own.inputs[0].shape) > max_elements_of_input_0)
      continue;
    if (own.name.empty() && std::any_of(own.inputs.begin(), own.inputs.end(), has_ties)) continue;
    own.expected.clear();
    problems.push_back(std::move(own));
  }
  return problems;
}

}  // namespace

std::vector<Problem> smooth_problems(const Environment& env, const Claim& claim,
                                     int64_t max_elements_of_input_0) {
  std::vector<Problem> problems;
  // Starts with few problems, and generates more if all of these have ties or are too large.
  for (size_t n = 4; problems.empty() && n <= 64; n *= 4) {
    problems = smooth_problems_among(env, claim, n, max_elements_of_input_0);
  }
  return problems;
}

}  // namespace tenon_kit
