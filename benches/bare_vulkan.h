// Shaders written by hand, run through Vulkan itself: what kernels of the Vulkan plugin are
// measured against.

#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace benches {

// A device, a queue, and two buffers that all shaders have: what they read and what they write.
// What fails ends the program.
class BareVulkan {
 public:
  // The device with that UUID.
  BareVulkan(const uint8_t* uuid, uint64_t buffer_bytes);
  ~BareVulkan();
  BareVulkan(const BareVulkan&) = delete;
  BareVulkan& operator=(const BareVulkan&) = delete;

  // Dispatches that are ready to be submitted.
  class Dispatch;
  // A shader, as SPIR-V in text, and how many groups run it: once, or again and again, each time
  // behind a barrier.
  Dispatch prepare(const std::string& assembly, std::array<uint32_t, 3> groups, int times = 1);
  // Submits it, and waits until it has finished.
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

// So many invocations, a multiple of 65,536.
std::array<uint32_t, 3> groups_in_rows(uint32_t n_invocations);

// Copies n words from one buffer to the other, n a multiple of 262,144: a word or four for each
// invocation, or four at a time as long as there are any.
enum class Copy { kWord, kVec4, kVec4Loop };
std::string copy_shader(Copy copy, uint32_t n);
std::array<uint32_t, 3> copy_groups(Copy copy, uint32_t n);

// Each invocation multiplies and adds n_chains * n_rounds times, in as many chains: in two steps,
// or in one that rounds once.
enum class MultiplyAdd { kTwoSteps, kFused };
std::string multiply_add_shader(MultiplyAdd how, uint32_t n_chains, uint32_t n_rounds);

}  // namespace benches
