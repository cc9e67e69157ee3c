// Checks indices: an index out of range is an error that names the violated rule, at any position.
// A negative index counts from the end. device/index_checks.cc launches kernels directly and checks
// what they write to outputs.

#include <fmt/format.h>

#include <algorithm>

#include "conformance/checks/check.h"
#include "conformance/kit/index_rules.h"

namespace tenon_kit {
namespace {

bool takes_indices(const Environment&, const Claim& claim) { return !claim.op->index_rule.empty(); }

// Whether the index input has 1 to 1000 elements and a positive bound, so that each of its indices
// can be replaced by another valid one.
bool has_indices(const Problem& problem, const IndexRule& rule) {
  if (problem.inputs.size() <= rule.input) return false;
  const Operand& x = problem.inputs[rule.input];
  if (!is_tensor(x) || count_of(x.shape) == 0 || count_of(x.shape) > 1000) return false;
  return rule.bound(problem, 0) > 0;
}

// Replaces element `at` of the index input by `value`.
Problem with_index(const Problem& problem, const IndexRule& rule, int64_t at, Real value) {
  Problem result = problem;
  Operand& x = result.inputs[rule.input];
  x = with_values(x, x.values());
  x.fill.values[static_cast<size_t>(at)] = value;
  return result;
}

// Adds variants of the problem with one index out of range: past either end, by one and by the
// maximum of the dtype, at the first and the last position. Also adds a variant with each index
// counted from the end, if the op permits negative indices. If `few` is true, uses only the last
// position.
void add_variants(const Problem& own, const IndexRule& rule, bool few,
                  std::vector<Problem>& problems) {
  const tenon_dtype dtype = own.inputs[rule.input].dtype;
  const int64_t n = count_of(own.inputs[rule.input].shape);
  for (const int64_t at : few ? std::vector<int64_t>{n - 1} : std::vector<int64_t>{0, n - 1}) {
    const int64_t bound = rule.bound(own, at);
    Reals bad = {Real(bound)};
    if (rule.least) bad.push_back(rule.least(bound) - 1);
    bad.push_back(greatest(dtype));
    bad.push_back(least(dtype));
    for (const Real value : bad) {
      if (rounded(value, dtype) != value || is_in_range(own, rule, at, value)) continue;
      problems.push_back(with_index(own, rule, at, value));
    }
  }
  if (!rule.from_end) return;
  Problem from_end = with_index(own, rule, 0, own.inputs[rule.input].values()[0]);
  Reals& values = from_end.inputs[rule.input].fill.values;
  for (int64_t at = 0; at < n; ++at) {
    Real& value = values[static_cast<size_t>(at)];
    const Real bound = rule.bound(own, at);
    if (value >= 0 && value < bound && !is_ignored(own, value)) value -= bound;
  }
  problems.push_back(std::move(from_end));
}

// Adds problems of the composites that take indices of this dtype. A device without a kernel for
// such an op runs its decomposition.
void add_composites(const Environment& env, tenon_dtype index, std::vector<Problem>& problems) {
  for (const OpFacts& op : all_ops()) {
    const IndexRule* const rule = index_rule_of(op);
    if (!op.composite || !rule) continue;
    for (Problem own : registry_cases(op)) {
      if (!own.error.empty() || own.inputs.size() <= rule->input) continue;
      own.inputs[rule->input].dtype = index;
      own.expected.clear();
      own.name.clear();
      if (!has_indices(own, *rule)) continue;
      try {
        env.oracle.infer(own);
      } catch (const tenon::Error&) {
        continue;
      }
      add_variants(own, *rule, false, problems);
      break;
    }
  }
}

// Returns a scatter of 300 updates into 7 elements. If there are many updates for each element,
// devices may use a different algorithm.
Problem with_many_updates(const Claim& claim, uint64_t seed) {
  constexpr int64_t kMany = 300, kPlaces = 7;
  const bool has_tuples = claim.op->name == "scatter_nd";
  Problem problem;
  problem.op = claim.op;
  problem.inputs = {
      uniform_operand(claim.inputs[0], {kPlaces}, seed),
      indices(claim.inputs[1], has_tuples ? Sizes{kMany, 1} : Sizes{kMany}, kPlaces, seed + 1),
      uniform_operand(claim.inputs[2], {kMany}, seed + 2)};
  return problem;
}

std::vector<Problem> index_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems;
  const IndexRule* const rule = index_rule_of(*claim.op);
  if (!rule) return problems;
  size_t n = 0;
  for (Problem& own : valid_problems(claim, 8, env.seed, env.oracle)) {
    own.expected.clear();
    own.name.clear();
    if (!has_indices(own, *rule)) continue;
    add_variants(own, *rule, !env.thorough, problems);
    if (++n == (env.thorough ? 8u : 1u)) break;
  }
  if (claim.op->name == "scatter_elements" || claim.op->name == "scatter_nd") {
    add_variants(with_many_updates(claim, env.seed), *rule, true, problems);
  }
  if (env.thorough && claim.op->name == "gather" && claim.inputs[0] == TENON_FLOAT32) {
    add_composites(env, claim.inputs[1], problems);
  }
  return problems;
}

struct Bad {
  int64_t index, bound;
};

// Returns the first index that is out of range, with its bound; nothing if all are valid.
std::optional<Bad> bad_index(const Problem& problem, const IndexRule& rule) {
  const Reals values = problem.inputs[rule.input].values();
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (is_in_range(problem, rule, at, values[i])) continue;
    return Bad{static_cast<int64_t>(values[i]), rule.bound(problem, at)};
  }
  return std::nullopt;
}

