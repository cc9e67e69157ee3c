// Capabilities of a device. Kernels read them to generate suitable shaders. Every feature listed
// here was enabled when the device was opened, so shaders may use it.

#pragma once

#include <cstdint>

namespace tenon_vulkan {

// Float controls that shaders of one float width may request, as the device reports them in
// VkPhysicalDeviceFloatControlsProperties.
struct FloatControls {
  bool preserves_signed_zero_inf_nan;
  bool preserves_denorms;
  bool rounds_to_nearest_even;
};

// Maximum number of operands of a dispatch on any device, even if the device can bind more.
inline constexpr uint32_t kMaxOperands = 64;

// Number of invocations in a workgroup. Every Vulkan device supports at least 128. Software drivers
// run all invocations of a workgroup on one thread.
inline constexpr uint32_t kLocalSize = 64;

// Maximum number of loop iterations of an invocation, over all its loops. Mesa's software driver
// silently ends loops after 65,535 iterations, and GPU drivers abort long shaders.
inline constexpr uint32_t kMaxIterations = 32768;

// Maximum number of elements that a shader can index: indices have 32 bits, and loops may compute
// indices slightly beyond the last element.
inline constexpr uint32_t kMaxCount = ~uint32_t{0} - (uint32_t{1} << 23);

struct Capabilities {
  bool float64;
  FloatControls controls32, controls64;

  uint32_t subgroup_size;
  bool subgroup_ballot, subgroup_shuffle, subgroup_quad;  // Supported in compute shaders.

  uint32_t max_operands;  // Maximum number of operands of a dispatch, without the parameter buffer.
  uint64_t max_operand_bytes;
  // Maximum size of an operand at any offset, in bytes. A binding begins at an aligned offset, up
  // to 255 bytes before the operand.
  uint64_t bindable_bytes() const { return max_operand_bytes - 256; }
  bool texels;  // Every operand can also be bound as a texel buffer with texels of four words.
  // Total number of loop iterations after which the driver silently ends an invocation's loops.
  uint64_t max_iterations;
  // Maximum number of multiplications in a dispatch of a matrix product; a batch is submitted when
  // it reaches this number. Drivers report the device as lost if one submission runs for seconds.
  uint64_t max_products_per_submission;
  uint32_t shared_memory_bytes;

  bool is_integrated;  // The device shares the host's memory.
  bool is_software;    // The driver runs shaders on the host's processor.
  bool runs_on_host;   // Kernels use their CPU variants instead of their GPU variants.
};

}  // namespace tenon_vulkan
