// Generates problems of ops outside all families from their cases. Replaces one size of a case
// wherever it occurs; multiples of it are scaled too, or left alone. Type inference rejects invalid
// results.

#include <algorithm>

#include "conformance/generate/generate.h"
#include "conformance/kit/index_rules.h"

namespace tenon_kit {
namespace {

bool has_uniform_values(const Operand& x) { return x.fill.kind == Fill::Kind::kUniform; }

// Whether the operand's values may be repeated. Some cases list values that are numerically hard on
// purpose, and repeating these would make them harder.
bool may_repeat_values(const Operand& x) {
  return has_uniform_values(x) || !is_float(x.dtype) ||
         std::all_of(x.fill.values.begin(), x.fill.values.end(),
                     [](Real value) { return real_abs(value) <= 100; });
}

// Replaces indices that are out of range by valid ones. Returns false if no index is valid.
bool wrap_indices(Problem& problem) {
  const IndexRule* const rule = index_rule_of(*problem.op);
  if (!rule || problem.inputs.size() <= rule->input) return true;
  Operand& x = problem.inputs[rule->input];
  if (x.absent) return true;
  Reals values = x.values();
  bool changed = false;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (is_in_range(problem, *rule, at, values[i])) continue;
    const int64_t bound = rule->bound(problem, at);
    if (bound == 0) return false;
    const int64_t rest = static_cast<int64_t>(values[i]) % bound;
    values[i] = rest < 0 ? rest + bound : rest;
    changed = true;
  }
  if (changed) x = with_values(x, std::move(values));
  return true;
}

}  // namespace

void add_resized(const Claim& claim, Draw& draw, std::vector<Problem>& problems) {
  if (draw.wish().rank >= 0) return;  // The rank of a case is fixed.
  std::vector<Problem> templates = retargeted_cases(claim);
  std::erase_if(templates, [](const Problem& p) {
    return std::any_of(p.inputs.begin(), p.inputs.end(), [](const Operand& x) {
      return !x.absent && (x.scalar || count_of(x.shape) == 0 || !may_repeat_values(x));
    });
  });
  if (templates.empty()) return;

  Problem problem = draw.one_of(templates);
  problem.expected.clear();
  problem.name.clear();
  problem.rtol = problem.atol = -1;
  Sizes sizes;
  for (const Operand& x : problem.inputs) sizes.insert(sizes.end(), x.shape.begin(), x.shape.end());
  std::erase_if(sizes, [](int64_t size) { return size < 2; });
  if (sizes.empty()) return;
  int64_t from = draw.one_of(sizes);
  int64_t to = draw.coin() ? draw.between(1, 9) : draw.one_of(edge_sizes());
  bool multiples = draw.coin();
  if (draw.has_size_request()) {
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    from = sizes[static_cast<size_t>(draw.wish().turn) % sizes.size()];
    to = draw.wish().size;
    multiples = false;
  }
  for (Operand& x : problem.inputs) {
    if (x.absent) continue;
    Sizes shape = x.shape;
    for (int64_t& size : shape) {
      if (size == from || (multiples && size % from == 0)) size = size / from * to;
    }
    if (count_of(shape) > (draw.has_size_request() ? 5000 : 20000)) return;
    resize_operand(x, shape);
    if (has_uniform_values(x)) x.fill.seed = draw.seed();
  }
  if (wrap_indices(problem)) problems.push_back(std::move(problem));
}

}  // namespace tenon_kit
