// Runs hand-written shaders directly through Vulkan. They are the baseline for the kernels of
// Tenon's Vulkan plugin.

#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace benches {

// A Vulkan device with a queue, an input buffer and an output buffer, which all shaders share. Any
// error prints a message and exits.
class BareVulkan {
 public:
  // Opens the device with the given UUID and allocates buffers of `buffer_bytes`.
  BareVulkan(const uint8_t* uuid, uint64_t buffer_bytes);
  ~BareVulkan();
  BareVulkan(const BareVulkan&) = delete;
  BareVulkan& operator=(const BareVulkan&) = delete;

  // A command buffer of recorded dispatches.
  class Dispatch;
  // Assembles a SPIR-V shader and records `times` dispatches of `groups` workgroups, with a barrier
  // after each.
  Dispatch prepare(const std::string& assembly, std::array<uint32_t, 3> groups, int times = 1);
  // Submits the command buffer and waits until it has finished.
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

// Returns the numbers of workgroups (x, y, z) for `n_invocations` invocations, which must be a
// multiple of 65,536.
std::array<uint32_t, 3> groups_in_rows(uint32_t n_invocations);

// Each invocation copies one word (kWord) or four words (kVec4), or loops over groups of four words
// (kVec4Loop).
enum class Copy { kWord, kVec4, kVec4Loop };
// Returns a shader that copies n 32-bit words from the input to the output; n must be a multiple of
// 262,144.
std::string copy_shader(Copy copy, uint32_t n);
// Returns the numbers of workgroups (x, y, z) with which copy_shader() copies n words.
std::array<uint32_t, 3> copy_groups(Copy copy, uint32_t n);

// kTwoSteps rounds twice (mul, add); kFused rounds once (fma).
enum class MultiplyAdd { kTwoSteps, kFused };
// Returns a shader in which each invocation computes n_chains * n_rounds multiply-adds in n_chains
// independent chains.
std::string multiply_add_shader(MultiplyAdd how, uint32_t n_chains, uint32_t n_rounds);

}  // namespace benches
