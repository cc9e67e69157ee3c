// Shared by the loss ops: the attribute `reduction` and its derivative.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon {

enum class Reduction : int32_t { kNone, kSum, kMean };
EnumInfo enum_info(Reduction);

struct LossAttrs {
  Reduction reduction = Reduction::kMean;  // How the losses of all elements are combined.
  TENON_ATTRS(reduction)
};

inline constexpr const char* kReductionDoc =
    "How the losses are combined: none returns each, sum their sum, mean the sum divided by their "
    "number.";

// Returns the type of the result of reduce_losses().
TensorType reduced_type(const TensorType& losses, Reduction reduction);
// Combines the losses of all elements: to their sum or mean, or not at all.
Tensor reduce_losses(const Tensor& losses, Reduction reduction);

// Returns the cotangent of the `n` losses before the reduction. It broadcasts to their shape.
Tensor unreduce_losses(const Tensor& dy, const Size& n, Reduction reduction);

// Infers the output type of an elementwise loss of x and target. Checks C1 and C2 of mse.cc.
TensorTypes infer_elementwise_loss(const LossAttrs& attrs, TypeSpan in);

}  // namespace tenon
