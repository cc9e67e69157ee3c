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
  // Whether neighbours in memory are neighbours along k, in the left and in the right factor.
  bool left_along_k, right_along_k;
};

// What cuBLASLt may compute: the factors as they are in memory, and how they are packed for it.
struct LibraryFactors {
  bool transpose_a, transpose_b;
  bool finishes;  // The result is computed from the product.
};

// What a kind of product says about itself.
struct ProductKind {
  std::string factors;  // Source: the lines and the file that product.cuh needs before it.
  std::function<ProductShape(const tenon_launch&)> shape;
  // Pushes the struct Factors of the source.
  std::function<void(const tenon_launch&, Parameters&)> push_factors;
  // Given for products of plain matrices.
  std::optional<LibraryFactors> library = std::nullopt;
};

// `request` is that of the product; with an epilogue, a launch has its inputs first.
Prepared prepare_product(const Request& request, ProductKind kind,
                         std::optional<LoopPlan> epilogue);

// The products that may have an epilogue.
Prepared prepare_matmul(const Request& request, std::optional<LoopPlan> epilogue);
Prepared prepare_gemm(const Request& request, std::optional<LoopPlan> epilogue);
Prepared prepare_conv(const Request& request, std::optional<LoopPlan> epilogue);

// The struct Epilogue and the function finish() of product.cuh, which store an element of the
// result or, with a loop, what that computes of it. The result is the loop's last input.
std::string epilogue_source(const std::optional<LoopPlan>& plan);
void push_epilogue(const std::optional<LoopPlan>& plan, size_t first_input,
                   const tenon_launch& launch, Parameters& parameters);
// The number of words that it pushes.
size_t epilogue_words(const std::optional<LoopPlan>& plan);

}  // namespace tenon_cuda
