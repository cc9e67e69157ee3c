// If, Loop and Scan under trace: they become branches and loops of the trace
// (core/trace/control/control.h).

#pragma once

#include "core/io/onnx/node_call.h"

namespace tenon::onnx::adapters {

// The inputs of a Scan; the last ones are scanned.
struct ScanInputs {
  Tensors carried, scanned;
};

// A list attribute with one number for each of `size` values; zeros if it is not given.
Ints per_value_list(const NodeCall& n, std::string_view name, size_t size);

// An If whose condition is a value of the trace. Exporters keep branches that fit only other input
// sizes. A branch that cannot be traced fails when it is taken.
Tensors traced_if(const NodeCall& n, const Graph& then_branch, const Graph& else_branch);

// The length of a Loop's scan outputs is its number of iterations. It must follow from sizes: from
// the trip count, or from a condition that compares a counter with a size.
Tensors traced_loop(const NodeCall& n, const Graph& body);

// Scans along first axes: moves other axes there, and reverses inputs that are scanned backward.
Tensors traced_scan(const NodeCall& n, const Graph& body, const ScanInputs& inputs);

}  // namespace tenon::onnx::adapters
