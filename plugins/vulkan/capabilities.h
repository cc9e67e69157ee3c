// Capabilities of a device, on which kernels base the code that they generate. Every feature listed
// here was enabled when the device was opened, so shaders may use it.

#pragma once

#include <cstdint>

namespace tenon_vulkan {

// Float controls that shaders request for one width (VkPhysicalDeviceFloatControlsProperties).
struct FloatControls {
  bool preserves_signed_zero_inf_nan;
  bool preserves_denorms;
  bool rounds_to_nearest_even;
};

// Maximum number of operands of a dispatch, whatever the device can bind.
inline constexpr uint32_t kMaxOperands = 64;

// Invocations in a workgroup. Every device supports 128; software drivers run a group on one
// thread.
inline constexpr uint32_t kLocalSize = 64;

// Maximum number of loop iterations of an invocation, over all its loops. Mesa's software driver
// silently ends loops after 65,535 iterations, and GPU drivers abort long shaders.
inline constexpr uint32_t kMaxIterations = 32768;

// Maximum number of elements that a shader can count: indices have 32 bits, with some headroom
// beyond the last element.
inline constexpr uint32_t kMaxCount = ~uint32_t{0} - (uint32_t{1} << 23);

struct Capabilities {
  bool float64;
  FloatControls controls32, controls64;

  uint32_t subgroup_size;
  bool subgroup_ballot, subgroup_shuffle, subgroup_quad;  // Supported in compute shaders.

  uint32_t max_operands;  // Maximum of a dispatch, not counting the parameter buffer.
  uint64_t max_operand_bytes;
  // Usable bytes of an operand at any offset, since bindings begin at aligned offsets.
  uint64_t bindable_bytes() const { return max_operand_bytes - 256; }
  bool texels;  // Every operand range can also be bound as a texel buffer of four-word texels.
  uint64_t
      max_iterations;  // The driver silently ends the loops of an invocation at this total number.
  // Maximum number of multiplications in a dispatch of a matrix product; a submission ends when it
  // reaches this number. Drivers report the device as lost if it is busy for seconds.
  uint64_t max_products_per_submission;
  uint32_t shared_memory_bytes;

  bool is_integrated;  // Shares the host's memory.
  bool is_software;    // Runs on the host's processor.
  bool runs_on_host;   // Use the kernel variants that are fast on CPUs, not those for GPUs.
};

}  // namespace tenon_vulkan
