// A device as its driver describes it, before it is opened.

#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/vulkan/capabilities.h"
#include "plugins/vulkan/driver/vulkan.h"

namespace tenon_vulkan {

// Whether what is not in Vulkan 1.1 is there, by a later version or by an extension.
struct Offers {
  bool timeline, float_controls, driver_properties, maintenance4, external_memory_host,
      memory_budget;
};

// The features that kernels or streams use. First what is there, then the same to ask for it.
struct FeatureChain {
  VkPhysicalDeviceFeatures2 core;
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline;

  // Points one at the other, from `core` on.
  void link(const Offers& offers);
};

struct PhysicalDevice {
  VkPhysicalDevice handle;
  VkPhysicalDeviceProperties properties;
  VkPhysicalDeviceMemoryProperties memory;
  uint32_t api_version;  // The most that both sides know.
  uint32_t queue_family;
  uint32_t timestamp_bits;  // Of that family; 0: its queues have no clock.
  std::array<uint8_t, VK_UUID_SIZE> uuid;
  std::string vendor;
  std::string driver;
  uint64_t max_allocation_bytes;
  uint64_t max_buffer_bytes;
  uint64_t import_alignment;  // Of the host's memory that buffers may be made of; 0: of none.
  Offers offers;
  FeatureChain features;
  std::vector<const char*> extensions;  // To be asked for.
  Capabilities capabilities;

  bool has_timeline() const { return offers.timeline && features.timeline.timelineSemaphore; }
};

// The devices with a compute queue and Vulkan 1.1: first the discrete ones, then those that share
// the host's memory, virtual ones and software. `why` says what became of the others.
VkResult list_devices(const InstanceFunctions& vk, VkInstance instance, uint32_t api_version,
                      std::vector<PhysicalDevice>& devices, std::string& why);

// Leaves of them what Vulkan 1.1 asks of every device.
void keep_minimum(Capabilities& capabilities);

// Whether option `device` names the device with this index in the list.
bool is_named(const PhysicalDevice& device, size_t index, std::string_view name);

}  // namespace tenon_vulkan
