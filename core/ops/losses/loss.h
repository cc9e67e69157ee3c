// Shared by losses: how the losses of elements are combined.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon {

enum class Reduction : int32_t { kNone, kSum, kMean };
EnumInfo enum_info(Reduction);

struct LossAttrs {
  Reduction reduction = Reduction::kMean;  // How the losses of elements are combined.
  TENON_ATTRS(reduction)
};

inline constexpr const char* kReductionDoc =
    "How the losses are combined: none returns each, sum their sum, mean the sum divided by their "
    "number.";

TensorType reduced_type(const TensorType& losses, Reduction reduction);
Tensor reduce_losses(const Tensor& losses, Reduction reduction);

// The cotangent of the losses of elements, of which there are `n`; it broadcasts to their shape.
Tensor unreduce_losses(const Tensor& dy, const Size& n, Reduction reduction);

// Checks C1 and C2 of mse.cc, for elementwise losses of x against a target.
TensorTypes infer_elementwise_loss(const LossAttrs& attrs, TypeSpan in);

}  // namespace tenon
