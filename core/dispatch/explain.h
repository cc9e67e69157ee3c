// What a call would do, without doing it.

#pragma once

#include <string>

#include "core/dispatch/dispatch.h"

namespace tenon {

// The types of the outputs, for inputs whose types are promoted already; throws as apply() does.
TensorTypes infer_types(const OpDef& op, AnyAttrs attrs, TypeSpan types);

// The device, how it would run the call, and what each kernel that was passed over said.
std::string explain(Scope& scope, const OpDef& op, AnyAttrs attrs, Inputs inputs);

}  // namespace tenon
