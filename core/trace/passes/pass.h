// What makes code run with less work. A pass takes a graph and gives one that gives the same, to
// the bit, for every call; the table in pass.cc is all of them, in the order in which they run.
//
// They see code that runs. What is differentiated, or becomes part of another trace, stays as it
// was written (core/trace/executable.h): where one value takes the place of two, gradients would
// add up in another order.

#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/dispatch/scope.h"
#include "core/trace/graph.h"

namespace tenon {

struct Pass {
  const char* name;
  const char* summary;  // One clause, for people.
  // `constants` are the tensors that the last inputs stand for; a pass may add to both. Gives NULL
  // where it changes nothing, and is NULL of one that is no matter of graphs.
  std::shared_ptr<Graph> (*run)(Scope& scope, const Graph& graph, Tensors& constants);
};

std::span<const Pass> passes();

// All that the scope's context does not leave out.
std::shared_ptr<Graph> optimised(Scope& scope, const Graph& graph, Tensors& constants);

// The place of a pass in the table; NOT_FOUND lists what there is.
size_t find_pass(std::string_view name);
bool is_left_out(Scope& scope, std::string_view name);

// One function in each file of this folder.
std::shared_ptr<Graph> verify(Scope& scope, const Graph& graph, Tensors& constants);
std::shared_ptr<Graph> drop_dead(Scope& scope, const Graph& graph, Tensors& constants);
std::shared_ptr<Graph> simplify(Scope& scope, const Graph& graph, Tensors& constants);
std::shared_ptr<Graph> share_equal(Scope& scope, const Graph& graph, Tensors& constants);
std::shared_ptr<Graph> fold_constants(Scope& scope, const Graph& graph, Tensors& constants);

}  // namespace tenon
