// Explains how a call would run, without running it.

#pragma once

#include <string>

#include "core/dispatch/dispatch.h"

namespace tenon {

// Infers the output types for inputs that are already promoted. Throws as apply() does.
TensorTypes infer_types(const OpDef& op, AnyAttrs attrs, TypeSpan types);

// How an eager call would run. `reason` explains why no kernel of the device accepts the call.
struct Execution {
  enum class How : uint8_t { kView, kKernel, kDecomposed, kFallback };

  Device* device;
  How how;
  std::string reason;
};
// The inputs of `call` must have types, strides and devices, but need no memory.
Execution execution_of(Scope& scope, const Call& call, const TensorTypes& types);

// Describes the device, how it would run the call, and why each rejected kernel does not apply.
std::string explain(Scope& scope, const OpDef& op, AnyAttrs attrs, Inputs inputs);

}  // namespace tenon
