// Shared by the optimizer ops. These compute in the dtype of the parameter (half types in float32),
// and have no derivatives.

#pragma once

#include <initializer_list>

#include "core/ops/definition/formulas.h"

namespace tenon {

inline constexpr const char* kNoStepGradient = "an optimizer's step is not differentiated";

// Checks constraints C1 to C3 of every optimizer. Input 0 is the parameter, and `lr_index` is the
// index of the input that holds the learning rate. `names` names the inputs after the parameter
// that must have its type.
void require_optimizer_inputs(TypeSpan in, std::initializer_list<const char*> names,
                              size_t lr_index);

// Requires 0 <= value < 1, for decay rates.
void require_decay(double value, const char* name, std::string_view label);
// Requires epsilon, `value`, not to be negative. Error messages begin with `label`.
void require_epsilon(double value, std::string_view label);

// Checks constraints C4 to C6 of adam, adamw and lamb: `step` is a 0-d number, the betas are decay
// rates, and epsilon is not negative.
void require_moments(const TensorType& step, double beta1, double beta2, double epsilon);

// The moving averages of gradients (m) and of squared gradients (v) after one more gradient. They
// started at zero, so m / weight is the bias-corrected m. `size` is the square root of the
// bias-corrected v, plus epsilon.
struct Moments {
  Tensor m, v, weight, size;
};
// Updates the moving averages m and v with the gradient g of one step.
Moments next_moments(const Tensor& g, const Tensor& m, const Tensor& v, const Tensor& step,
                     double beta1, double beta2, double epsilon);

// Casts the first n inputs to the compute dtype.
Tensors widen_inputs(TensorSpan in, size_t n);
// Casts the results to `dtype`, the dtype of the parameter.
Tensors narrow_results(Tensors results, DType dtype);

}  // namespace tenon
