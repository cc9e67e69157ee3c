// Checks results for random inputs, for the registry's literal cases, and for all 16-bit floats.
// Special values are in specials.cc.

#include <algorithm>

#include "conformance/checks/check.h"
#include "conformance/checks/valid_results.h"

namespace tenon_kit {
namespace {

// Checks the results of one problem against the oracle's.
Finding test_value(const Environment& env, const Problem& problem) {
  return judge_values(env, problem, env.device.run(problem));
}

bool is_primitive(const Environment&, const Claim& claim) { return !claim.op->composite; }
bool is_composite(const Environment&, const Claim& claim) { return claim.op->composite; }

std::vector<Problem> value_problems(const Environment& env, const Claim& claim) {
  return valid_problems(claim, env.thorough ? 24 : 4, env.seed, env.oracle);
}

// ---- literal: expected values listed in the registry's cases, which were computed without Tenon

std::vector<Problem> literal_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = valid_problems(claim, 0, env.seed, env.oracle);
  std::erase_if(problems, [](const Problem& p) { return p.expected.empty(); });
  return problems;
}

// Checks the results against the outputs that the problem, a case of the registry, lists.
Finding test_literal(const Environment& env, const Problem& problem) {
  Finding finding;
  const std::vector<Result> got = env.device.run(problem);
  for (size_t i = 0; i < problem.expected.size() && i < got.size(); ++i) {
    const Operand& want = problem.expected[i];
    std::string fault = compare_types(got[i], want.dtype, want.shape);
    if (fault.empty()) {
      // Accumulated literals get a tolerance of 1e-5, because the listed decimals are rounded.
      Bound bound = bound_of(*problem.op, want.dtype, env.profile, env.features);
      if (bound.accumulates) bound.rtol = 1e-5, bound.atol = 1e-5;
      if (problem.op->numeric != "exact") bound.ulp = std::max(bound.ulp, 1.0);
      if (problem.rtol >= 0) bound.rtol = problem.rtol;
      if (problem.atol >= 0) bound.atol = problem.atol;
      const Reals values = want.values();
      const Reals slacks = slacks_of(problem, want.dtype, env.profile, want.shape, values);
      Verdict verdict = compare(got[i].values(), want.dtype, values, bound, slacks);
      // If the device may flush subnormals to zero, which the literals do not account for, compares
      // with all valid results.
      if (!verdict.passed && may_flush(*problem.op, env.features) && has_subnormals(problem)) {
        verdict = ValidResults(env, problem).compare(i, got[i].values(), want.dtype, bound, slacks);
      }
      finding.ulp = std::max(finding.ulp, verdict.largest_ulp);
      if (!verdict.passed) fault = verdict.message;
    }
    if (!fault.empty()) return Finding::fault("output " + std::to_string(i) + ": " + fault);
  }
  return finding;
}

// ---- determinism: repeated runs give the same bits

std::vector<Problem> determinism_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = some_problems(env, claim);
  if (problems.size() > 6) problems.resize(6);
  return problems;
}

// Checks that repeated calls give the same bits, with any number of threads.
Finding test_determinism(const Environment& env, const Problem& problem) {
  const std::vector<Result> first = env.device.run(problem);
  for (const uint32_t threads : {1u, 2u, 4u}) {
    const std::shared_ptr<Session> other = env.with_threads(threads);
    if (const std::string fault = bit_difference(other->run(problem), first); !fault.empty()) {
      return Finding::fault("with " + std::to_string(threads) + " threads, " + fault);
    }
  }
  return {};
}

bool claims_determinism(const Environment& env, const Claim&) {
  return env.profile == Profile::kStrict && env.with_threads;
}

}  // namespace

bool takes_all_halves(const Environment& env, const Claim& claim) {
  return env.thorough && claim.op->elementwise && claim.inputs.size() == 1 &&
         is_float(claim.inputs[0]) && facts(claim.inputs[0]).size == 2;
}

std::vector<Problem> all_halves(const Environment&, const Claim& claim) {
  Operand x;
  x.dtype = claim.inputs[0];
  x.shape = {65536};
  std::vector<std::byte> bytes;
  for (int i = 0; i < 65536; ++i) {
    bytes.push_back(static_cast<std::byte>(i & 0xff));
    bytes.push_back(static_cast<std::byte>(i >> 8));
  }
  x.fill.values = decode(bytes, x.dtype);
  Problem problem;
  problem.op = claim.op;
  problem.inputs = {std::move(x)};
  // One problem for each variant of attributes in the registry's cases.
  std::vector<Problem> problems;
  for (const Problem& own : retargeted_cases(claim)) {
    const bool known = std::any_of(problems.begin(), problems.end(),
                                   [&](const Problem& p) { return p.attrs == own.attrs; });
    if (known) continue;
    problems.push_back(problem);
    problems.back().attrs = own.attrs;
  }
  if (problems.empty()) problems.push_back(problem);
  return problems;
}

std::vector<Check> value_checks() {
  return {
      {"value", 2, "Results agree with the oracle's within the op's error bound.", is_primitive,
       value_problems, test_value, /*of_kernel=*/true},
      {"fused", 3, "A kernel of a composite returns the results of its decomposition.",
       [](const Environment& env, const Claim& c) {
         return is_composite(env, c) && !c.op->is_random();
       },
       value_problems, test_value, /*of_kernel=*/true},
      {"literal", 2, "Results agree with the literal expectations of the registry's cases.",
       [](const Environment& env, const Claim& c) { return !literal_problems(env, c).empty(); },
       literal_problems, test_literal},
      {"all_halves", 2, "Results are right for every 16-bit float.", takes_all_halves, all_halves,
       run_and_judge},
      {"determinism", 2, "Repeated calls give the same bits, with any number of threads.",
       claims_determinism, determinism_problems, test_determinism},
  };
}

}  // namespace tenon_kit
