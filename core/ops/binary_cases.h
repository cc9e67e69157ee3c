// Cases that elementwise ops of two numeric inputs share.

#pragma once

#include "core/ops/formulas.h"

namespace tenon::ops {

// An op's own cases and those that each such op passes: shapes, and what it refuses by the labels
// C1 (a dtype) and C2 (shapes that do not broadcast).
Cases<NoAttrs> with_binary_cases(Cases<NoAttrs> own);

}  // namespace tenon::ops
