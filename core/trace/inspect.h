// Reports, without running a trace, where and how each of its calls would run for arguments of
// given types, and how much memory this takes.

#pragma once

#include <string>

#include "core/trace/trace.h"

namespace tenon {

// Returns JSON, for tools. Calls are listed as traced, before the passes. Calls of a region follow
// the call that holds it, one level deeper.
// {"inputs": [{"name": "x", "type": "f32[2,3]"}], "outputs": [...],
//  "calls": [{"op": "matmul", "outputs": ["f32[2,4]"], "device": "cpu:0", "runs": "kernel",
//             "why": "", "level": 0}],
//  "memory": {"variables": 48, "captures": 0, "inputs": 24, "outputs": 32, "peak": 32}}
// "runs" is view, kernel, parts (decomposed), elsewhere (as the context's policy specifies), blocks
// (regions selected by the host) or host. "peak" is the maximum number of bytes that values hold at
// once, besides inputs, variables and captures, if each lives until its last use. Fusion lowers it.
std::string inspect(Scope& scope, const Trace& trace, std::span<const TensorType> arguments);

}  // namespace tenon
