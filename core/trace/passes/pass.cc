#include "core/trace/passes/pass.h"

#include <iterator>

#include "core/base/error.h"
#include "core/dispatch/context.h"

namespace tenon {
namespace {

constexpr Pass kPasses[] = {
    {"verify", "Checks that the graph is well-formed, before and after the other passes.", verify},
    {"select", "Computes both sides of small elementwise branches and selects results.",
     select_branches},
    {"simplify", "Replaces calls that are identities, such as x + 0, by their input.", simplify},
    {"fold", "Computes calls whose inputs are all constants once, when it runs.", fold_constants},
    {"cse", "Merges equal calls (common subexpression elimination).",
     eliminate_common_subexpressions},
    {"dce",
     "Removes calls whose results are unused, even if they would fail (dead-code elimination).",
     eliminate_dead_code},
    {"fuse", "Merges elementwise calls and row reductions over the same elements into one launch.",
     nullptr},  // Implemented in loop_groups.cc; transforms launch plans, not graphs.
};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

size_t find_pass(std::string_view name) {
  std::string names;
  for (size_t i = 0; i < std::size(kPasses); ++i) {
    if (kPasses[i].name == name) return i;
    names += names.empty() ? "" : ", ";
    names += kPasses[i].name;
  }
  fail(Code::kNotFound, "there is no pass {}; there are {}", {name, names});
}

bool is_disabled(Scope& scope, std::string_view name) {
  return scope.context().is_pass_disabled(find_pass(name));
}

std::shared_ptr<Graph> run_passes(Scope& scope, const Graph& graph, Tensors& constants) {
  std::shared_ptr<Graph> result;
  for (size_t i = 0; i < std::size(kPasses); ++i) {
    if (!kPasses[i].run || scope.context().is_pass_disabled(i)) continue;
    auto next = kPasses[i].run(scope, result ? *result : graph, constants);
    if (next) result = std::move(next);
  }
  if (result && !is_disabled(scope, "verify")) verify(scope, *result, constants);
  return result;
}

}  // namespace tenon
