// Shared by ops that read or write elements at indices held by a tensor.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon::ops {

// Whether indices may have this dtype.
inline bool is_index(DType dtype) { return dtype == DType::kI32 || dtype == DType::kI64; }

// Requires indices to be int32 or int64; errors have the label C1.
inline void require_indices(const TensorType& indices, std::string_view name = "indices") {
  require(is_index(indices.dtype), "C1: {} must be int32 or int64, but are {}", name,
          indices.dtype);
}

// The transpose of gather(x, indices, axis): starts with zeros in the shape of x, and adds each
// slice of `g` to the slice of the result at its index.
Tensor gather_transposed(const Tensor& g, const Tensor& indices, const TensorType& x, int64_t axis);

}  // namespace tenon::ops
