// Traces If, Loop and Scan nodes as branches and loops (core/trace/control/control.h).

#pragma once

#include "core/io/onnx/node_call.h"

namespace tenon::onnx::adapters {

// The inputs of a Scan node: initial values of the carried values, then the tensors to scan.
struct ScanInputs {
  Tensors carried, scanned;
};

// Returns a list attribute that has one number for each of `size` values; zeros if it is not given.
Ints per_value_list(const NodeCall& n, std::string_view name, size_t size);

// Traces an If node whose condition is not known during tracing. Exporters write branches that are
// valid for other input sizes only. If one branch cannot be traced, the trace fails only when it
// takes that branch.
Tensors traced_if(const NodeCall& n, const Graph& then_branch, const Graph& else_branch);

// Traces a Loop node. The number of iterations, which is the length of its scan outputs, must
// follow from sizes: from the trip count, or from a condition that compares a counter with a size.
Tensors traced_loop(const NodeCall& n, const Graph& body);

// Traces a Scan node. Scans along axis 0: transposes inputs with a different scan axis, and
// reverses inputs that are scanned backward.
Tensors traced_scan(const NodeCall& n, const Graph& body, const ScanInputs& inputs);

}  // namespace tenon::onnx::adapters
