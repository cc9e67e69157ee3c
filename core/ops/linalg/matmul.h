// Shared by ops that compute matrix products.

#pragma once

#include "core/ops/definition/formulas.h"

namespace tenon {

// Returns the shape of the product. Checks C2 to C6 of matmul.cc.
Dims infer_product_shape(const TensorType& a, const TensorType& b, const MatmulAttrs& attrs);

enum class ProductPart : uint8_t { kA, kB, kY };
// Converts the sizes and strides of a, b or y to those that kernels receive, which support only
// matrices. A vector a becomes a row, and a vector b a column. Batch axes are broadcast to those of
// y; broadcast axes get stride 0.
void arrange_product(ProductPart part, size_t rank_a, size_t rank_b, const Dims& y,
                     StridedShape& operand);

// Returns the cotangent of a for y = matmul(a, b, attrs).
Tensor matmul_da(const Tensor& dy, const Tensor& b, const TensorType& a, const MatmulAttrs& attrs);
// Returns the cotangent of b for y = matmul(a, b, attrs).
Tensor matmul_db(const Tensor& a, const Tensor& dy, const TensorType& b, const MatmulAttrs& attrs);

}  // namespace tenon
