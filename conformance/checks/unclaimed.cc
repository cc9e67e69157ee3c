// Checks unclaimed signatures: the device runs a composite op by its decomposition, and the result
// must be right.

#include "conformance/checks/check.h"

namespace tenon_kit {
namespace {

std::vector<Problem> unclaimed_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = valid_problems(claim, 0, env.seed, env.oracle);
  const size_t most = env.thorough ? 6 : 1;
  if (problems.size() > most) problems.resize(most);
  if (!takes_all_halves(env, claim)) return problems;
  for (Problem& problem : all_halves(env, claim)) problems.push_back(std::move(problem));
  return problems;
}

// Whether the op accepts a wider float dtype than the problem's. Some linear algebra ops do not.
bool can_widen(const Environment& env, const Problem& problem) {
  try {
    env.oracle.infer(widen(problem));
    return true;
  } catch (const tenon::Error&) {
    return false;
  }
}

// Checks that an op with an unclaimed signature gives right results, which its decomposition
// computes.
Finding test_unclaimed(const Environment& env, const Problem& problem) {
  const std::vector<Result> got = env.device.run(problem);
  // Random and uninitialised results are compared with literal cases only.
  Finding finding;
  if (!problem.op->is_random() && can_widen(env, problem))
    finding = judge_decomposition(env, problem, got);
  finding.trusted = true;
  if (!finding.passed || problem.expected.empty()) return finding;
  return find_check("literal")->test(env, problem);
}

}  // namespace

Finding judge_decomposition(const Environment& env, Problem problem,
                            const std::vector<Result>& got) {
  OpFacts op = *problem.op;
  const bool half = !got.empty() && is_float(got[0].dtype) && facts(got[0].dtype).size == 2;
  if (half && op.numeric != "exact") op.numeric = "composite";
  problem.op = &op;
  return judge_values(env, problem, got);
}

std::vector<Check> unclaimed_checks() {
  return {{kUnclaimedCheck, 3,
           "A signature that is not claimed runs as its decomposition and is right, or is refused.",
           always, unclaimed_problems, test_unclaimed}};
}

}  // namespace tenon_kit
