// The interface between kernels and streams: dispatches of compiled functions, and queries about a
// device for the preparation of kernels. kernels/ uses this interface, and driver/ implements it.

#pragma once

#include <tenon/plugin.h>

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugins/sdk/kernel.h"

namespace tenon_cuda {

// A compiled and loaded device function.
using Function = struct CUfunc_st*;

// ---- preparation of kernels

tenon_error* make_error(tenon_device_p* device, tenon_code code, std::string_view message);

// Compiles CUDA C++ source, or finds the compiled code in a cache, and returns the functions with
// these names. `name`: name of the source in error messages.
tenon_error* make_functions(tenon_device_p* device, const std::string& name,
                            const std::string& source, std::span<const char* const> names,
                            Function* functions);

// Returns the number of multiprocessors of the device. Results of kernels must not depend on the
// number.
uint32_t multiprocessors(tenon_device_p* device);

// A matrix product [matrices, rows, depth] times [matrices, depth, columns]. A transposed factor
// has its last two axes exchanged.
struct LibraryShape {
  tenon_dtype dtype;
  bool transpose_a, transpose_b, is_strict;
  int64_t matrices, rows, columns, depth;

  auto operator<=>(const LibraryShape&) const = default;
};
// Returns a product of cuBLASLt in `product`. Sets it to NULL, without an error, if the library is
// not installed or does not support the shape.
class LibraryProduct;
tenon_error* find_library_product(tenon_device_p* device, const LibraryShape& shape,
                                  const LibraryProduct** product);
// Returns the size of the workspace that cuBLASLt needs for the product.
uint64_t workspace_bytes(const LibraryProduct& product);
void release_error(tenon_device_p* device, tenon_error* error);

// Device addresses of the operands. All operands are contiguous and aligned to kAlignment.
struct LibraryCall {
  static constexpr uint32_t kAlignment = 16;
  uint64_t a, b, d, workspace;
  bool shares_a, shares_b;  // Whether `a`, or `b`, is one matrix for the whole batch.
};

// ---- launches

// Returns the device address of a view's first element; 0 if the operand is passed by value.
uint64_t address_of(const tenon_view& view);
// Returns the device address of the launch's error record; 0 if it has none.
uint64_t error_record_address(const tenon_launch& launch);

struct Dispatch {
  Function function;
  uint32_t n_blocks;    // If 0, nothing is dispatched.
  uint32_t block_size;  // Threads per block.
  // The function's only parameter, a struct, as words of 8 bytes.
  std::span<const uint64_t> parameters;
};

// Receives dispatches in order. The writes of earlier dispatches are visible to later ones.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual tenon_error* dispatch(const Dispatch& dispatch) = 0;
  // Computes a matrix product by cuBLASLt.
  virtual tenon_error* multiply(const LibraryProduct& product, const LibraryCall& call) = 0;
};

// A prepared kernel of this plugin.
class Kernel : public tenon_sdk::Kernel {
 public:
  // Enqueues the dispatches of a launch.
  virtual tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const = 0;

  // The kernel's name for error messages: "matmul", "loop(add,mul)".
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // Enqueues the launch on the stream.
  tenon_error* launch(tenon_stream_p* stream, const tenon_launch& launch) const final;

 private:
  std::string name_;
};

}  // namespace tenon_cuda
