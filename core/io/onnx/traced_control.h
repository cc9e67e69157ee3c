// If, Loop and Scan in code under trace: branches and loops of the trace (core/trace/control.h).

#pragma once

#include "core/io/onnx/node_call.h"

namespace tenon::onnx::adapters {

// The inputs of a Scan, of which those at the end are scanned.
struct ScanInputs {
  Tensors carried, scanned;
};

// A list that an attribute gives for `size` values, zeros where it is not given.
Ints one_for_each(const NodeCall& n, std::string_view name, size_t size);

// An If whose condition is a value of the call. Exporters leave branches in that fit none of the
// sizes that the other is for: one that cannot be traced fails where it is chosen.
Tensors traced_if(const NodeCall& n, const Graph& then_branch, const Graph& else_branch);

// What a Loop collects is as long as it runs. How often that is must follow from sizes: by the
// number of trips, or by a condition that holds a counter against a size.
Tensors traced_loop(const NodeCall& n, const Graph& body);

// Along first axes: others are moved there, and backward ones turned around.
Tensors traced_scan(const NodeCall& n, const Graph& body, const ScanInputs& inputs);

}  // namespace tenon::onnx::adapters