// Checks that the call fails with the expected message. On a synchronous device the call itself
// must fail and return no outputs.
Finding test_bad(const Environment& env, const Problem& problem, const Bad& bad) {
  std::string words = "is outside [";
  if (!problem.op->composite) {
    words = fmt::format("{}: {}: index {} is outside [{}, {})", problem.op->name,
                        problem.op->index_rule, bad.index, bad.index < 0 ? -bad.bound : 0,
                        bad.index < 0 ? 0 : bad.bound);
  }
  const std::vector<tenon::Tensor> inputs = env.device.make(problem.inputs);
  bool returned = false;
  try {
    const std::vector<tenon::Tensor> outputs = env.device.call(problem, inputs);
    returned = true;
    for (const tenon::Tensor& y : outputs) env.device.read(y);
    return Finding::fault(fmt::format(
        "the index {} is outside a size of {}, but the call did not fail", bad.index, bad.bound));
  } catch (const tenon::Error& error) {
    if (error.code() == tenon::Code::kUnimplemented) throw;
    const std::string message(error.message());
    if (error.code() != tenon::Code::kOutOfRange || message.find(words) == std::string::npos) {
      return Finding::fault("the error is not OUT_OF_RANGE with \"" + words + "\": " + message);
    }
    if (returned && (env.features & TENON_FEATURE_SYNCHRONOUS) != 0) {
      return Finding::fault("a synchronous call returned outputs before it reported its error");
    }
    return {};
  }
}

// Checks that an index out of range is an error that names the rule, and that other indices are
// accepted.
Finding test_index(const Environment& env, const Problem& problem) {
  const IndexRule& rule = *index_rule_of(*problem.op);
  // `sane` has 0 for each invalid index, and the equal nonnegative index for each negative one. The
  // device must give the same result for it, also right after a failed call.
  Problem sane = problem;
  Operand& indices = sane.inputs.at(rule.input);
  indices = with_values(indices, indices.values());
  for (size_t i = 0; i < indices.fill.values.size(); ++i) {
    Real& value = indices.fill.values[i];
    const auto at = static_cast<int64_t>(i);
    if (!is_in_range(problem, rule, at, value)) value = 0;
    if (!rule.from_end || value >= 0 || is_ignored(problem, value)) continue;
    const Real same = value + rule.bound(problem, at);
    if (!is_ignored(problem, same)) value = same;
  }
  const std::optional<Bad> bad = bad_index(problem, rule);
  if (!bad) {
    const std::string fault = bit_difference(env.device.run(problem), env.device.run(sane));
    return fault.empty() ? Finding()
                         : Finding::fault("with indices counted from the end, " + fault);
  }
  Finding finding = test_bad(env, problem, *bad);
  if (!finding.passed) return finding;
  finding = judge_values(env, sane, env.device.run(sane));
  finding.trusted = true;
  if (!finding.passed) finding.message = "after an index out of range, " + finding.message;
  return finding;
}

}  // namespace

std::vector<Check> index_checks() {
  return {
      {"indices", 2,
       "An out-of-range index causes an error that names the rule; a valid index does not.",
       takes_indices, index_problems, test_index},
  };
}

}  // namespace tenon_kit
