// Shared by attention and multi_head_attention: attributes, their documentation, and the mask
// check.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon {

struct AttentionAttrs {
  bool is_causal = false;  // Whether query i attends only to keys 0 to i.
  double scale = 0;        // Factor of the scores; if not positive, 1 / sqrt(head size).
  double softcap = 0;      // If not 0, scores s become softcap * tanh(s / softcap).
  TENON_ATTRS(is_causal, scale, softcap)
};

inline constexpr const char* kIsCausalDoc = "Whether query i attends to keys 0 to i only.";
inline constexpr const char* kAttentionScaleDoc =
    "The factor of the scores; 1 / sqrt(head size) if it is 0 or less.";
inline constexpr const char* kSoftcapDoc =
    "Scores are limited to softcap * tanh(score / softcap) before the mask is applied; 0 for no "
    "limit.";

// Requires the mask to be bool or of the dtype of the scores, and broadcastable to the shape of the
// scores: batch, heads, queries, keys. `of_dtype` and `of_shape` are the labels of the two
// constraints, with which error messages begin.
inline void require_mask(const TensorType& mask, const TensorType& scores, const char* of_dtype,
                         const char* of_shape) {
  require(mask.dtype == DType::kBool || mask.dtype == scores.dtype,
          "{}: attn_mask must be bool or {}, but is {}", of_dtype, scores.dtype, mask);
  require(mask.rank() <= 4 && require_broadcast(scores, mask, of_shape) == scores.shape,
          "{}: attn_mask: {} cannot be broadcast to the scores: {}", of_shape, mask, scores);
}

}  // namespace tenon
