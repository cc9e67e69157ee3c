// Declares the adapters of ops outside the ONNX standard, which foreign.def lists.

#pragma once

#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {

#define TENON_ONNX_FOREIGN(domain, op, function) Tensors function(const NodeCall& n);
#include "core/io/onnx/foreign.def"

// Calls avg_pool on x with the attributes of a node. Input 0 of the node must have the shape of x.
Tensor call_avg_pool(const NodeCall& n, const Tensor& x);

}  // namespace tenon::onnx::adapters
