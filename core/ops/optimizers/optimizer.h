// Shared by the steps of optimizers. They compute in the parameter's dtype, half types in float32,
// and are not differentiated.

#pragma once

#include <initializer_list>

#include "core/ops/definition/formulas.h"

namespace tenon {

inline constexpr const char* kNoStepGradient = "an optimizer's step is not differentiated";

// Checks C1 to C3 of every optimizer. Input 0 is the parameter, `names` are the inputs between it
// and lr, which is input `lr`.
void require_step(TypeSpan in, std::initializer_list<const char*> names, size_t lr);

// Requires 0 <= value < 1, for decay rates.
void require_decay(double value, const char* name, std::string_view label);
void require_epsilon(double value, std::string_view label);

// Checks C4 to C6 of adam and similar ops: `step` is a 0-d number, the betas are decay rates, and
// epsilon is not negative.
void require_moments(const TensorType& step, double beta1, double beta2, double epsilon);

// The decaying means of gradients (m) and of their squares (v), after one more gradient. Both began
// with zeros, so m is too small by the factor `weight`. `size` is the root of the bias-corrected v,
// plus epsilon.
struct Moments {
  Tensor m, v, weight, size;
};
Moments next_moments(const Tensor& g, const Tensor& m, const Tensor& v, const Tensor& step,
                     double beta1, double beta2, double epsilon);

// Widen the first n inputs to the compute dtype, and narrow results to the parameter's dtype.
Tensors widened(TensorSpan in, size_t n);
Tensors narrowed(Tensors results, DType dtype);

}  // namespace tenon
