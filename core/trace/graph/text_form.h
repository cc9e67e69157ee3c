// The text form of a graph, for printing and parsing:
//
//   (g0: state, x: f32[n,4]) where 1 < n {
//     g1, noise = random_uniform(g0, shape=[n,4])
//     y = add(x, mul(noise, 0.1))
//     return g1, y
//   }
//
// A type is a dtype and sizes; a dtype alone is an inline scalar. `state` is a generator, `state
// f32[4]` a variable, `capture f32[4]` a tensor from outside the trace. Attributes with default
// values are omitted. A call with one output may be nested as an operand. `#` begins a comment. The
// regions of a loop or a branch follow the call:
//
//   y = branch(p, x) do (a: f32[n]) { return neg(a) } do (a: f32[n]) { return a }

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/dispatch/scope.h"
#include "core/trace/graph/graph.h"

namespace tenon {

// Returns the text of a graph.
std::string to_text(const Graph& graph);
// Returns the first line of the text: inputs and guards.
std::string signature_text(const Graph& graph);

// Parses the text of a graph. Throws INVALID_ARGUMENT with the line number if the text is
// malformed, and passes on errors of ops.
std::unique_ptr<Graph> parse_graph(Scope& scope, std::string_view text);

}  // namespace tenon
