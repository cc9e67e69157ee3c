// Elementwise calls on transposed tensors.

#pragma once

#include "core/dispatch/interpreter.h"

namespace tenon {

// If the inputs of an elementwise call are dense after the same transposition, runs the call on the
// transposed inputs, stores its outputs with the layout of the inputs, and returns true. So kernels
// read and write contiguous memory. Otherwise returns false. `types`: the types of the outputs.
bool run_in_memory_order(Scope& scope, const Call& call, const TensorTypes& types,
                         Tensors& outputs);

}  // namespace tenon
