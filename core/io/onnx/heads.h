// Heads and masks of attention, shared by the adapters of ONNX's ops and of com.microsoft.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon::onnx::adapters {

// Reshapes batch, length, heads * size to batch, heads, length, size. Returns an x with four axes
// as it is.
Tensor split_heads(const Tensor& x, int64_t heads);
Tensor join_heads(const Tensor& x);  // The inverse.

Tensor size_tensor(Size size);  // A size as an int64 tensor of rank 0.

// Whether each query may attend to each key, if `past` keys precede those of the queries.
Tensor causal_mask(Size queries, Size keys, Size past);

// Masks with both: `allowed` is bool, and `mask` is bool or is added to the scores. Each may be
// absent.
Tensor both_masks(const Tensor& mask, const Tensor& allowed);

}  // namespace tenon::onnx::adapters
