// Adapters express ONNX ops that differ from Tenon's in Tenon's ops, one function for each.
// adapters.def lists them; adapters_*.cc define them by family.

#pragma once

#include "core/io/onnx/node_call.h"

namespace tenon::onnx {

using Adapter = Tensors (*)(const NodeCall& n);

// Returns NULL if there is none.
Adapter find_adapter(std::string_view domain, std::string_view op);

namespace adapters {
#define TENON_ONNX(op, function) Tensors function(const NodeCall& n);
#define TENON_ONNX_PREVIEW(op, function) TENON_ONNX(op, function)
#define TENON_ONNX_TRAINING(op, function) TENON_ONNX(op, function)
#include "core/io/onnx/adapters.def"

// Calls conv with the attributes of a node. Shared with integer convolutions. Input 0 of the node
// must have the shape of x.
Tensor convolved(const NodeCall& n, const Tensor& x, const Tensor& w, const Tensor& b);
}  // namespace adapters

}  // namespace tenon::onnx
