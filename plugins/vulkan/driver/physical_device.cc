#include "plugins/vulkan/driver/physical_device.h"

#include <algorithm>
#include <cstring>

namespace tenon_vulkan {
namespace {

constexpr uint32_t kNever = ~0u;  // A version number that is greater than every Vulkan version.

// Returns an empty Vulkan struct with this sType.
template <class Struct>
Struct make_struct(VkStructureType type) {
  Struct made = {};
  made.sType = type;
  return made;
}

// Builds the pNext chain of a query or of a creation call.
class Chain {
 public:
  template <class Struct>
  explicit Chain(Struct& first) : last_(reinterpret_cast<VkBaseOutStructure*>(&first)) {
    last_->pNext = nullptr;
  }
  template <class Struct>
  void add(bool is_there, Struct& next) {
    if (!is_there) return;
    last_->pNext = reinterpret_cast<VkBaseOutStructure*>(&next);
    last_ = last_->pNext;
    last_->pNext = nullptr;
  }

 private:
  VkBaseOutStructure* last_;
};

struct PropertyChain {
  VkPhysicalDeviceProperties2 core =
      make_struct<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  VkPhysicalDeviceIDProperties id =
      make_struct<VkPhysicalDeviceIDProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES);
  VkPhysicalDeviceMaintenance3Properties maintenance3 =
      make_struct<VkPhysicalDeviceMaintenance3Properties>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES);
  VkPhysicalDeviceSubgroupProperties subgroup = make_struct<VkPhysicalDeviceSubgroupProperties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
  VkPhysicalDeviceDriverProperties driver = make_struct<VkPhysicalDeviceDriverProperties>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
  VkPhysicalDeviceFloatControlsProperties floats =
      make_struct<VkPhysicalDeviceFloatControlsProperties>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES);
  VkPhysicalDeviceMaintenance4Properties maintenance4 =
      make_struct<VkPhysicalDeviceMaintenance4Properties>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES);
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host =
      make_struct<VkPhysicalDeviceExternalMemoryHostPropertiesEXT>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT);

  explicit PropertyChain(const OptionalFeatures& offers) {
    Chain chain(core);
    chain.add(true, id);
    chain.add(true, maintenance3);
    chain.add(true, subgroup);
    chain.add(offers.driver_properties, driver);
    chain.add(offers.float_controls, floats);
    chain.add(offers.maintenance4, maintenance4);
    chain.add(offers.external_memory_host, host);
  }
};

class Extensions {
 public:
  Extensions(const InstanceFunctions& vk, VkPhysicalDevice device) {
    uint32_t n = 0;
    if (vk.EnumerateDeviceExtensionProperties(device, nullptr, &n, nullptr) != VK_SUCCESS) return;
    list_.resize(n);
    const VkResult result =
        vk.EnumerateDeviceExtensionProperties(device, nullptr, &n, list_.data());
    list_.resize(result == VK_SUCCESS || result == VK_INCOMPLETE ? n : 0);
  }
  bool has(const char* name) const {
    return std::any_of(list_.begin(), list_.end(), [&](const VkExtensionProperties& each) {
      return std::strcmp(each.extensionName, name) == 0;
    });
  }

 private:
  std::vector<VkExtensionProperties> list_;
};

