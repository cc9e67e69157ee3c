// Runs hand-written shaders through plain Vulkan, as a baseline for the kernels of the Vulkan
// plugin.

#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace benches {

// A device, a queue, and two buffers that all shaders use: one for input and one for output. Errors
// exit the program.
class BareVulkan {
 public:
  // Opens the device with that UUID.
  BareVulkan(const uint8_t* uuid, uint64_t buffer_bytes);
  ~BareVulkan();
  BareVulkan(const BareVulkan&) = delete;
  BareVulkan& operator=(const BareVulkan&) = delete;

  // Recorded dispatches, ready to be submitted.
  class Dispatch;
  // Assembles a SPIR-V shader and records `groups` workgroups of it, `times` times with a barrier
  // after each.
  Dispatch prepare(const std::string& assembly, std::array<uint32_t, 3> groups, int times = 1);
  // Submits the dispatches and waits until they have finished.
  void run(const Dispatch& dispatch);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class BareVulkan::Dispatch {
 public:
  explicit Dispatch(VkCommandBuffer commands) : commands_(commands) {}

 private:
  friend BareVulkan;
  VkCommandBuffer commands_;
};

// Workgroups for `n_invocations` invocations, a multiple of 65,536.
std::array<uint32_t, 3> groups_in_rows(uint32_t n_invocations);

// Copies n words between the buffers, with n a multiple of 262,144. Each invocation copies a word,
// four words, or loops over groups of four words.
enum class Copy { kWord, kVec4, kVec4Loop };
std::string copy_shader(Copy copy, uint32_t n);
std::array<uint32_t, 3> copy_groups(Copy copy, uint32_t n);

// Each invocation does n_chains * n_rounds multiply-adds in n_chains independent chains: as
// separate operations, or fused with a single rounding.
enum class MultiplyAdd { kTwoSteps, kFused };
std::string multiply_add_shader(MultiplyAdd how, uint32_t n_chains, uint32_t n_rounds);

}  // namespace benches
