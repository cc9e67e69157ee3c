// Cases shared by elementwise ops of two numeric inputs.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon::ops {

// Returns an op's own cases and those that all such ops share: shapes, and errors with label C1
// (dtype) or C2 (shapes that do not broadcast).
Cases<NoAttrs> with_binary_cases(Cases<NoAttrs> own);

}  // namespace tenon::ops
