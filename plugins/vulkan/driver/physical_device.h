// The properties and features of a device that its driver reports, before the device is opened.

#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/vulkan/capabilities.h"
#include "plugins/vulkan/driver/vulkan.h"

namespace tenon_vulkan {

// Functionality beyond Vulkan 1.1 that the device supports by a later version or by an extension.
struct OptionalFeatures {
  bool timeline, float_controls, driver_properties, maintenance4, external_memory_host,
      memory_budget;
};

// The features that kernels or streams use: first filled with the supported ones, then passed to
// vkCreateDevice to enable them.
struct FeatureChain {
  VkPhysicalDeviceFeatures2 core;
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline;

  // Links the pNext chain, starting at `core`.
  void link(const OptionalFeatures& offers);
};

struct PhysicalDevice {
  VkPhysicalDevice handle;
  VkPhysicalDeviceProperties properties;
  VkPhysicalDeviceMemoryProperties memory;
  uint32_t api_version;  // The highest Vulkan version that both the plugin and the device support.
  uint32_t queue_family;
  uint32_t timestamp_bits;  // Bits of a timestamp on the queues of this family; 0: no timestamps.
  std::array<uint8_t, VK_UUID_SIZE> uuid;
  std::string vendor;
  std::string driver;
  uint64_t max_allocation_bytes;
  uint64_t max_buffer_bytes;
  // Required alignment of imported host memory in bytes; 0 if import is not supported.
  uint64_t import_alignment;
  OptionalFeatures offers;
  FeatureChain features;
  std::vector<const char*> extensions;  // Extensions to enable.
  Capabilities capabilities;

  bool has_timeline() const { return offers.timeline && features.timeline.timelineSemaphore; }
};

// Lists the devices with a compute queue and Vulkan 1.1: first discrete GPUs, then integrated GPUs,
// virtual GPUs and software drivers. If a device is rejected, `why` receives the reason.
VkResult list_devices(const InstanceFunctions& vk, VkInstance instance, uint32_t api_version,
                      std::vector<PhysicalDevice>& devices, std::string& why);

// Reduces the capabilities to those that Vulkan 1.1 requires of every device.
void reduce_to_required_minimum(Capabilities& capabilities);

// Whether the value `name` of option `device` selects the device with this index in the list.
bool matches_option(const PhysicalDevice& device, size_t index, std::string_view name);

}  // namespace tenon_vulkan
