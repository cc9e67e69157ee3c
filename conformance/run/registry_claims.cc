#include "conformance/run/registry_claims.h"

#include <algorithm>
#include <set>
#include <tenon/tenon.hpp>

#include "conformance/oracle/oracle.h"

namespace tenon_kit {
namespace {

constexpr tenon_dtype kFloats[] = {TENON_FLOAT16, TENON_BFLOAT16, TENON_FLOAT32, TENON_FLOAT64};

// Returns the claims of the plugin `ref`.
std::vector<Claim> claims_of_ref() {
  const tenon_plugin* plugin = nullptr;
  tenon::check(query_oracle(tenon_host_table(), &plugin));
  std::vector<Claim> rows = read_claims(*plugin).rows;
  std::erase_if(rows, [](const Claim& claim) {
    const auto wide = [](tenon_dtype d) { return d == TENON_FLOAT128; };
    return std::any_of(claim.inputs.begin(), claim.inputs.end(), wide) ||
           std::any_of(claim.outputs.begin(), claim.outputs.end(), wide);
  });
  return rows;
}

// Computes the claim for a case with its floating-point dtypes replaced by `to`. Returns false if
// the op does not support the dtype `to`.
bool claim_of(const Session& oracle, Problem problem, tenon_dtype to, Claim& claim) {
  bool has_float = false;
  for (Operand& x : problem.inputs) {
    const bool replaced = !x.absent && is_float(x.dtype);
    has_float = has_float || replaced;
    if (replaced) x.dtype = to;
    x.scalar = false;
    claim.inputs.push_back(x.absent ? to : x.dtype);
  }
  if (!has_float && to != TENON_FLOAT32) return false;
  try {
    for (const auto& [dtype, shape] : oracle.infer(problem)) claim.outputs.push_back(dtype);
  } catch (const tenon::Error&) {
    return false;
  }
  claim.dtypes = dtypes_text(claim.inputs, claim.outputs);
  return true;
}

// Derives the claims of an op that `ref` does not implement from the op's cases.
std::vector<Claim> claims_of_cases(const Session& oracle, const OpFacts& op) {
  std::vector<Claim> rows;
  for (const Problem& problem : registry_cases(op)) {
    if (!problem.error.empty()) continue;
    for (const tenon_dtype to : kFloats) {
      Claim claim = {.op = &op};
      if (claim_of(oracle, problem, to, claim)) rows.push_back(std::move(claim));
    }
  }
  return rows;
}

}  // namespace

void add_unclaimed(const Session& oracle, Claims& claims) {
  std::set<std::pair<uint32_t, std::string>> seen;
  for (const Claim& claim : claims.rows) seen.emplace(claim.op->id, claim.dtypes);
  const auto add = [&](std::vector<Claim> rows) {
    for (Claim& claim : rows) {
      claim.claimed = false;
      if (seen.emplace(claim.op->id, claim.dtypes).second) claims.rows.push_back(std::move(claim));
    }
  };
  std::vector<Claim> loops = claims_of_ref();
  std::set<const OpFacts*> with_loop;
  for (const Claim& claim : loops) with_loop.insert(claim.op);
  add(std::move(loops));
  for (const OpFacts& op : all_ops()) {
    if (!with_loop.contains(&op)) add(claims_of_cases(oracle, op));
  }
}

}  // namespace tenon_kit
