#include "conformance/checks/valid_results.h"

#include <algorithm>

namespace tenon_kit {
namespace {

// The values of an operand, broadcast to shape `to`.
Reals broadcast(const Operand& x, const Sizes& to) {
  const Reals values = x.values();
  const Sizes own = x.scalar ? Sizes() : x.shape;
  if (own == to) return values;
  const size_t ahead = to.size() - own.size();
  Reals result;
  Sizes at(to.size(), 0);
  for (int64_t n = count_of(to); n > 0; --n) {
    int64_t from = 0;
    for (size_t axis = 0; axis < own.size(); ++axis) {
      from = from * own[axis] + (own[axis] == 1 ? 0 : at[ahead + axis]);
    }
    result.push_back(values[static_cast<size_t>(from)]);
    for (size_t axis = to.size(); axis-- > 0;) {
      if (++at[axis] < to[axis]) break;
      at[axis] = 0;
    }
  }
  return result;
}

// Computes x y + z for the inputs of `fma`, with a product that is rounded before the addition. If
// `flushes` is true, a subnormal product is flushed to zero.
Reals product_and_sum(const Session& oracle, const Problem& fma, bool flushes) {
  const tenon_dtype dtype = oracle.infer(fma).at(0).first;
  std::vector<Operand> inputs = fma.inputs;
  for (Operand& x : inputs) x = explicit_operand(dtype, x.shape, x.values());
  Problem product;
  product.op = &op_named("mul");
  product.inputs = {inputs.at(0), inputs.at(1)};
  const Result xy = oracle.run(product).at(0);
  Problem sum;
  sum.op = &op_named("add");
  sum.inputs = {explicit_operand(xy.dtype, xy.shape, xy.values()), inputs.at(2)};
  return oracle.run(flushes ? flush_subnormals(sum) : sum).at(0).values();
}

// Whether the op, called on dtype `from` with results of dtype `to`, may return input values
// unchanged. Results that equal an input then cannot reveal a fault.
bool may_return_inputs(const OpFacts& op, tenon_dtype from, tenon_dtype to) {
  const bool is_unsigned = is_integer(from) && !is_signed(from);
  const bool same = from == to || is_bool(from);
  return only_copies_values(op) || (op.name == "cast" && same) ||
         (op.name == "relu" && is_unsigned);
}

}  // namespace

// Returns the additional error allowed for each element; nothing if none is allowed.
Reals slacks_of(const Problem& problem, tenon_dtype dtype, Profile profile, const Sizes& shape,
                const Reals& want) {
  Reals slacks;
  if (!has_slack(*problem.op, dtype, profile)) return slacks;
  std::vector<Reals> inputs;
  for (const Operand& x : problem.inputs) inputs.push_back(broadcast(x, shape));
  for (size_t i = 0; i < want.size(); ++i) {
    Reals own;
    for (const Reals& x : inputs) own.push_back(x[i]);
    slacks.push_back(slack_of(*problem.op, dtype, profile, own, want[i]));
  }
  return slacks;
}

bool has_subnormals(const Problem& problem) {
  return std::any_of(problem.inputs.begin(), problem.inputs.end(), [](const Operand& x) {
    if (x.absent || !is_float(x.dtype)) return false;
    const Reals values = x.values();
    const Real least = smallest_normal(x.dtype);
    return std::any_of(values.begin(), values.end(),
                       [&](Real v) { return v != 0 && real_abs(v) < least; });
  });
}

ValidResults::ValidResults(const Environment& env, const Problem& problem)
    : env_(env), problem_(problem) {
  const OpFacts op = facts_of(problem);
  const bool is_fma = op.name == "fma";
  const auto run = [&](const Problem& own) {
    if (op.numeric == "exact") return env.oracle.run(own);
    // In an fma, the term that breaks a rounding tie may be too small for float64, so float128 is
    // used.
    return env.oracle.run(widen(own, is_fma && kRealIsQuad ? TENON_FLOAT128 : TENON_DTYPE_NONE));
  };
  want_ = run(problem);
  const bool apart = is_fma && (env.features & TENON_FEATURE_IEEE_FMA) == 0;
  if (apart) apart_ = product_and_sum(env.oracle, problem, false);
  // If the product alone is flushed to zero, a further result is valid.
  if (!may_flush(op, env.features) || !(apart || has_subnormals(problem))) return;
  const Problem without = flush_subnormals(problem);
  flushed_ = run(without);
  if (apart) flushed_apart_ = product_and_sum(env.oracle, without, true);
}

// Compares each element of output `output` with all of its valid results.
Verdict ValidResults::compare(size_t output, const Reals& got, tenon_dtype dtype,
                              const Bound& bound, const Reals& slack) const {
  const Reals want = oracle(output);
  std::vector<Answer> answers = {{.oracle = want, .slack = slack, .to = apart_}};
  Reals other;
  if (output < flushed_.size() && flushed_[output].shape == shape(output)) {
    other = flushed_[output].values();
    answers.push_back({.oracle = other, .slack = slack, .to = flushed_apart_});
  }
  return compare_answers(got, dtype, answers, bound);
}

bool ValidResults::can_reveal_fault(size_t output, tenon_dtype dtype) const {
  const Reals want = oracle(output);
  const bool of_bools = std::all_of(problem_.inputs.begin(), problem_.inputs.end(),
                                    [](const Operand& x) { return is_bool(x.dtype); });
  if (!problem_.op->sparse_output && !is_bool(dtype) && !of_bools) {
    return tenon_kit::can_reveal_fault(want, dtype);
  }
  // An output that merely copies one of these inputs does not reveal faults.
  std::vector<Reals> inputs;
  for (const Operand& x : problem_.inputs) {
    if (!may_return_inputs(*problem_.op, x.dtype, dtype)) inputs.push_back(x.values());
  }
  return can_reveal_fault_sparse(want, inputs);
}

}  // namespace tenon_kit
