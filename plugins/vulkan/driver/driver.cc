#include "plugins/vulkan/driver/driver.h"

namespace tenon_vulkan {

tenon_error* Driver::open() {
  FeatureChain features = physical_.features;
  features.link(physical_.offers);
  const float priority = 1.0f;
  const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                         .pNext = nullptr,
                                         .flags = 0,
                                         .queueFamilyIndex = physical_.queue_family,
                                         .queueCount = 1,
                                         .pQueuePriorities = &priority};
  const VkDeviceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
      .pNext = &features.core,
      .flags = 0,
      .queueCreateInfoCount = 1,
      .pQueueCreateInfos = &queue,
      .enabledLayerCount = 0,
      .ppEnabledLayerNames = nullptr,
      .enabledExtensionCount = static_cast<uint32_t>(physical_.extensions.size()),
      .ppEnabledExtensionNames = physical_.extensions.data(),
      .pEnabledFeatures = nullptr};
  const VkResult result = instance_.vk().CreateDevice(physical_.handle, &info, nullptr, &device_);
  if (result != VK_SUCCESS) {
    device_ = VK_NULL_HANDLE;
    return error(TENON_UNAVAILABLE, std::string(physical_.properties.deviceName) +
                                        " cannot be opened: " + name_of(result));
  }
  if (!load_functions(instance_.vk(), device_, vk_)) {
    return error(TENON_UNAVAILABLE,
                 std::string(physical_.properties.deviceName) + " lacks functions of Vulkan 1.1");
  }
  keep_drivers();
  vk_.GetDeviceQueue(device_, physical_.queue_family, 0, &queue_);
  return nullptr;
}

void Driver::disable_driver_calls() {
  mark_lost();
  stub_functions(vk_);
  instance_.disable_driver_calls();
}

Driver::~Driver() {
  if (device_ != VK_NULL_HANDLE && vk_.DestroyDevice) vk_.DestroyDevice(device_, nullptr);
}

void Driver::set_name(VkObjectType type, uint64_t handle, const std::string& name) const {
  const VkDebugUtilsObjectNameInfoEXT info = {
      .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
      .pNext = nullptr,
      .objectType = type,
      .objectHandle = handle,
      .pObjectName = name.c_str()};
  // Ignores the result, because an object also works without a name.
  (void)vk_.SetDebugUtilsObjectNameEXT(device_, &info);
}

tenon_error* Driver::error(tenon_code code, std::string_view message) const {
  return host().error(code, "vulkan: " + std::string(message));
}

tenon_error* Driver::error(VkResult result, std::string_view what) const {
  tenon_code code = TENON_INTERNAL;
  switch (result) {
    case VK_ERROR_DEVICE_LOST:
      mark_lost();
      return lost_error();
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_MEMORY_MAP_FAILED:
      code = TENON_OUT_OF_MEMORY;
      break;
    default:
      break;
  }
  return error(code, std::string(what) + ": " + name_of(result));
}

tenon_error* Driver::lost_error() const {
  return error(TENON_DEVICE_LOST,
               std::string(physical_.properties.deviceName) + " was lost (VK_ERROR_DEVICE_LOST)");
}

}  // namespace tenon_vulkan
