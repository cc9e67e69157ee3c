// The text form of a graph, which prints and is read back:
//
//   (g0: state, x: f32[n,4]) where 1 < n {
//     g1, noise = random_uniform(g0, shape=[n,4])
//     y = add(x, mul(noise, 0.1))
//     return g1, y
//   }
//
// A type is a dtype and sizes; a dtype alone is an inline scalar's. `state` is a generator's,
// `state f32[4]` a variable's; `capture f32[4]` a tensor that tracing met. Attributes that have
// their default are left out. A call that gives one value may stand where that is taken. `#` begins
// a comment. The code that a loop or a branch runs stands behind the call:
//
//   y = branch(p, x) do (a: f32[n]) { return neg(a) } do (a: f32[n]) { return a }

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/dispatch/scope.h"
#include "core/trace/graph.h"

namespace tenon {

std::string to_text(const Graph& graph);
// Its first line: inputs and guards.
std::string signature_text(const Graph& graph);

// Throws INVALID_ARGUMENT, with the line, for what is no graph, and what a call of the op throws.
std::unique_ptr<Graph> parse_graph(Scope& scope, std::string_view text);

}  // namespace tenon
