// Derivatives, and those of derivatives: the oracle's against differences of what they are taken
// of, in binary128, and the device's against the oracle's.

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

// Short numbers, which every dtype holds, so that devices and oracle are given the same.
Reals cotangent_values(const Result& y, size_t i) {
  Reals values = drawn(static_cast<size_t>(count_of(y.shape)), 100 + i);
  for (Real& value : values) value = rounded(value, TENON_BFLOAT16);
  return values;
}

// What is differentiated next: the floating ones of some tensors, and what each is weighed by.
struct Weighed {
  std::vector<Tensor> targets, cotangents;

  Weighed(const Session& session, const std::vector<Tensor>& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (!is_float(tensors[i].dtype())) continue;
      const Result y = session.read(tensors[i]);
      targets.push_back(tensors[i]);
      cotangents.push_back(session.make(filled(y.dtype, y.shape, cotangent_values(y, i))));
    }
  }
};

// The gradients of <outputs, cotangents> by each floating input, or those of <gradients,
// cotangents>.
enum class Order { kFirst, kSecond };

struct Gradients {
  std::vector<size_t> inputs;
  std::vector<Result> values;
};

Gradients gradients(const Session& session, const Problem& problem, Order order) {
  Gradients result;
  const tenon::ScopeGuard current(session.scope());
  const std::vector<Tensor> inputs = session.make(problem.inputs);
  std::vector<tenon::Value> sources;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_source(problem.inputs[i])) continue;
    sources.emplace_back(inputs[i]);
    result.inputs.push_back(i);
  }
  const auto watching = [&](const tenon::Tape& tape) {
    for (const size_t i : result.inputs) tape.watch(inputs[i]);
  };
  const auto first = [&]() -> std::vector<Tensor> {
    const tenon::Tape tape;
    watching(tape);
    const Weighed outputs(session, session.call(problem, inputs));
    if (outputs.targets.empty() || sources.empty()) return {};
    return tape.gradients(outputs.targets, outputs.cotangents, sources);
  };
  const auto second = [&]() -> std::vector<Tensor> {
    const tenon::Tape tape;
    watching(tape);
    const Weighed slopes(session, first());
    if (slopes.targets.empty()) return {};
    return tape.gradients(slopes.targets, slopes.cotangents, sources);
  };
  for (const Tensor& gradient : order == Order::kFirst ? first() : second()) {
    result.values.push_back(session.read(gradient));
  }
  if (result.values.empty()) result.inputs.clear();
  return result;
}

// ---- the oracle's derivative against differences

// What the derivative of that order is one of, where input `i` is moved by `step` times a
// direction.
Real moved_loss(const Environment& env, const Problem& problem, Order order, size_t i,
                const Reals& direction, Real step) {
  Problem moved = problem;
  Reals values = problem.inputs[i].values();
  for (size_t k = 0; k < values.size(); ++k) values[k] += step * direction[k];
  moved.inputs[i] = filled(problem.inputs[i].dtype, problem.inputs[i].shape, values);
  Real total = 0;
  const std::vector<Result> outputs = order == Order::kFirst
                                          ? env.oracle.run(moved)
                                          : gradients(env.oracle, moved, Order::kFirst).values;
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

template <Order kOrder>
Finding test_differences(const Environment& env, const Problem& problem) {
  const Problem wide = widened(problem, kRealIsQuad ? TENON_FLOAT128 : TENON_FLOAT64);
  const Gradients found = gradients(env.oracle, wide, kOrder);
  for (size_t g = 0; g < found.inputs.size(); ++g) {
    const size_t i = found.inputs[g];
    const Operand& x = wide.inputs[i];
    if (found.values[g].shape != x.shape) return Finding::fault("a gradient has another shape");
    const Reals direction = drawn(static_cast<size_t>(count_of(x.shape)), 55 + i);
    const Reals gradient = found.values[g].values();
    Real analytic = 0;
    for (size_t k = 0; k < direction.size(); ++k) analytic += gradient[k] * direction[k];
    const Real numeric =
        slope([&](Real h) { return moved_loss(env, wide, kOrder, i, direction, h); });
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

template <Order kOrder>
Finding test_gradient(const Environment& env, const Problem& problem) {
  const Gradients got = gradients(env.device, problem, kOrder);
  const Gradients want = gradients(env.oracle, widened(problem), kOrder);
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
    const double scale =
        (env.profile == Profile::kRelaxed ? 4 : 1) * (kOrder == Order::kFirst ? 1 : 4);
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

std::vector<Problem> few_smooth_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = smooth_problems(env, claim);
  std::erase_if(problems, [](const Problem& p) { return count_of(p.inputs[0].shape) > 200; });
  if (problems.size() > (env.thorough ? 4 : 1)) problems.resize(env.thorough ? 4 : 1);
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
       has_differences, smooth_problems, test_differences<Order::kFirst>},
      {"gradient", 4, "The device's derivative is the oracle's.", has_gradient, smooth_problems,
       test_gradient<Order::kFirst>},
      {"second_differences", 4,
       "The oracle's second derivative is what differences of its first say.", has_differences,
       few_smooth_problems, test_differences<Order::kSecond>},
      {"second_gradient", 4, "The device's second derivative is the oracle's.", has_gradient,
       few_smooth_problems, test_gradient<Order::kSecond>},
  };
}

}  // namespace tenon_kit
