// Adapters of ops outside the ONNX standard. foreign.def lists them.

#pragma once

#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {

#define TENON_ONNX_FOREIGN(domain, op, function) Tensors function(const NodeCall& n);
#include "core/io/onnx/foreign.def"

// Calls avg_pool with the attributes of a node, whose input 0 has the shape of x.
Tensor pooled_average(const NodeCall& n, const Tensor& x);

}  // namespace tenon::onnx::adapters
