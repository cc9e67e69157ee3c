// Derivatives: those of the oracle against differences of its values in binary128, and those of the
// device against the oracle's.

#include <algorithm>

#include "conformance/checks/check.h"

namespace tenon_kit {
namespace {

using tenon::Tensor;

Reals drawn(size_t n, uint64_t seed) {
  Operand x = plain(TENON_FLOAT64, {static_cast<int64_t>(n)}, seed);
  return x.values();
}

Operand filled(tenon_dtype dtype, const Sizes& shape, Reals values) {
  Operand x;
  x.dtype = dtype;
  x.shape = shape;
  x.fill.values = std::move(values);
  return x;
}

bool is_source(const Operand& x) { return !x.absent && !x.scalar && is_float(x.dtype); }

// The gradients of <outputs, cotangents> by each floating input. Cotangents are drawn.
struct Gradients {
  std::vector<size_t> inputs;
  std::vector<Result> values;
};

// Short numbers, which every dtype holds, so that devices and oracle are given the same.
Reals cotangent_values(const Result& y, size_t i) {
  Reals values = drawn(static_cast<size_t>(count_of(y.shape)), 100 + i);
  for (Real& value : values) value = rounded(value, TENON_BFLOAT16);
  return values;
}

Gradients gradients(const Session& session, const Problem& problem) {
  Gradients result;
  const tenon::ScopeGuard current(session.scope());
  const tenon::Tape tape;
  const std::vector<Tensor> inputs = session.make(problem.inputs);
  std::vector<tenon::Value> sources;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_source(problem.inputs[i])) continue;
    tape.watch(inputs[i]);
    sources.emplace_back(inputs[i]);
    result.inputs.push_back(i);
  }
  const std::vector<Tensor> outputs = session.call(problem, inputs);
  std::vector<Tensor> targets, seeds;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Result y = session.read(outputs[i]);
    if (!is_float(y.dtype)) continue;
    targets.push_back(outputs[i]);
    seeds.push_back(session.make(filled(y.dtype, y.shape, cotangent_values(y, i))));
  }
  if (targets.empty() || sources.empty()) return {};
  for (const Tensor& gradient : tape.gradients(targets, seeds, sources)) {
    result.values.push_back(session.read(gradient));
  }
  return result;
}

// ---- the oracle's derivative against differences

// <outputs, cotangents> where input `i` is moved by `step` times a direction.
Real moved_loss(const Environment& env, const Problem& problem, size_t i, const Reals& direction,
                Real step) {
  Problem moved = problem;
  Reals values = problem.inputs[i].values();
  for (size_t k = 0; k < values.size(); ++k) values[k] += step * direction[k];
  moved.inputs[i] = filled(problem.inputs[i].dtype, problem.inputs[i].shape, values);
  Real total = 0;
  const std::vector<Result> outputs = env.oracle.run(moved);
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (!is_float(outputs[o].dtype)) continue;
    const Reals y = outputs[o].values(), weights = cotangent_values(outputs[o], o);
    for (size_t k = 0; k < y.size(); ++k) total += y[k] * weights[k];
  }
  return total;
}

// Central differences, with the errors of second and fourth order taken out.
template <class F>
Real slope(const F& f) {
  const auto difference = [&](Real h) { return (f(h) - f(-h)) / (2 * h); };
  const Real h = real_scale(1, kRealIsQuad ? -24 : -12);
  const Real a = difference(h), b = difference(h / 2), c = difference(h / 4);
  const Real ab = (4 * b - a) / 3, bc = (4 * c - b) / 3;
  return (16 * bc - ab) / 15;
}

