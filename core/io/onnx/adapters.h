// An adapter computes one ONNX op with Tenon's ops, if the ONNX op differs from Tenon's.
// adapters.def lists the adapters; adapters_*.cc define them by family.

#pragma once

#include "core/io/onnx/node_call.h"

namespace tenon::onnx {

using Adapter = Tensors (*)(const NodeCall& n);

// A line of a table of adapters.
struct AdapterOfOp {
  std::string_view domain, op;
  Adapter adapter;
};

// Finds the adapter of an ONNX op; NULL if the op has none.
Adapter find_adapter(std::string_view domain, std::string_view op);

// The domains of foreign ops: core/io/onnx/foreign has their adapters.
bool is_foreign_domain(std::string_view domain);
// Whether this build contains the adapters of foreign ops.
bool has_foreign_adapters();

namespace adapters {
#define TENON_ONNX(op, function) Tensors function(const NodeCall& n);
#define TENON_ONNX_PREVIEW(op, function) TENON_ONNX(op, function)
#define TENON_ONNX_TRAINING(op, function) TENON_ONNX(op, function)
#include "core/io/onnx/adapters.def"

// Convolves x with w and adds b, with the attributes of a Conv or ConvInteger node. Reads the
// spatial sizes from input 0 of the node, which must have the shape of x.
Tensor convolve(const NodeCall& n, const Tensor& x, const Tensor& w, const Tensor& b);

// Calls avg_pool on x with the attributes of a node. Input 0 of the node must have the shape of x.
Tensor call_avg_pool(const NodeCall& n, const Tensor& x);

// Throws unless the activations of a recurrent node are `usual`, the only ones that Tenon supports.
void require_default_activations(const NodeCall& n, const std::vector<std::string>& usual);

// Quantises x to uint8 by its range, extended to include zero. Returns the elements, the scale and
// the zero point.
Tensors quantize_dynamically(const Tensor& x);
}  // namespace adapters

}  // namespace tenon::onnx
