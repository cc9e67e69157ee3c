// Sizes as values for formulas, including sizes that a trace leaves symbolic.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon {

// A symbolic size as an i64 of rank 0, which a traced function reads in each call. Defined in
// core/trace.
Tensor traced_integer(Size size);

inline Tensor integer(Size size) {
  return size.known() ? make_scalar(size.word()) : traced_integer(size);
}

}  // namespace tenon
