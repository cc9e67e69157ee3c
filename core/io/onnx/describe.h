// Describes a model as JSON for tools: its signature, the ops that it needs, and the unsupported
// ones.

#pragma once

#include <string>

#include "core/io/onnx/model.h"

namespace tenon::onnx {

// Returns JSON such as
//
//   {"version": 13,
//    "inputs": [{"name": "x", "type": "f32[2,N]"}], "outputs": [...],
//    "ops": ["Add", "com.example.Frob"],
//    "unknown": [{"op": "com.example.Frob", "nodes": ["node 1"]}]}
std::string describe(const Model& model);

}  // namespace tenon::onnx
