// What losses share: how the losses of single elements become one.

#pragma once

#include "core/ops/formulas.h"

namespace tenon {

enum class Reduction : int32_t { kNone, kSum, kMean };
EnumInfo enum_info(Reduction);

struct LossAttrs {
  Reduction reduction = Reduction::kMean;  // What becomes of the single losses.
  TENON_ATTRS(reduction)
};

inline constexpr const char* kReductionDoc =
    "What becomes of the single losses: none keeps them, sum adds them, mean divides that by their "
    "number.";

TensorType reduced_type(const TensorType& losses, Reduction reduction);
Tensor reduce_losses(const Tensor& losses, Reduction reduction);

// What reaches each of the single losses, of which there are `n`; it broadcasts to their shape.
Tensor unreduce_losses(const Tensor& dy, const Size& n, Reduction reduction);

// For losses of x against a target, element by element: C1 and C2 of mse.cc.
TensorTypes infer_elementwise_loss(const LossAttrs& attrs, TypeSpan in);

}  // namespace tenon