// Returns the available functionality and adds the required extensions to the device's list.
OptionalFeatures find_optional_features(const Extensions& extensions, PhysicalDevice& device) {
  const auto offers = [&](uint32_t since, const char* extension) {
    if (device.api_version >= since) return true;
    if (!extensions.has(extension)) return false;
    device.extensions.push_back(extension);
    return true;
  };
  // The specification requires that this extension is enabled if it is available.
  if (extensions.has("VK_KHR_portability_subset")) {
    device.extensions.push_back("VK_KHR_portability_subset");
  }
  OptionalFeatures found = {};
  found.timeline = offers(VK_API_VERSION_1_2, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME);
  found.float_controls = offers(VK_API_VERSION_1_2, VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME);
  found.driver_properties = offers(VK_API_VERSION_1_2, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME);
  found.maintenance4 = offers(VK_API_VERSION_1_3, VK_KHR_MAINTENANCE_4_EXTENSION_NAME);
  found.external_memory_host = offers(kNever, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  found.memory_budget = offers(kNever, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  return found;
}

// Selects the features to enable: only those that shaders use. Shaders use 32-bit words and
// integers only, even if the device also supports other widths.
void select_features(const InstanceFunctions& vk, PhysicalDevice& device) {
  FeatureChain& found = device.features;
  found.link(device.offers);
  vk.GetPhysicalDeviceFeatures2(device.handle, &found.core);
  const VkPhysicalDeviceFeatures all = found.core.features;
  found.core.features = {};
  found.core.features.shaderFloat64 = all.shaderFloat64;
}

// Selects a queue family with compute, if possible one without graphics, so that compute work does
// not delay a desktop's frames. Returns false if no family has compute.
bool find_queue_family(const InstanceFunctions& vk, PhysicalDevice& device) {
  uint32_t n = 0;
  vk.GetPhysicalDeviceQueueFamilyProperties(device.handle, &n, nullptr);
  std::vector<VkQueueFamilyProperties> families(n);
  vk.GetPhysicalDeviceQueueFamilyProperties(device.handle, &n, families.data());
  bool found = false;
  for (uint32_t i = 0; i < n; ++i) {
    const VkQueueFlags flags = families[i].queueFlags;
    if ((flags & VK_QUEUE_COMPUTE_BIT) == 0 || families[i].queueCount == 0) continue;
    if (found && (flags & VK_QUEUE_GRAPHICS_BIT) != 0) continue;
    if (found && (families[device.queue_family].queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0) continue;
    device.queue_family = i;
    device.timestamp_bits = families[i].timestampValidBits;
    found = true;
  }
  return found;
}

// Returns the vendor's name for a PCI or Khronos vendor id.
std::string vendor_of(uint32_t id) {
  struct Vendor {
    uint32_t id;
    const char* name;
  };
  constexpr Vendor kVendors[] = {
      {0x1002, "AMD"},   {0x1010, "Imagination"}, {0x106b, "Apple"},           {0x10de, "NVIDIA"},
      {0x13b5, "Arm"},   {0x14e4, "Broadcom"},    {0x1ae0, "Google"},          {0x5143, "Qualcomm"},
      {0x8086, "Intel"}, {0x144d, "Samsung"},     {VK_VENDOR_ID_MESA, "Mesa"},
  };
  for (const Vendor& vendor : kVendors) {
    if (vendor.id == id) return vendor.name;
  }
  char text[32];
  std::snprintf(text, sizeof text, "vendor 0x%x", id);
  return text;
}

// Returns the driver's name and version.
std::string driver_of(const PropertyChain& properties, const OptionalFeatures& offers) {
  if (offers.driver_properties && properties.driver.driverName[0] != '\0') {
    return std::string(properties.driver.driverName) + " " + properties.driver.driverInfo;
  }
  return "driver " + std::to_string(properties.core.properties.driverVersion);
}

// Reads the float controls for 32 and 64 bits. Those for 16 bits are ignored, because no shader
// computes in 16 bits. Every independence value except NONE permits different modes for 32 and 64
// bits.
void find_float_controls(const VkPhysicalDeviceFloatControlsProperties& floats,
                         Capabilities& capabilities) {
  FloatControls &single = capabilities.controls32, &wide = capabilities.controls64;
  single = {floats.shaderSignedZeroInfNanPreserveFloat32 != 0,
            floats.shaderDenormPreserveFloat32 != 0, floats.shaderRoundingModeRTEFloat32 != 0};
  if (!capabilities.float64) return;
  wide = {floats.shaderSignedZeroInfNanPreserveFloat64 != 0,
          floats.shaderDenormPreserveFloat64 != 0, floats.shaderRoundingModeRTEFloat64 != 0};
  // If the modes cannot differ between widths, a mode is used only if both widths support it.
  const auto join = [](VkShaderFloatControlsIndependence independence, bool& a, bool& b) {
    if (independence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE) a = b = a && b;
  };
  join(floats.denormBehaviorIndependence, single.preserves_denorms, wide.preserves_denorms);
  join(floats.roundingModeIndependence, single.rounds_to_nearest_even, wide.rounds_to_nearest_even);
}

// Reads the subgroup size and the subgroup operations that compute shaders may use.
void find_subgroups(const VkPhysicalDeviceSubgroupProperties& subgroup,
                    Capabilities& capabilities) {
  capabilities.subgroup_size = subgroup.subgroupSize;
  if ((subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) == 0) return;
  const auto has = [&](VkSubgroupFeatureFlags flag) {
    return (subgroup.supportedOperations & flag) != 0;
  };
  capabilities.subgroup_ballot = has(VK_SUBGROUP_FEATURE_BALLOT_BIT);
  capabilities.subgroup_shuffle = has(VK_SUBGROUP_FEATURE_SHUFFLE_BIT);
  capabilities.subgroup_quad = has(VK_SUBGROUP_FEATURE_QUAD_BIT);
}

// Reads the limits of a shader: number and size of operands, and shared memory.
void find_limits(const VkPhysicalDeviceLimits& limits, Capabilities& capabilities) {
  // Binding 0 holds the parameters.
  capabilities.max_operands =
      std::min({limits.maxPerStageDescriptorStorageBuffers, limits.maxPerStageResources,
                limits.maxDescriptorSetStorageBuffers, kMaxOperands + 1}) -
      1;
  capabilities.max_operand_bytes = std::min(limits.maxStorageBufferRange, kMaxCount);
  capabilities.texels =
      uint64_t{limits.maxTexelBufferElements} * kTexelBytes >= limits.maxStorageBufferRange &&
      limits.maxPerStageDescriptorStorageImages > 0;
  capabilities.shared_memory_bytes = limits.maxComputeSharedMemorySize;
}

// Whether buffers with usage kBlockUsage can be bound to imported host memory.
bool can_import_host_memory(const InstanceFunctions& vk, VkPhysicalDevice device) {
  const VkPhysicalDeviceExternalBufferInfo asked = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
      .pNext = nullptr,
      .flags = 0,
      .usage = kBlockUsage,
      .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
  auto found =
      make_struct<VkExternalBufferProperties>(VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES);
  vk.GetPhysicalDeviceExternalBufferProperties(device, &asked, &found);
  const VkExternalMemoryFeatureFlags features =
      found.externalMemoryProperties.externalMemoryFeatures;
  return (features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0 &&
         (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) == 0;
}

// Fills in the properties, features, extensions and capabilities of the device.
void read_properties(const InstanceFunctions& vk, PhysicalDevice& device) {
  const Extensions extensions(vk, device.handle);
  device.offers = find_optional_features(extensions, device);
  select_features(vk, device);
  PropertyChain properties(device.offers);
  vk.GetPhysicalDeviceProperties2(device.handle, &properties.core);
  vk.GetPhysicalDeviceMemoryProperties(device.handle, &device.memory);
  std::copy_n(properties.id.deviceUUID, VK_UUID_SIZE, device.uuid.begin());
  device.vendor = vendor_of(device.properties.vendorID);
  device.driver = driver_of(properties, device.offers);
  device.max_allocation_bytes = properties.maintenance3.maxMemoryAllocationSize;
  device.max_buffer_bytes = device.max_allocation_bytes;
  if (device.offers.maintenance4) {
    device.max_buffer_bytes =
        std::min<uint64_t>(device.max_buffer_bytes, properties.maintenance4.maxBufferSize);
  }
  if (device.offers.external_memory_host && can_import_host_memory(vk, device.handle)) {
    device.import_alignment = properties.host.minImportedHostPointerAlignment;
  }
  Capabilities& capabilities = device.capabilities;
  capabilities.float64 = device.features.core.features.shaderFloat64;
  find_float_controls(properties.floats, capabilities);
  find_subgroups(properties.subgroup, capabilities);
  find_limits(device.properties.limits, capabilities);
  capabilities.is_integrated =
      device.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  capabilities.is_software = device.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  const bool ends_loops =
      device.offers.driver_properties && properties.driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
  capabilities.max_iterations = ends_loops ? 65535 : UINT64_MAX;
}

// Returns the position of a device type in the list of devices.
int device_type_rank(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return 3;
    default:
      return 4;
  }
}

std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string to_hex(const std::array<uint8_t, VK_UUID_SIZE>& uuid) {
  std::string text;
  for (const uint8_t byte : uuid) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace

void FeatureChain::link(const OptionalFeatures& offers) {
  core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES;
  Chain chain(core);
  chain.add(offers.timeline, timeline);
}

VkResult list_devices(const InstanceFunctions& vk, VkInstance instance, uint32_t api_version,
                      std::vector<PhysicalDevice>& devices, std::string& why) {
  uint32_t n = 0;
  VkResult result = vk.EnumeratePhysicalDevices(instance, &n, nullptr);
  if (result != VK_SUCCESS) return result;
  std::vector<VkPhysicalDevice> handles(n);
  result = vk.EnumeratePhysicalDevices(instance, &n, handles.data());
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) return result;
  handles.resize(n);
  if (handles.empty()) why = "the installed drivers have no device";
  for (VkPhysicalDevice handle : handles) {
    PhysicalDevice device = {};
    device.handle = handle;
    vk.GetPhysicalDeviceProperties(handle, &device.properties);
    device.api_version = std::min(device.properties.apiVersion, api_version);
    if (!find_queue_family(vk, device)) {
      why = std::string(device.properties.deviceName) + " has no compute queue";
    } else if (device.api_version < kOldestApi) {
      why = std::string(device.properties.deviceName) + " supports Vulkan 1.0, but 1.1 is required";
    } else {
      read_properties(vk, device);
      devices.push_back(std::move(device));
    }
  }
  std::stable_sort(devices.begin(), devices.end(),
                   [](const PhysicalDevice& a, const PhysicalDevice& b) {
                     return device_type_rank(a.properties.deviceType) <
                            device_type_rank(b.properties.deviceType);
                   });
  return VK_SUCCESS;
}

void reduce_to_required_minimum(Capabilities& capabilities) {
  capabilities.float64 = false;
  capabilities.controls32 = capabilities.controls64 = {};
  capabilities.subgroup_ballot = capabilities.subgroup_shuffle = capabilities.subgroup_quad = false;
  capabilities.max_operands = 3;
  capabilities.max_operand_bytes = std::min<uint64_t>(capabilities.max_operand_bytes, 1u << 27);
  capabilities.texels = false;
  capabilities.shared_memory_bytes = 16384;
}

bool matches_option(const PhysicalDevice& device, size_t index, std::string_view name) {
  if (name.empty() || name == std::to_string(index)) return true;
  const std::string wanted = to_lower(name);
  constexpr std::string_view kTypes[] = {"discrete", "integrated", "virtual", "cpu"};
  for (int type = 0; type < 4; ++type) {
    if (wanted == kTypes[type]) return device_type_rank(device.properties.deviceType) == type;
  }
  std::string digits = wanted;
  std::erase(digits, '-');
  if (digits == to_hex(device.uuid)) return true;
  if (wanted.find_first_not_of("0123456789") == std::string::npos && wanted.size() < 3) {
    return false;  // One or two digits are an index, not a part of a device name.
  }
  return to_lower(device.properties.deviceName).find(wanted) != std::string::npos;
}

}  // namespace tenon_vulkan
