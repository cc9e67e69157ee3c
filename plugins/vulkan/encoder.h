// The interface between kernels and streams. It has dispatches, whose operands are memory and whose
// parameters are 32-bit words, and queries about a device for the preparation of kernels.
//
// A shader accesses its parameters and each operand as storage buffers of words, independent of the
// dtype. In set 0, binding 0 is the parameters and binding 1 + i is operand i. The push constant is
// one word: the index of the dispatch's first parameter in binding 0. The first parameters are the
// byte offsets of the operands in their bindings, in order. The kernel's own parameters follow. An
// operand by value is stored after the parameters.

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

// A shader and its VkPipeline. The device caches pipelines and keeps each one at least while it is
// referenced.
class Pipeline;
using PipelineRef = std::shared_ptr<const Pipeline>;

// ---- preparation

const Capabilities& capabilities_of(tenon_device_p* device);

// Whether a debugging tool displays the names of kernels.
bool has_names(tenon_device_p* device);

tenon_error* make_error(tenon_device_p* device, tenon_code code, std::string_view message);

// Returns the reason why a shader on this device cannot have `n` operands; empty if it can.
tenon_string refusal_of_operands(tenon_device_p* device, size_t n);

// Returns an error if `iterations`, the loop iterations of an invocation, exceeds the driver's
// limit. Beyond the limit the result would be wrong.
tenon_error* check_iterations(tenon_device_p* device, uint64_t iterations);
// Returns an error if `n` elements are more than a shader can count with 32 bits. This can happen
// only for broadcast operands, which may have more elements than fit into memory.
tenon_error* check_count(tenon_device_p* device, int64_t n);
// Like check_count(), for the size of each axis of a launch.
tenon_error* check_axes(tenon_device_p* device, const tenon_launch& launch);

// Makes the pipeline of a shader with entry point `main` and `n_operands` operands. The operands in
// the mask `texels` are bound as texel buffers. The device caches pipelines by SPIR-V.
tenon_error* make_pipeline(tenon_device_p* device, std::span<const uint32_t> spirv,
                           uint32_t n_operands, PipelineRef* out_pipeline, uint32_t texels = 0);

// ---- launch

// An operand of a dispatch.
struct Operand {
  // Index among the launch's operands: inputs, outputs, workspace, error record, in this order.
  uint32_t number;
  tenon_buffer_p* buffer;  // NULL if the operand is passed by value.
  const void* value;       // The element of an operand that is passed by value.
  // Byte offsets in the buffer: the accessible range [begin, end), and the first element.
  uint64_t begin, end;
  uint64_t first;
  bool is_written;
};

// Returns the operand of a view. `number` is an index into the inputs, then the outputs.
Operand operand_of(const tenon_launch& launch, uint32_t number);
// Whether the operand begins at a multiple of four elements.
bool is_aligned_to_four(const Operand& operand, tenon_dtype dtype);
// Returns the operands of all present inputs, followed by those of all outputs.
std::vector<Operand> operands_of(const tenon_launch& launch);
// Returns the launch's workspace as an operand.
Operand workspace_of(const tenon_launch& launch);
// Returns the launch's error record as an operand. If the launch has none, returns an operand by
// value, which shaders may write and which is never read.
Operand error_record_of(const tenon_launch& launch);

struct Dispatch {
  const Pipeline* pipeline;
  std::span<const Operand> operands;
  std::span<const uint32_t> words;  // The kernel's own parameters.
  std::array<uint32_t, 3> groups;   // If one of them is 0, nothing is dispatched.
  uint64_t products = 0;            // Number of multiplications, if they dominate the cost.
  // Number of loop iterations of an invocation, summed over all loops, for each index that it
  // processes; 0: unknown. A dispatch may be coalesced only if the number is known. Its groups then
  // have kLocalSize invocations and use no shared memory.
  uint64_t iterations = 0;
  // If `iterations` is known: number of indices over which spirv::Code::for_each() iterates, so
  // that any number of groups can process them. 0: the number of groups is fixed.
  uint64_t n = 0;
};

// Receives the dispatches of a kernel in order. The writes of a dispatch are visible to later
// dispatches.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual tenon_error* dispatch(const Dispatch& dispatch) = 0;
};

// A prepared kernel of this plugin.
class Kernel : public tenon_sdk::Kernel {
 public:
  // Passes the dispatches of a launch to `encoder`, or none if there is no work. The number and
  // order of dispatches must not depend on the addresses of operands or on the contents of operands
  // by value, because a recording replaces both.
  virtual tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const = 0;

  // The kernel's name for debugging tools: "matmul", "loop(add,mul)". Empty if no tool is attached.
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // Enqueues the dispatches on the stream.
  tenon_error* launch(tenon_stream_p* stream, const tenon_launch& launch) const final;

 private:
  std::string name_;
};

}  // namespace tenon_vulkan
