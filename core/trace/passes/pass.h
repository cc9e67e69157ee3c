// Graph optimisation passes. A pass returns a graph whose results are bitwise equal for every call.
// The table in pass.cc lists all passes in the order in which they run.
//
// Passes apply to graphs that are executed. Graphs that are differentiated or inlined into another
// trace stay unoptimised (core/trace/plans/executable.h): merging two values into one would change
// the order in which gradients are summed.

#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/dispatch/scope.h"
#include "core/trace/graph/graph.h"

namespace tenon {

struct Pass {
  const char* name;
  const char* summary;  // One sentence, for documentation.
  // Returns the transformed graph, or NULL if nothing changes. `constants` are the values of the
  // last inputs of the graph. A pass may append inputs and their constants. `run` is NULL for
  // optimisations that do not transform graphs.
  std::shared_ptr<Graph> (*run)(Scope& scope, const Graph& graph, Tensors& constants);
};

// Returns the table of passes, in the order in which they run.
std::span<const Pass> passes();

// Runs all passes that the scope's context does not disable.
std::shared_ptr<Graph> run_passes(Scope& scope, const Graph& graph, Tensors& constants);

// Returns the index of a pass in the table. Throws NOT_FOUND with a list of the valid names.
size_t find_pass(std::string_view name);
// Whether the scope's context disables the pass.
bool is_disabled(Scope& scope, std::string_view name);

// The passes. Each is defined in a file of its own in this folder.
std::shared_ptr<Graph> verify(Scope& scope, const Graph& graph, Tensors& constants);
std::shared_ptr<Graph> eliminate_dead_code(Scope& scope, const Graph& graph, Tensors& constants);
std::shared_ptr<Graph> select_branches(Scope& scope, const Graph& graph, Tensors& constants);
std::shared_ptr<Graph> simplify(Scope& scope, const Graph& graph, Tensors& constants);
std::shared_ptr<Graph> eliminate_common_subexpressions(Scope& scope, const Graph& graph,
                                                       Tensors& constants);
std::shared_ptr<Graph> fold_constants(Scope& scope, const Graph& graph, Tensors& constants);

}  // namespace tenon
