#include "core/trace/passes/pass.h"

#include <iterator>

#include "core/base/error.h"
#include "core/dispatch/context.h"

namespace tenon {
namespace {

constexpr Pass kPasses[] = {
    {"verify", "what the code says of itself is checked, before the others and behind them",
     verify},
    {"simplify", "what an identity says is an input becomes that", simplify},
    {"fold", "what depends on nothing is computed once", fold_constants},
    {"share", "equal calls are made once", eliminate_common_subexpressions},
    {"drop", "calls that nothing needs are not made, even where they would fail",
     eliminate_dead_code},
    {"fuse", "calls over the same elements are one launch", nullptr},  // program_fuse.cc
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

std::shared_ptr<Graph> optimised(Scope& scope, const Graph& graph, Tensors& constants) {
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
