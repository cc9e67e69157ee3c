// Kernels that are matrix products of computed factors (device/product.cuh): matmul, gemm and
// convolutions. An epilogue is a loop that is fused after the product and computes the stored
// values.

#pragma once

#include <functional>
#include <optional>
#include <string>

#include "plugins/cuda/kernels/embedded.h"

namespace tenon_cuda {

struct ProductShape {
  int64_t matrices, rows, columns, depth;
  // Whether contiguous elements of the left and of the right factor are neighbours along k.
  bool left_along_k, right_along_k;
};

// How cuBLASLt can compute a product: the layout of the factors in memory, and how they are packed
// if necessary.
struct LibraryFactors {
  bool transpose_a, transpose_b;
  bool finishes;  // Whether finished() still computes the result from the product (gemm).
};

// Describes a kind of product.
struct ProductKind {
  std::string
      factors;  // Source that product.cuh needs before it: definitions and a file of device/.
  std::function<ProductShape(const tenon_launch&)> shape;
  // Pushes the struct Factors of the source.
  std::function<void(const tenon_launch&, Parameters&)> push_factors;
  // Present for products of matrices in memory.
  std::optional<LibraryFactors> library = std::nullopt;
};

// `request` is that of the product. With an epilogue, the product's inputs are the first inputs of
// a launch.
Prepared prepare_product(const Request& request, ProductKind kind,
                         std::optional<LoopPlan> epilogue);

// The products that support an epilogue.
Prepared prepare_matmul(const Request& request, std::optional<LoopPlan> epilogue);
Prepared prepare_gemm(const Request& request, std::optional<LoopPlan> epilogue);
Prepared prepare_conv(const Request& request, std::optional<LoopPlan> epilogue);

// Returns the source of struct Epilogue and of the function finish() that product.cuh calls.
// finish() stores an element of the product or, with a loop, the values that the loop computes from
// it. The product is the loop's last input.
std::string epilogue_source(const std::optional<LoopPlan>& plan);
void push_epilogue(const std::optional<LoopPlan>& plan, size_t first_input,
                   const tenon_launch& launch, Parameters& parameters);
// The number of words in struct Epilogue.
size_t epilogue_words(const std::optional<LoopPlan>& plan);

}  // namespace tenon_cuda
