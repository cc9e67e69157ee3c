// Cases shared by elementwise ops of two numeric inputs.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon::ops {

// An op's own cases and the shared ones: shapes, and errors with the labels C1 (a dtype) and C2
// (shapes that do not broadcast).
Cases<NoAttrs> with_binary_cases(Cases<NoAttrs> own);

}  // namespace tenon::ops
