#include "core/ops/losses/loss.h"

#include "core/ops/reductions/reduction.h"

namespace tenon {

EnumInfo enum_info(Reduction) {
  static constexpr const char* kNames[] = {"none", "sum", "mean"};
  return {"reduction", kNames};
}

TensorType reduced_type(const TensorType& losses, Reduction reduction) {
  return reduction == Reduction::kNone ? losses : TensorType(losses.dtype, {});
}

Tensor reduce_losses(const Tensor& losses, Reduction reduction) {
  switch (reduction) {
    case Reduction::kNone:
      return losses;
    case Reduction::kSum:
      return sum(losses);
    case Reduction::kMean:
      break;
  }
  return mean(losses);
}

// Returns the cotangent of each of the `n` losses, given that of their reduction.
Tensor unreduce_losses(const Tensor& dy, const Size& n, Reduction reduction) {
  return reduction == Reduction::kMean ? dy / ops::count_as(dy->type.dtype, n) : dy;
}

TensorTypes infer_elementwise_loss(const LossAttrs& attrs, TypeSpan in) {
  const TensorType &x = in[0], &target = in[1];
  require(is_floating(x.dtype) && x.dtype == target.dtype,
          "C1: x and target must be floating point and of one dtype, but are {} and {}", x, target);
  require(x.shape == target.shape, "C2: target must have the shape of x: {}, but is {}", x, target);
  return {reduced_type(x, attrs.reduction)};
}

}  // namespace tenon
