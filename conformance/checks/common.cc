// Checks the configurations of ops that are common in neural networks (generate/networks.cc):
// results, returned indices, and gradients.

#include <algorithm>

#include "conformance/checks/derivative.h"

namespace tenon_kit {
namespace {

// Whether the claim is tested. A decomposition is the same in every dtype, so signatures that the
// plugin does not claim are tested in float32 only.
bool is_tested_signature(const Claim& claim) {
  return claim.claimed || (!claim.inputs.empty() && claim.inputs[0] == TENON_FLOAT32);
}

// Whether most results equal an input, so that they cannot reveal a fault: a scatter updates few
// elements of a table, and only some updates of bools change the value.
bool mostly_copies_inputs(const Claim& claim) {
  return claim.op->name.starts_with("scatter_") && is_bool(claim.inputs[0]);
}

bool has_common_configurations(const Environment& env, const Claim& claim) {
  return is_tested_signature(claim) && !mostly_copies_inputs(claim) &&
         has_common_problems(*claim.op, env.thorough);
}

std::vector<Problem> common_configurations(const Environment& env, const Claim& claim) {
  return common_problems(claim, env.thorough, env.seed, env.oracle);
}

// Compares the results for one common configuration with the oracle's.
Finding test_common(const Environment& env, const Problem& problem) {
  return judge_values(env, problem, env.device.run(problem));
}

// Whether gradients of the claim's common configurations are tested.
bool has_common_gradient(const Environment& env, const Claim& claim) {
  return has_gradient(env, claim) && has_common_configurations(env, claim) &&
         !claim.op->is_random();
}

// Returns the common configurations whose gradients are checked. Only scatters into tables have the
// sizes of real networks; for other ops of these sizes, the oracle would take minutes.
std::vector<Problem> differentiable_common(const Environment& env, const Claim& claim) {
  const bool is_table = env.thorough && !claim.op->index_rule.empty();
  return common_problems(claim, is_table, env.seed, env.oracle);
}

// Checks that the gradients of one common configuration agree with the oracle's.
Finding test_common_gradient(const Environment& env, const Problem& problem) {
  return find_check("gradient")->test(env, problem);
}

}  // namespace

std::vector<Check> common_checks() {
  return {
      {.name = "common",
       .level = 3,
       .what = "Common configurations of windows, normalisations and attention, and tables with "
               "more than 65,536 rows.",
       .applies = has_common_configurations,
       .problems = common_configurations,
       .test = test_common,
       .of_unclaimed = true},
      {.name = "common_gradient",
       .level = 4,
       .what = "Gradients of the same configurations agree with the oracle's.",
       .applies = has_common_gradient,
       .problems = differentiable_common,
       .test = test_common_gradient,
       .of_unclaimed = true},
  };
}

}  // namespace tenon_kit
