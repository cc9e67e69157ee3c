// What a device can do, as kernels read it when they choose code. What it says was asked for when
// the device was opened, so a shader may use it.

#pragma once

#include <cstdint>

namespace tenon_vulkan {

// What shaders ask for numbers of one width, and so have (VkPhysicalDeviceFloatControlsProperties).
struct FloatControls {
  bool preserves_signed_zero_inf_nan;
  bool preserves_denorms;
  bool rounds_to_nearest_even;
};

// No dispatch has more operands, whatever the device binds.
inline constexpr uint32_t kMostOperands = 64;

// Invocations in a group. Every device has room for 128; software drivers run a group on one
// thread.
inline constexpr uint32_t kLocalSize = 64;

// An invocation goes through its loops so many times at most, through all of them together. Mesa's
// software driver ends loops in silence at 65,535 times, and drivers of GPUs end long shaders.
inline constexpr uint32_t kMostIterations = 32768;

// Shaders count with 32 bits, and a bit beyond what there is.
inline constexpr uint32_t kMostCounted = ~uint32_t{0} - (uint32_t{1} << 23);

struct Capabilities {
  bool float64;
  FloatControls controls32, controls64;

  uint32_t subgroup_size;
  bool subgroup_ballot, subgroup_shuffle, subgroup_quad;  // In compute shaders.

  uint32_t max_operands;  // Of a dispatch. The block of parameters is not counted.
  uint64_t max_operand_bytes;
  // The same wherever it begins: blocks are bound from multiples of an alignment on.
  uint64_t seen_bytes() const { return max_operand_bytes - 256; }
  bool texels;              // All that an operand may be is also seen as texels of four words.
  uint64_t max_iterations;  // Of an invocation's loops, all together; they end in silence then.
  // A product comes in dispatches of so many multiplications, and a submission ends once it has so
  // many. Drivers take a device for lost that is busy with one for seconds.
  uint64_t products_at_once;
  uint32_t shared_memory_bytes;

  bool is_integrated;  // Shares the host's memory.
  bool is_software;    // Runs on the host's processor.
  bool runs_on_host;   // So kernels go ways that are quick there, and not those of GPUs.
};

}  // namespace tenon_vulkan
