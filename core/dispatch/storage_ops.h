// Runs ops on storage dtypes (core/base/dtype.h). Kernels never receive these dtypes: the core
// passes ops that only move elements the bytes instead, and computes conversions by ops on integers
// and float32 or float64. So every device supports storage dtypes.

#pragma once

#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"

namespace tenon {

// Whether an input or an output of the call has a storage dtype.
bool uses_storage_dtype(const Call& call, const TensorTypes& types);

// Throws unless the op accepts inputs of storage dtypes.
void require_accepts_storage(const OpDef& op, TypeSpan types);

// Runs a call that uses_storage_dtype(), and for which there is no kernel. `types` are those of the
// outputs.
Tensors run_on_storage(Scope& scope, const Call& call, const TensorTypes& types);

}  // namespace tenon
