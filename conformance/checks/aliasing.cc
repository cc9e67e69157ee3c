// Aliasing: passing one tensor twice, or two overlapping views, gives the same bits as separate
// tensors.

#include <algorithm>

#include "conformance/checks/check.h"
#include "conformance/kit/index_rules.h"

namespace tenon_kit {
namespace {

// Whether one tensor can be passed as both input i and input j: both are tensors of the same dtype,
// and neither holds indices.
bool may_share(const Problem& problem, size_t i, size_t j) {
  const Operand &x = problem.inputs[i], &y = problem.inputs[j];
  return is_tensor(x) && is_tensor(y) && x.dtype == y.dtype && !is_index(*problem.op, i) &&
         !is_index(*problem.op, j);
}

// Calls each(i, j) for all pairs of inputs i < j as which one tensor can be passed.
template <class Each>
void for_each_pair(const Problem& problem, Each&& each) {
  for (size_t j = 1; j < problem.inputs.size(); ++j) {
    for (size_t i = 0; i < j; ++i) {
      if (may_share(problem, i, j)) each(i, j);
    }
  }
}

// Problems in which two operands have the same values. Pairs for which such a call is invalid are
// skipped.
std::vector<Problem> problems_with_equal_operands(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems;
  for (const Problem& own : valid_problems(claim, 24, env.seed, env.oracle)) {
    for_each_pair(own, [&](size_t i, size_t j) {
      for (const auto& [from, to] : {std::pair(i, j), std::pair(j, i)}) {
        if (to == 0 && !own.op->index_rule.empty())
          break;  // Replacing input 0 would change its shape, so indices could be out of range.
        Problem problem = own;
        problem.expected.clear();
        problem.inputs[to] = problem.inputs[from];
        if (problems.size() < 12 && is_valid(problem, claim, env.oracle)) {
          problems.push_back(problem);
        }
        if (own.inputs[from].shape == own.inputs[to].shape) break;
      }
    });
  }
  return problems;
}

// Whether the claim has a problem in which two inputs can be the same tensor.
bool has_equal_operands(const Environment& env, const Claim& claim) {
  if (!env.thorough) return false;
  const auto& inputs = claim.inputs;
  const bool has_pair = std::adjacent_find(inputs.begin(), inputs.end()) != inputs.end();
  if (claim.op->elementwise) return has_pair;
  return !problems_with_equal_operands(env, claim).empty();
}

bool have_equal_values(const Operand& x, const Operand& y) {
  return x.shape == y.shape && encode(x.values(), x.dtype) == encode(y.values(), y.dtype);
}

// ---- the same tensor as two operands

// Passes input i also as input j. Returns a description of how the results differ from those of
// separate tensors, or an empty string.
std::string compare_shared_tensor(const Environment& env, const Problem& problem, size_t i,
                                  size_t j) {
  const std::vector<Result> want = env.device.run(problem);
  std::vector<tenon::Tensor> inputs = env.device.make(problem.inputs);
  inputs[j] = inputs[i];
  const std::string fault = bit_difference(env.device.run(problem, inputs), want);
  return fault.empty() ? "" : "are the same tensor, " + fault;
}

// ---- overlapping views of one buffer: the second starts one step of axis 0 later

// Passes overlapping views as inputs i and j. Returns a description of how the results differ from
// those of separate tensors, or an empty string.
std::string compare_overlapping_views(const Environment& env, const Problem& problem, size_t i,
                                      size_t j) {
  const Operand& x = problem.inputs[i];
  if (x.shape.empty() || count_of(x.shape) == 0) return "";
  const int64_t n = x.shape[0], step = count_of(x.shape) / n;
  Operand base = explicit_operand(x);
  base.shape[0] = n + 1;
  Reals& values = base.fill.values;
  // Appends a copy of the first of the n slices along axis 0.
  values.insert(values.end(), values.begin(), values.begin() + step);
  Problem apart = problem;
  for (const auto& [k, from] : {std::pair(i, int64_t{0}), std::pair(j, step)}) {
    apart.inputs[k] = explicit_operand(x.dtype, x.shape,
                                       {values.begin() + from, values.begin() + from + n * step});
  }
  std::vector<tenon::Tensor> inputs = env.device.make(apart.inputs);
  const std::vector<Result> want = env.device.run(apart, inputs);
  const tenon::Tensor whole = env.device.make(base);
  Problem slice;
  slice.op = &op_named("slice");
  slice.attrs["axes"] = Sizes{0};
  for (const auto& [k, from] : {std::pair(i, int64_t{0}), std::pair(j, int64_t{1})}) {
    slice.attrs["starts"] = Sizes{from};
    slice.attrs["ends"] = Sizes{from + n};
    inputs[k] = env.device.call(slice, {whole})[0];
  }
  const std::string fault = bit_difference(env.device.run(apart, inputs), want);
  return fault.empty() ? "" : "are overlapping views, " + fault;
}

// Checks that passing one tensor as two inputs, or overlapping views, gives the same bits as
// separate tensors.
Finding test_equal_operands(const Environment& env, const Problem& problem) {
  Finding finding;
  for_each_pair(problem, [&](size_t i, size_t j) {
    if (!finding.passed || !have_equal_values(problem.inputs[i], problem.inputs[j])) return;
    std::string fault = compare_shared_tensor(env, problem, i, j);
    if (fault.empty()) fault = compare_overlapping_views(env, problem, i, j);
    if (fault.empty()) return;
    finding = Finding::fault("where inputs " + std::to_string(i) + " and " + std::to_string(j) +
                             " " + fault);
  });
  return finding;
}

}  // namespace

std::vector<Check> aliasing_checks() {
  return {
      {"aliasing", 2,
       "Passing one tensor twice, or overlapping views, gives the same bits as separate tensors.",
       has_equal_operands, problems_with_equal_operands, test_equal_operands},
  };
}

}  // namespace tenon_kit
