// What the steps of optimizers share. They compute in the dtype of the parameter, half types in
// float32, and are not differentiated.

#pragma once

#include <initializer_list>

#include "core/ops/formulas.h"

namespace tenon {

inline constexpr const char* kNoStepGradient = "an optimizer's step is not differentiated";

//   C1  The parameter p, input 0, is floating point.
//   C2  The gradient and each state, the next inputs, have the type of p.
//   C3  lr, the last input, is floating point and 0-d.
// `names` are those of the inputs between p and lr.
void require_step(TypeSpan in, std::initializer_list<const char*> names, size_t lr);

// 0 <= value < 1, for rates of decay.
void require_decay(double value, const char* name, std::string_view label);
void require_epsilon(double value, std::string_view label);

// The first n inputs in the dtype to compute in, and results in that of the parameter.
Tensors widened(TensorSpan in, size_t n);
Tensors narrowed(Tensors results, DType dtype);

}  // namespace tenon
