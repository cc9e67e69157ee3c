// What the ops that hold a product of matrices share.

#pragma once

#include "core/ops/formulas.h"

namespace tenon {

// The shape of the product: C2 to C6 of matmul.cc.
Dims require_product(const TensorType& a, const TensorType& b, const MatmulAttrs& attrs);

// How kernels see its parts, which are matrices only: a vector is a row before b and a column after
// a, and the batch axes of all three are those of y, with stride 0 where an operand repeats.
enum class ProductPart : uint8_t { kA, kB, kY };
void arrange_product(ProductPart part, size_t rank_a, size_t rank_b, const Dims& y,
                     StridedShape& operand);

// What reaches the operands of y = matmul(a, b, attrs) from dy, in the types of the operands.
Tensor matmul_da(const Tensor& dy, const Tensor& b, const TensorType& a, const MatmulAttrs& attrs);
Tensor matmul_db(const Tensor& a, const Tensor& dy, const TensorType& b, const MatmulAttrs& attrs);

}  // namespace tenon
