// What a trace would do with arguments of some types, without doing it: where and how each of its
// calls would run, and the memory that this takes.

#pragma once

#include <string>

#include "core/trace/trace.h"

namespace tenon {

// As JSON, for tools. Calls are as they were written, before the passes; those of a block stand
// behind the call that holds it, a level deeper.
// {"inputs": [{"name": "x", "type": "f32[2,3]"}], "outputs": [...],
//  "calls": [{"op": "matmul", "outputs": ["f32[2,4]"], "device": "cpu:0", "runs": "kernel",
//             "why": "", "level": 0}],
//  "memory": {"variables": 48, "captures": 0, "inputs": 24, "outputs": 32, "peak": 32}}
// "runs" is view, kernel, parts, elsewhere (as the context's policy says), blocks (of code, which
// the host chooses) or host. "peak" is the most that values hold at once beside inputs, variables
// and captures, where each lives until its last use; fewer once calls are fused.
std::string inspect(Scope& scope, const Trace& trace, std::span<const TensorType> arguments);

}  // namespace tenon
