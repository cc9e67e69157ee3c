// Shared by ops that contain a matrix product.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon {

// Returns the shape of the product. Checks C2 to C6 of matmul.cc.
Dims require_product(const TensorType& a, const TensorType& b, const MatmulAttrs& attrs);

// Arranges a part of the product for kernels, which handle only matrices. A vector a becomes a row,
// a vector b a column. The batch axes of all three are those of y, with stride 0 where an operand
// repeats.
enum class ProductPart : uint8_t { kA, kB, kY };
void arrange_product(ProductPart part, size_t rank_a, size_t rank_b, const Dims& y,
                     StridedShape& operand);

// The cotangents of the operands of y = matmul(a, b, attrs), in the types of the operands.
Tensor matmul_da(const Tensor& dy, const Tensor& b, const TensorType& a, const MatmulAttrs& attrs);
Tensor matmul_db(const Tensor& a, const Tensor& dy, const TensorType& b, const MatmulAttrs& attrs);

}  // namespace tenon
