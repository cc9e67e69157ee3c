// Helpers for attention heads and masks, shared by the adapters of standard ONNX and com.microsoft.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon::onnx::adapters {

// Reshapes [batch, length, heads * size] to [batch, heads, length, size]. Returns x unchanged if it
// has four axes.
Tensor split_heads(const Tensor& x, int64_t heads);
Tensor join_heads(const Tensor& x);  // The inverse of split_heads().

Tensor size_tensor(Size size);  // Returns a size as an int64 scalar.

// Returns a bool mask [queries, keys] that is true where a query may attend to a key. `past` cached
// keys precede the keys of the queries.
Tensor causal_mask(Size queries, Size keys, Size past);

// Combines two masks into one that masks what either of them masks. Each may be absent. `allowed`
// is bool; `mask` is bool, or floating-point and added to the scores.
Tensor combine_masks(const Tensor& mask, const Tensor& allowed);

}  // namespace tenon::onnx::adapters
