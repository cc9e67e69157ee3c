// What kernels hand over to a stream: dispatches of compiled functions; and what they ask of a
// device when they are prepared. kernels/ sees this, and driver/ implements it.

#pragma once

#include <tenon/plugin.h>

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugins/sdk/kernel.h"

namespace tenon_cuda {

// A device function that is ready.
using Function = struct CUfunc_st*;

// ---- when a kernel is prepared

tenon_error* make_error(tenon_device_p* device, tenon_code code, std::string_view message);

// Compiles CUDA C++ source, or finds it compiled, and gives functions of these names. `name` is
// what messages call the source.
tenon_error* make_functions(tenon_device_p* device, const std::string& name,
                            const std::string& source, std::span<const char* const> names,
                            Function* functions);

// How many multiprocessors the device has. Results never depend on it.
uint32_t multiprocessors(tenon_device_p* device);

// A product of matrices, [matrices, rows, depth] times [matrices, depth, columns]; a factor that is
// transposed has its last two axes exchanged.
struct LibraryShape {
  tenon_dtype dtype;
  bool transpose_a, transpose_b, is_strict;
  int64_t matrices, rows, columns, depth;

  auto operator<=>(const LibraryShape&) const = default;
};
// The product by cuBLASLt; NULL without an error: there is no such library, or it does not serve
// the shape.
class LibraryProduct;
tenon_error* find_library_product(tenon_device_p* device, const LibraryShape& shape,
                                  const LibraryProduct** product);
uint64_t workspace_bytes(const LibraryProduct& product);
void release_error(tenon_device_p* device, tenon_error* error);

// Where its operands are. They have no gaps.
struct LibraryCall {
  static constexpr uint32_t kAlignment = 16;
  uint64_t a, b, d, workspace;
  bool shares_a, shares_b;  // There is one matrix for all.
};

// ---- when it is launched

// Where a view's first element is on the device; 0: it is by value.
uint64_t address_of(const tenon_view& view);
// Where the launch's error record is; 0: it has none.
uint64_t record_of(const tenon_launch& launch);

struct Dispatch {
  Function function;
  uint32_t n_blocks;    // 0: there is nothing to do.
  uint32_t block_size;  // Threads.
  // The one struct that the function takes, as words of 8 bytes.
  std::span<const uint64_t> parameters;
};

// Takes dispatches in their order. Each sees what those before it wrote.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual tenon_error* dispatch(const Dispatch& dispatch) = 0;
  // Copies bytes between addresses of the device that do not overlap.
  virtual tenon_error* copy(uint64_t from, uint64_t to, uint64_t size) = 0;
  virtual tenon_error* multiply(const LibraryProduct& product, const LibraryCall& call) = 0;
};

// A prepared kernel of this plugin.
class Kernel : public tenon_sdk::Kernel {
 public:
  // Hands over what a launch comes to.
  virtual tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const = 0;

  // What it computes, for messages: "matmul", "loop(add,mul)".
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // Into the stream.
  tenon_error* launch(tenon_stream_p* stream, const tenon_launch& launch) const final;

 private:
  std::string name_;
};

}  // namespace tenon_cuda
