// What a call would do, without doing it.

#pragma once

#include <string>

#include "core/dispatch/dispatch.h"

namespace tenon {

// The types of the outputs, for inputs whose types are promoted already; throws as apply() does.
TensorTypes infer_types(const OpDef& op, AnyAttrs attrs, TypeSpan types);

// How an eager call would run, and of what no kernel of the device takes: why not.
struct Execution {
  enum class How : uint8_t { kView, kKernel, kParts, kElsewhere };

  Device* device;
  How how;
  std::string reason;
};
// `inputs` need types, strides and devices, but no memory.
Execution execution_of(Scope& scope, const Call& call, const TensorTypes& types);

// The device, how it would run the call, and what each kernel that was passed over said.
std::string explain(Scope& scope, const OpDef& op, AnyAttrs attrs, Inputs inputs);

}  // namespace tenon
