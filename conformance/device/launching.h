// A kernel of a plugin's line, prepared and launched without the core.

#pragma once

#include <optional>

#include "conformance/device/drive.h"

namespace tenon_kit::device {

// An operand: dense, or one element by value.
struct Arg {
  tenon_dtype dtype = TENON_DTYPE_NONE;
  std::vector<int64_t> sizes;
  Bytes bytes;  // Of an input: what it holds.
  bool by_value = false;

  uint64_t size() const;  // In bytes.
};

// What `prepare` is asked and answers. Ended when this ends.
class Prepared {
 public:
  Prepared(const Bench& bench, size_t line, const void* attrs, const std::vector<Arg>& inputs,
           const std::vector<Arg>& outputs, uint32_t flags = 0);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared();

  tenon_kernel_p* get() const { return handle_; }  // NULL: refused.
  uint32_t traits() const { return traits_; }

 private:
  const Bench& bench_;
  tenon_kernel_p* handle_ = nullptr;
  uint32_t traits_ = 0;
};

// One launch after another on the same operands. What is handed over is overwritten as soon as a
// call returns, for it is the plugin's during the call only.
class Launching {
 public:
  Launching(const Bench& bench, const Stream& stream, const Prepared& kernel,
            std::vector<Arg> inputs, std::vector<Arg> outputs);

  tenon_error* launch(uint64_t ticket = 1);
  Bytes output(size_t i) const;       // After the stream has passed it.
  tenon_error_record record() const;  // Likewise.
  void set_record(const tenon_error_record& record);

 private:
  static constexpr uint64_t kMargin = 64;  // Before and behind an operand in its buffer.

  const Bench& bench_;
  const Stream& stream_;
  const Prepared& kernel_;
  std::vector<Arg> args_;  // Inputs, then outputs.
  size_t n_inputs_;
  std::vector<Buffer> buffers_;  // One for each.
  Buffer record_;
  std::optional<Buffer> workspace_;
};

// The first line of an op that takes these dtypes.
std::optional<size_t> line_of(const Plugin& plugin, uint32_t op,
                              const std::vector<tenon_dtype>& inputs);

}  // namespace tenon_kit::device
