// What a device can do, as kernels read it when they choose code. What it says was asked for when
// the device was opened, so a shader may use it.

#pragma once

#include <array>
#include <cstdint>

namespace tenon_vulkan {

// How shaders treat numbers of one width (VkPhysicalDeviceFloatControlsProperties).
struct FloatControls {
  bool preserves_signed_zero_inf_nan;
  bool preserves_denorms;
  bool flushes_denorms;
  bool rounds_to_nearest_even;
};

// No dispatch has more operands, whatever the device binds.
inline constexpr uint32_t kMostOperands = 64;

struct Capabilities {
  uint32_t api_version;  // As VK_API_VERSION_1_1; decides the version of SPIR-V.

  // Types in arithmetic, and 16 and 8 bits wide elements in storage buffers.
  bool float64, int64, float16, int16, int8;
  bool storage16, storage8;
  bool buffer_int64_atomics;

  FloatControls controls16, controls32, controls64;
  // Each width may ask for its own treatment of denorms; of rounding. Otherwise all ask for one.
  bool independent_denorms, independent_rounding;

  uint32_t subgroup_size;
  bool subgroup_basic, subgroup_vote, subgroup_arithmetic, subgroup_ballot;
  bool subgroup_shuffle, subgroup_shuffle_relative;  // All of them in compute shaders.

  uint32_t max_operands;  // Of a dispatch. The block of parameters is not counted.
  uint64_t max_operand_bytes;
  bool texels;               // All that an operand may be is also seen as texels of four words.
  uint32_t max_invocations;  // Of a workgroup.
  std::array<uint32_t, 3> max_workgroup_sizes;
  std::array<uint32_t, 3> max_groups;
  uint64_t max_iterations;  // Of an invocation's loops, all together; they end in silence then.
  uint32_t shared_memory_bytes;

  bool is_integrated;  // Shares the host's memory.
  bool is_software;    // Runs on the host's processor.
  bool runs_on_host;   // So kernels go ways that are quick there, and not those of GPUs.
};

}  // namespace tenon_vulkan
