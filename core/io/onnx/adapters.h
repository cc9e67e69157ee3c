// How ops of ONNX that differ from ours are said in ours: one function each. adapters.def lists
// them, and adapters_*.cc hold them by families.

#pragma once

#include "core/io/onnx/node_call.h"

namespace tenon::onnx {

using Adapter = Tensors (*)(const NodeCall& n);

// NULL where there is none.
Adapter find_adapter(std::string_view domain, std::string_view op);

namespace adapters {
#define TENON_ONNX(op, function) Tensors function(const NodeCall& n);
#define TENON_ONNX_TRAINING(op, function) TENON_ONNX(op, function)
#include "core/io/onnx/adapters.def"

// conv with the attributes of a node: what convolutions of integers share with it. Input 0 of the
// node has the sizes of x.
Tensor convolved(const NodeCall& n, const Tensor& x, const Tensor& w, const Tensor& b);
}  // namespace adapters

}  // namespace tenon::onnx
