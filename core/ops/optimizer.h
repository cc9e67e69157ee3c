// What the steps of optimizers share. They compute in the dtype of the parameter, half types in
// float32, and are not differentiated.

#pragma once

#include <initializer_list>

#include "core/ops/formulas.h"

namespace tenon {

inline constexpr const char* kNoStepGradient = "an optimizer's step is not differentiated";

// Input 0 is the parameter, `names` those between it and lr, which is input `lr`: C1 to C3 of every
// optimizer.
void require_step(TypeSpan in, std::initializer_list<const char*> names, size_t lr);

// 0 <= value < 1, for rates of decay.
void require_decay(double value, const char* name, std::string_view label);
void require_epsilon(double value, std::string_view label);

// C4 to C6 of adam and its kin: `step` is a 0-d number, the betas are rates of decay, epsilon is
// not negative.
void require_moments(const TensorType& step, double beta1, double beta2, double epsilon);

// The decaying means of gradients and of their squares after one more gradient. Both began with
// zeros: the first is too small by the factor `weight`, and the second, with that made up for, is
// the square of `size` less epsilon.
struct Moments {
  Tensor m, v, weight, size;
};
Moments next_moments(const Tensor& g, const Tensor& m, const Tensor& v, const Tensor& step,
                     double beta1, double beta2, double epsilon);

// The first n inputs in the dtype to compute in, and results in that of the parameter.
Tensors widened(TensorSpan in, size_t n);
Tensors narrowed(Tensors results, DType dtype);

}  // namespace tenon
