// Describes, as JSON for tools, what a model requires and what of it is unknown.

#pragma once

#include <string>

#include "core/io/onnx/model.h"

namespace tenon::onnx {

// {"version": 13,
//  "inputs": [{"name": "x", "type": "f32[2,N]"}], "outputs": [...],
//  "ops": ["Add", "com.example.Frob"],
//  "unknown": [{"op": "com.example.Frob", "nodes": ["node 1"]}]}
std::string describe(const Model& model);

}  // namespace tenon::onnx
