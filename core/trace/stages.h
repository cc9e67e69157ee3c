// Describes how a trace is executed.

#pragma once

#include <string>

#include "core/trace/trace.h"

namespace tenon {

// The graph as traced, the graph after the passes, its segments, and the launch plan of each
// segment for each set of sizes that has been executed twice. Later stages are missing until
// executions have made them.
std::string stages(const Trace& trace);

}  // namespace tenon
