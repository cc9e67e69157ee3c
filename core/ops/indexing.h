// What ops that read or write at computed places share.

#pragma once

#include "core/ops/formulas.h"

namespace tenon::ops {

inline bool is_index(DType dtype) { return dtype == DType::kI32 || dtype == DType::kI64; }

// Indices are int32 or int64, else an error with the label C1.
inline void require_indices(const TensorType& indices, std::string_view name = "indices") {
  require(is_index(indices.dtype), "C1: {} must be int32 or int64, but are {}", name,
          indices.dtype);
}

// The transpose of gather(x, indices, axis): adds each slice of `g` to the slice of zeros like x
// that it was read from.
Tensor gather_transposed(const Tensor& g, const Tensor& indices, const TensorType& x, int64_t axis);

}  // namespace tenon::ops
