// Rematerialisation: chooses which forward values a call saves for the backward pass under a memory
// budget. The rest is recomputed from the saved values immediately before use.

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/trace/graph/graph.h"

namespace tenon {

// Bytes that a call may save for its backward pass, in addition to its inputs.
inline constexpr uint64_t kSaveAll = std::numeric_limits<uint64_t>::max();

using BytesOf = std::function<uint64_t(const Value&)>;

// Chooses forward values (slots below `end`) of at most `budget` bytes to save. `needed` are the
// values that the backward pass reads. T. Chen et al., Training Deep Nets with Sublinear Memory
// Cost, 2016: the graph is cut into spans; values that cross a cut are saved, and the backward pass
// recomputes a span when it reaches it. Several numbers of spans are tried. Of those whose saved
// values fit into the budget, the one with the fewest bytes (saved values plus largest span) is
// used. The rest of the budget saves further needed values, non-elementwise results first.
//
// Takes O(s n) time for n calls and s span counts, of which at most 64 are tried.
std::vector<Value> choose_residuals(const Graph& graph, uint32_t end, std::span<const Value> needed,
                                    const BytesOf& bytes_of, uint64_t budget);

}  // namespace tenon
