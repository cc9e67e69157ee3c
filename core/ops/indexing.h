// What ops that read or write at computed places share.

#pragma once

#include "core/ops/formulas.h"

namespace tenon::ops {

// Indices are int32 or int64, else an error with the label C1.
inline void require_indices(const TensorType& indices) {
  require(indices.dtype == DType::kI32 || indices.dtype == DType::kI64,
          "C1: indices must be int32 or int64, but are {}", indices.dtype);
}

}  // namespace tenon::ops
