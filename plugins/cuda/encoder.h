// The interface between kernels and streams: dispatches of compiled functions, and the queries that
// kernels make about a device when they are prepared. kernels/ uses it, and driver/ implements it.

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

// ---- when a kernel is prepared

tenon_error* make_error(tenon_device_p* device, tenon_code code, std::string_view message);

// Compiles CUDA C++ source, or finds it in a cache, and returns its functions of these names.
// `name` names the source in error messages.
tenon_error* make_functions(tenon_device_p* device, const std::string& name,
                            const std::string& source, std::span<const char* const> names,
                            Function* functions);

// Number of multiprocessors of the device. Results must not depend on it.
uint32_t multiprocessors(tenon_device_p* device);

// A matrix product [matrices, rows, depth] times [matrices, depth, columns]. A transposed factor
// has its last two axes exchanged.
struct LibraryShape {
  tenon_dtype dtype;
  bool transpose_a, transpose_b, is_strict;
  int64_t matrices, rows, columns, depth;

  auto operator<=>(const LibraryShape&) const = default;
};
// Finds the product in cuBLASLt. `product` becomes NULL, without an error, if there is no library
// or it does not support the shape.
class LibraryProduct;
tenon_error* find_library_product(tenon_device_p* device, const LibraryShape& shape,
                                  const LibraryProduct** product);
uint64_t workspace_bytes(const LibraryProduct& product);
void release_error(tenon_device_p* device, tenon_error* error);

// Addresses of the operands, which are contiguous.
struct LibraryCall {
  static constexpr uint32_t kAlignment = 16;
  uint64_t a, b, d, workspace;
  bool shares_a, shares_b;  // The factor is one matrix for the whole batch.
};

// ---- when it is launched

// Device address of a view's first element; 0: the operand is passed by value.
uint64_t address_of(const tenon_view& view);
// Device address of the launch's error record; 0: it has none.
uint64_t record_of(const tenon_launch& launch);

struct Dispatch {
  Function function;
  uint32_t n_blocks;    // 0: nothing is dispatched.
  uint32_t block_size;  // Threads per block.
  // The function's only parameter, a struct, as words of 8 bytes.
  std::span<const uint64_t> parameters;
};

// Receives dispatches in order. Each sees the writes of those before it.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual tenon_error* dispatch(const Dispatch& dispatch) = 0;
  // Copies bytes between device addresses. The ranges must not overlap.
  virtual tenon_error* copy(uint64_t from, uint64_t to, uint64_t size) = 0;
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