Finding test_differences(const Environment& env, const Problem& problem) {
  const Problem wide = widened(problem, kRealIsQuad ? TENON_FLOAT128 : TENON_FLOAT64);
  const Gradients found = gradients(env.oracle, wide);
  for (size_t g = 0; g < found.inputs.size(); ++g) {
    const size_t i = found.inputs[g];
    const Operand& x = wide.inputs[i];
    if (found.values[g].shape != x.shape) return Finding::fault("a gradient has another shape");
    const Reals direction = drawn(static_cast<size_t>(count_of(x.shape)), 55 + i);
    const Reals gradient = found.values[g].values();
    Real analytic = 0;
    for (size_t k = 0; k < direction.size(); ++k) analytic += gradient[k] * direction[k];
    const Real numeric = slope([&](Real h) { return moved_loss(env, wide, i, direction, h); });
    // At the edge of a domain there is no slope on both sides.
    if (!real_is_finite(analytic) || !real_is_finite(numeric)) continue;
    const Real allowed = Real(1e-8) * std::max({Real(1), real_abs(analytic), real_abs(numeric)});
    if (real_abs(analytic - numeric) <= allowed) continue;
    return Finding::fault("the gradient of input " + std::to_string(i) + " along a direction is " +
                          text(analytic) + ", but differences say " + text(numeric));
  }
  return {};
}

// ---- the device's derivative against the oracle's

Finding test_gradient(const Environment& env, const Problem& problem) {
  const Gradients got = gradients(env.device, problem);
  const Gradients want = gradients(env.oracle, widened(problem));
  Finding finding;
  for (size_t g = 0; g < got.inputs.size() && g < want.values.size(); ++g) {
    const Result& y = got.values[g];
    if (y.shape != want.values[g].shape || y.dtype != problem.inputs[got.inputs[g]].dtype) {
      return Finding::fault("a gradient is of another type than its input");
    }
    // A derivative is a composite: products and sums of what the op itself is made of.
    Reals oracle = want.values[g].values();
    Real largest = 0;
    for (const Real v : oracle) {
      if (real_is_finite(v)) largest = std::max(largest, real_abs(v));
    }
    const double epsilon = std::ldexp(1.0, 1 - facts(y.dtype).precision);
    const double scale = env.profile == Profile::kRelaxed ? 4 : 1;
    const Bound bound = {.rtol = scale * 64 * epsilon,
                         .atol = scale * 16 * epsilon * (1 + static_cast<double>(largest))};
    const Verdict verdict = compare(y.values(), y.dtype, oracle, bound);
    finding.ulp = std::max(finding.ulp, verdict.largest_ulp);
    if (!verdict.passed) {
      return Finding::fault("the gradient of input " + std::to_string(got.inputs[g]) + ": " +
                            verdict.message);
    }
  }
  return finding;
}

bool has_gradient(const Environment& env, const Claim& claim);

std::vector<Problem> smooth_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems;
  for (Problem& own : valid_problems(claim, 4, env.seed, env.oracle)) {
    int64_t n = 0;
    bool finite = own.check_gradient && !own.was_whole, any = false;
    for (const Operand& x : own.inputs) {
      any = any || is_source(x);
      n += count_of(x.shape);
      for (const Real value : x.values()) finite = finite && real_is_finite(value);
    }
    if (!any || !finite || n > 2000) continue;
    own.expected.clear();
    problems.push_back(std::move(own));
  }
  return problems;
}

bool has_gradient(const Environment&, const Claim& claim) {
  return claim.op->differentiable && !claim.outputs.empty() && is_float(claim.outputs[0]) &&
         std::any_of(claim.inputs.begin(), claim.inputs.end(), is_float);
}

// Kinks stay where they are in any width, so differences are asked for once, of float64.
bool has_differences(const Environment& env, const Claim& claim) {
  return has_gradient(env, claim) && claim.outputs[0] == TENON_FLOAT64;
}

}  // namespace

std::vector<Check> gradient_checks() {
  return {
      {"differences", 4, "The oracle's derivative is what differences of its values say.",
       has_differences, smooth_problems, test_differences},
      {"gradient", 4, "The device's derivative is the oracle's.", has_gradient, smooth_problems,
       test_gradient},
  };
}

}  // namespace tenon_kit
