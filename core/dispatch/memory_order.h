// Runs calls in the order in which their inputs lie in memory.

#pragma once

#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"

namespace tenon {

// Runs a call whose inputs have the same transposed layout, such as the sum of two transposed
// matrices, on dense views of the inputs. The outputs have the layout of the inputs, so that no
// element is transposed. Supports elementwise ops, optimizers, scans, some composite reductions,
// and ops that join or shift elements along axes. Returns false for other ops and layouts.
bool run_in_memory_order(Scope& scope, const Call& call, const TensorTypes& types,
                         Tensors& outputs);

}  // namespace tenon
