// Prepares and launches a plugin's kernel without the core.

#pragma once

#include <optional>

#include "conformance/device/drive.h"

namespace tenon_kit::device {

// An operand: a dense view, or one element passed by value.
struct Arg {
  tenon_dtype dtype = TENON_DTYPE_NONE;
  std::vector<int64_t> sizes;
  Bytes bytes;  // Contents of an input.
  bool by_value = false;

  uint64_t size() const;  // Size in bytes.
};

// A prepared kernel, released by the destructor.
class Prepared {
 public:
  Prepared(const Bench& bench, size_t line, const void* attrs, const std::vector<Arg>& inputs,
           const std::vector<Arg>& outputs, uint32_t flags = 0);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared();

  tenon_kernel_p* get() const { return handle_; }  // NULL if the plugin refused the kernel.
  uint32_t traits() const { return traits_; }

 private:
  const Bench& bench_;
  tenon_kernel_p* handle_ = nullptr;
  uint32_t traits_ = 0;
};

// Launches a kernel repeatedly on the same operands. Overwrites the launch arguments right after
// each call, because the plugin may read them only during the call.
class Launching {
 public:
  Launching(const Bench& bench, const Stream& stream, const Prepared& kernel,
            std::vector<Arg> inputs, std::vector<Arg> outputs);

  tenon_error* launch(uint64_t ticket = 1);
  Bytes output(size_t i) const;       // Contents of an output, after the launch completed.
  tenon_error_record record() const;  // The error record, after the launch completed.
  // Overwrites the error record on the device.
  void set_record(const tenon_error_record& record);

 private:
  static constexpr uint64_t kMargin = 64;  // Bytes before and after an operand in its buffer.

  const Bench& bench_;
  const Stream& stream_;
  const Prepared& kernel_;
  std::vector<Arg> args_;  // Inputs, then outputs.
  size_t n_inputs_;
  std::vector<Buffer> buffers_;  // One for each operand.
  Buffer record_;
  std::optional<Buffer> workspace_;
};

// Returns the index of the plugin's first kernel line for `op` that accepts inputs of these dtypes.
std::optional<size_t> line_of(const Plugin& plugin, uint32_t op,
                              const std::vector<tenon_dtype>& inputs);

}  // namespace tenon_kit::device
