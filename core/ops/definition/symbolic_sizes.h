// Converts sizes to scalars for formulas. In a trace, sizes may be symbolic.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon {

// Returns a symbolic size as an int64 tensor of rank 0. The traced graph computes its value in each
// call. Defined in core/trace.
Tensor traced_integer(Size size);

// Returns a size as a weak scalar or, if it is symbolic, as traced_integer(size).
inline Tensor integer(Size size) {
  return size.known() ? make_scalar(size.word()) : traced_integer(size);
}

}  // namespace tenon
