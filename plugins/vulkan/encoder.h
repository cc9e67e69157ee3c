// The interface between kernels and streams: dispatches, whose operands are memory and whose
// parameters are words, and the queries that kernels make about a device when they are prepared.
//
// A shader sees one storage buffer of parameter words, and each operand as a storage buffer of
// words, whatever its dtype. In set 0, binding 0 is the parameters and binding 1 + i is operand i.
// The push constant, one word, is the index of the word of binding 0 where the dispatch's
// parameters begin. The first parameters are the byte offsets of the operands in their bindings, in
// order; the kernel's own parameters follow. An operand by value is stored in memory after the
// parameters.

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

// A shader with its pipeline. The device keeps a pipeline while it is referenced.
class Pipeline;
using PipelineRef = std::shared_ptr<const Pipeline>;

// ---- preparation

const Capabilities& capabilities_of(tenon_device_p* device);

// Whether a debugging tool displays the names of kernels.
bool has_names(tenon_device_p* device);

tenon_error* make_error(tenon_device_p* device, tenon_code code, std::string_view message);

// The reason why no shader can have `n` operands, or an empty string.
tenon_string refusal_of_operands(tenon_device_p* device, size_t n);

// Returns an error if an invocation would run more loop iterations than the driver permits, since
// the result would be wrong.
tenon_error* check_iterations(tenon_device_p* device, uint64_t iterations);
// Returns an error if there are more elements than a shader can count with 32 bits. Memory holds
// fewer, but broadcast operands may have more.
tenon_error* check_count(tenon_device_p* device, int64_t n);
// The same check for each axis: a broadcast axis may be long without memory.
tenon_error* check_axes(tenon_device_p* device, const tenon_launch& launch);

// Makes a shader with entry point `main` and `n_operands` operands; those in the mask `texels` are
// bound as texel buffers. The device caches pipelines by SPIR-V.
tenon_error* make_pipeline(tenon_device_p* device, std::span<const uint32_t> spirv,
                           uint32_t n_operands, PipelineRef* out_pipeline, uint32_t texels = 0);

// ---- launch

// An operand of a dispatch.
struct Operand {
  // Index among the launch's operands: its inputs, then its outputs, then the workspace and the
  // error record.
  uint32_t number;
  tenon_buffer_p* buffer;  // NULL: by value.
  const void* value;       // By value: one element.
  // The range that may be accessed, in bytes from the beginning of the buffer, and the offset of
  // the first element.
  uint64_t begin, end;
  uint64_t first;
  bool is_written;
};

// Returns the operand of a view. `number` is an index into the inputs, then the outputs.
Operand operand_of(const tenon_launch& launch, uint32_t number);
// Whether the operand begins at a multiple of four elements.
bool is_aligned_to_four(const Operand& operand, tenon_dtype dtype);
// The inputs that are present, and the outputs.
std::vector<Operand> operands_of(const tenon_launch& launch);
Operand workspace_of(const tenon_launch& launch);
// The error record as an operand. If the launch has none, the operand is scratch memory that is
// never read.
Operand record_of(const tenon_launch& launch);

struct Dispatch {
  const Pipeline* pipeline;
  std::span<const Operand> operands;
  std::span<const uint32_t> words;  // The kernel's own parameters.
  std::array<uint32_t, 3> groups;   // If one of them is 0, nothing is dispatched.
  uint64_t products = 0;            // Number of multiplications, if they dominate the cost.
  // Loop iterations of an invocation, over all loops, for each index that it processes; 0: unknown.
  // If known, groups have kLocalSize invocations without shared memory, and several dispatches may
  // be coalesced.
  uint64_t iterations = 0;
  // If `iterations` is known: the number of indices (spirv::Code::for_each), which any number of
  // groups can process; 0: unknown.
  uint64_t n = 0;
};

// Receives dispatches in order. Each sees the writes of those before it.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual tenon_error* dispatch(const Dispatch& dispatch) = 0;
};

// A prepared kernel of this plugin.
class Kernel : public tenon_sdk::Kernel {
 public:
  // Emits the dispatches of a launch; none if there is no work. Their number and order do not
  // depend on the addresses of operands or on the contents of operands by value, so a recording can
  // replace both.
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
