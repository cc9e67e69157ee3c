// The derivative of a product of matrices, for the ops that hold one.

#pragma once

#include "core/ops/formulas.h"

namespace tenon {

// What reaches the operands of y = matmul(a, b, attrs) from dy, in the types of the operands.
Tensor matmul_da(const Tensor& dy, const Tensor& b, const TensorType& a, const MatmulAttrs& attrs);
Tensor matmul_db(const Tensor& a, const Tensor& dy, const TensorType& b, const MatmulAttrs& attrs);

}  // namespace tenon
