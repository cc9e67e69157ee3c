// Matrix products through cuBLASLt, which is loaded when the first product can use it. The
// algorithm is chosen once for each shape, by the library's heuristic, without timing and without
// split-K. So the bits of a result depend only on the shape and on the library's version.

#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "plugins/cuda/driver/driver.h"
#include "plugins/cuda/encoder.h"

namespace tenon_cuda {

// A product that is prepared for cuBLASLt. All operands must be row-major and begin at addresses
// that are multiples of LibraryCall::kAlignment.
class LibraryProduct {
 public:
  LibraryProduct(const Driver& driver, const CublasLtFunctions& functions, cublasLtHandle handle)
      : driver_(driver), lt_(functions), handle_(handle) {}
  LibraryProduct(const LibraryProduct&) = delete;
  LibraryProduct& operator=(const LibraryProduct&) = delete;
  ~LibraryProduct();

  // Creates the descriptions of operands and product, and chooses an algorithm.
  tenon_error* open(const LibraryShape& shape);
  // Whether the library has an algorithm for the shape.
  bool has_algorithm() const { return is_served_; }
  // Returns the size of the workspace that the algorithm needs.
  uint64_t workspace_bytes() const { return choice_.workspace_bytes; }
  // Enqueues the product in the stream.
  tenon_error* run(CUstream stream, const LibraryCall& call) const;

 private:
  tenon_error* make_layout(cublasLtLayout& layout, int64_t rows, int64_t columns,
                           int64_t batch_stride);
  tenon_error* choose_algorithm();

  const Driver& driver_;
  const CublasLtFunctions& lt_;
  const cublasLtHandle handle_;
  LibraryShape shape_ = {};
  cublasLtDescription description_ = nullptr;
  // Layouts of `a` and `b`. Index 0: one matrix per batch element; index 1: one matrix for the
  // whole batch.
  cublasLtLayout a_[2] = {}, b_[2] = {}, d_ = nullptr;
  cublasLtChoice choice_ = {};
  bool is_served_ = false;
};

// The prepared products of a device, cached by shape.
class LibraryProducts {
 public:
  LibraryProducts(const Driver& driver, CUcontext context) : driver_(driver), context_(context) {}
  LibraryProducts(const LibraryProducts&) = delete;
  LibraryProducts& operator=(const LibraryProducts&) = delete;
  ~LibraryProducts();

  // Returns the product of a shape in `product`. Sets it to NULL, without an error, if the library
  // is not installed or has no algorithm for the shape.
  tenon_error* find(const LibraryShape& shape, const LibraryProduct** product);

 private:
  // Loads the library if it is installed.
  tenon_error* open_library();

  const Driver& driver_;
  const CUcontext context_;
  std::mutex mutex_;
  bool was_searched_ = false;
  CublasLtFunctions lt_;
  cublasLtHandle handle_ = nullptr;
  std::map<LibraryShape, std::unique_ptr<LibraryProduct>> products_;
};

}  // namespace tenon_cuda
