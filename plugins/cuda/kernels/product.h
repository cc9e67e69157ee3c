// Kernels that are matrix products (device/product.cuh): matmul, gemm and convolutions. Device
// functions compute the elements of the factors. An epilogue is a loop that is fused after the
// product and computes the stored values.

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "plugins/cuda/kernels/embedded.h"

namespace tenon_cuda {

struct ProductShape {
  int64_t matrices, rows, columns, depth;
  // For each factor, whether its contiguous elements are neighbours along k.
  bool left_along_k, right_along_k;
};

// Describes a product for cuBLASLt: whether each factor is transposed in memory (and in its packed
// copy).
struct LibraryFactors {
  bool transpose_a, transpose_b;
  bool finishes;  // Whether finished() must compute the result from the product, as for gemm.
};

// Describes an op that is computed as a matrix product.
struct ProductKind {
  std::string factors;  // Source before product.cuh: definitions and a file of device/.
  std::function<ProductShape(const tenon_launch&)> shape;
  // Pushes the struct Factors that the source defines.
  std::function<void(const tenon_launch&, Parameters&)> push_factors;
  // Present if both factors are matrices in memory, so that cuBLASLt can compute the product.
  std::optional<LibraryFactors> library = std::nullopt;
};

// Prepares a product. `request` is the request for the product itself. With an epilogue, the first
// inputs of a launch are those of the product.
Prepared prepare_product(const Request& request, ProductKind kind,
                         std::optional<LoopPlan> epilogue);

// Prepares a product with an optional epilogue.
Prepared prepare_matmul(const Request& request, std::optional<LoopPlan> epilogue);
Prepared prepare_gemm(const Request& request, std::optional<LoopPlan> epilogue);
Prepared prepare_conv(const Request& request, std::optional<LoopPlan> epilogue);

// Returns the source of struct Epilogue and of the function finish() that product.cuh calls.
// finish() stores an element of the product or, with a loop, the values that the loop computes from
// it. The product is the loop's last input.
std::string epilogue_source(const std::optional<LoopPlan>& plan);
// Pushes the struct Epilogue. `first_input`: index of the first operand of the loop among the
// inputs of the launch.
void push_epilogue(const std::optional<LoopPlan>& plan, size_t first_input,
                   const tenon_launch& launch, Parameters& parameters);
// Returns the number of words in struct Epilogue.
size_t epilogue_words(const std::optional<LoopPlan>& plan);

}  // namespace tenon_cuda
