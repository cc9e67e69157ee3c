// What kernels hand over to a stream: dispatches, whose operands are memory and whose parameters
// are words; and what they ask of a device when they are prepared.
//
// A shader sees one block of words of parameters, and each operand as a block of words of its own,
// whatever its dtype: set 0, binding 0 is the parameters, binding 1 + i is operand i. Its push
// constant, one word, says at which word of binding 0 the dispatch's parameters begin. The first of
// them say at which byte of its block each operand begins, in the order of the operands; those of
// the kernel follow. An operand by value is memory, too: it is put behind the parameters.

#pragma once

#include <tenon/plugin.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "plugins/sdk/kernel.h"
#include "plugins/vulkan/capabilities.h"

namespace tenon_vulkan {

// A shader that is ready. The device keeps it as long as somebody has it.
class Pipeline;
using PipelineRef = std::shared_ptr<const Pipeline>;

// ---- when a kernel is prepared

const Capabilities& capabilities_of(tenon_device_p* device);

// Whether a tool shows what kernels are called.
bool has_names(tenon_device_p* device);

tenon_error* make_error(tenon_device_p* device, tenon_code code, std::string_view message);

// The reason for which no shader has so many operands, or none.
tenon_string refusal_of_operands(tenon_device_p* device, size_t n);

// An error, rather than a wrong result, where an invocation would go through its loops more often
// than the driver lets it.
tenon_error* check_iterations(tenon_device_p* device, uint64_t iterations);
// Likewise where elements are more than a shader counts, with 32 bits; memory has fewer, but what
// is broadcast may have more.
tenon_error* check_count(tenon_device_p* device, int64_t n);
// The same of each axis, which may be long without memory where it is broadcast.
tenon_error* check_axes(tenon_device_p* device, const tenon_launch& launch);

// A shader whose entry is `main`, ready to be dispatched with so many operands, of which it sees
// those of a mask as texels. The device keeps it and gives the same one for the same words.
tenon_error* make_pipeline(tenon_device_p* device, std::span<const uint32_t> spirv,
                           uint32_t n_operands, PipelineRef* out_pipeline, uint32_t texels = 0);

// ---- when it is launched

// An operand of a dispatch.
struct Operand {
  // Which of the launch's operands: its inputs, then its outputs, then the workspace and the
  // record.
  uint32_t number;
  tenon_buffer_p* buffer;  // NULL: by value.
  const void* value;       // By value: one element.
  // What may be touched, in bytes from the beginning of the buffer, and where its first element is.
  uint64_t begin, end;
  uint64_t first;
  bool is_written;
};

// A view as an operand. `number` counts the inputs, then the outputs.
Operand operand_of(const tenon_launch& launch, uint32_t number);
// Whether it begins at a multiple of four elements.
bool starts_by_four(const Operand& operand, tenon_dtype dtype);
// Its inputs that are there, and its outputs.
std::vector<Operand> operands_of(const tenon_launch& launch);
Operand workspace_of(const tenon_launch& launch);
// Where nobody asked for a record this is memory that nobody reads.
Operand record_of(const tenon_launch& launch);

struct Dispatch {
  const Pipeline* pipeline;
  std::span<const Operand> operands;
  std::span<const uint32_t> words;  // The kernel's own parameters.
  std::array<uint32_t, 3> groups;   // With a zero there is nothing to do.
  uint64_t products = 0;            // Multiplications, where these are what takes long.
  // Of an invocation's loops, all of them together, for each number that it goes over; 0: unknown.
  // Where it is known, groups have kLocalSize invocations, which share no memory, and several
  // dispatches may become one.
  uint64_t iterations = 0;
  // Then: over so many numbers it goes (spirv::Code::for_each), in any number of groups; 0:
  // unknown.
  uint64_t n = 0;
};

// Takes dispatches in their order. Each sees what those before it wrote.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual tenon_error* dispatch(const Dispatch& dispatch) = 0;
};

// A prepared kernel of this plugin.
class Kernel : public tenon_sdk::Kernel {
 public:
  // Hands over what a launch comes to; nothing, if there is nothing to do. What it hands over, and
  // in which order, does not depend on where the operands are nor on what those by value hold, so
  // that a recording can say both anew.
  virtual tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const = 0;

  // What it computes, for tools that show it: "matmul", "loop(add,mul)". Empty where none looks.
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // Into the stream.
  tenon_error* launch(tenon_stream_p* stream, const tenon_launch& launch) const final;

 private:
  std::string name_;
};

}  // namespace tenon_vulkan
