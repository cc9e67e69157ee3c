// Describes how a trace is executed.

#pragma once

#include <string>

#include "core/trace/trace.h"

namespace tenon {

// Returns, as text: the graph as traced, the graph after the passes, its segments, and the launch
// plans of each segment. A plan exists for each set of sizes that was executed at least twice.
// Stages that no call has reached yet are missing.
std::string stages(const Trace& trace);

}  // namespace tenon
