// What is kept of a forward part for the way back, where less may be kept than the way back takes:
// the rest is computed again, from what is kept, just before it is needed.

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/trace/graph.h"

namespace tenon {

// How many bytes a call may keep for its way back, beside its inputs.
inline constexpr uint64_t kKeepAll = std::numeric_limits<uint64_t>::max();

using BytesOf = std::function<uint64_t(const Value&)>;

// Values of the forward part, whose slots are below `end`, of `budget` bytes at most. The way back
// takes those that are `needed`. T. Chen et al., Training Deep Nets with Sublinear Memory Cost,
// 2016: the code is cut into stretches; what crosses a cut is kept, and a stretch is computed again
// when the way back comes to it. Of all numbers of stretches that fit it is the one with which what
// is kept and the longest stretch need least. What is left of the budget keeps values that are
// needed, those first that are no elementwise calls.
//
// Takes O(s n) time for n calls and s numbers of stretches, of which at most 64 are tried.
std::vector<Value> choose_kept(const Graph& graph, uint32_t end, std::span<const Value> needed,
                               const BytesOf& bytes_of, uint64_t budget);

}  // namespace tenon
