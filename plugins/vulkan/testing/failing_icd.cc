// A Vulkan driver for tests of error reports. Its only device reports support for compute, but
// cannot be opened. The loader looks up the driver's functions by name; the driver has only those
// that are called before a device exists.

#include <vulkan/vk_icd.h>

#include <cstring>

namespace {

struct Dispatchable {
  VK_LOADER_DATA loader;
};
Dispatchable instance_object, device_object;

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo*,
                                               const VkAllocationCallbacks*, VkInstance* instance) {
  set_loader_magic_value(&instance_object);
  *instance = reinterpret_cast<VkInstance>(&instance_object);
  return VK_SUCCESS;
}
VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance, const VkAllocationCallbacks*) {}

VKAPI_ATTR VkResult VKAPI_CALL instance_extensions(const char*, uint32_t* n,
                                                   VkExtensionProperties*) {
  *n = 0;
  return VK_SUCCESS;
}
VKAPI_ATTR VkResult VKAPI_CALL device_extensions(VkPhysicalDevice, const char*, uint32_t* n,
                                                 VkExtensionProperties*) {
  *n = 0;
  return VK_SUCCESS;
}
VKAPI_ATTR VkResult VKAPI_CALL version(uint32_t* version) {
  *version = VK_API_VERSION_1_1;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL devices(VkInstance, uint32_t* n, VkPhysicalDevice* list) {
  if (list != nullptr && *n > 0) {
    set_loader_magic_value(&device_object);
    list[0] = reinterpret_cast<VkPhysicalDevice>(&device_object);
  }
  *n = 1;
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice, VkPhysicalDeviceProperties* properties) {
  *properties = {};
  properties->apiVersion = VK_API_VERSION_1_1;
  properties->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  std::strcpy(properties->deviceName, "Broken Board");
  properties->limits.maxStorageBufferRange = 1u << 27;
  properties->limits.maxPerStageDescriptorStorageBuffers = 8;
  properties->limits.maxPerStageResources = 8;
  properties->limits.maxDescriptorSetStorageBuffers = 8;
}
VKAPI_ATTR void VKAPI_CALL properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2* all) {
  properties(device, &all->properties);
}
VKAPI_ATTR void VKAPI_CALL features(VkPhysicalDevice, VkPhysicalDeviceFeatures* features) {
  *features = {};
}
VKAPI_ATTR void VKAPI_CALL features2(VkPhysicalDevice, VkPhysicalDeviceFeatures2* all) {
  all->features = {};
}
VKAPI_ATTR void VKAPI_CALL memory(VkPhysicalDevice, VkPhysicalDeviceMemoryProperties* memory) {
  *memory = {};
}
VKAPI_ATTR void VKAPI_CALL queues(VkPhysicalDevice, uint32_t* n, VkQueueFamilyProperties* list) {
  if (list != nullptr && *n > 0) {
    list[0] = {};
    list[0].queueFlags = VK_QUEUE_COMPUTE_BIT;
    list[0].queueCount = 1;
  }
  *n = 1;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice, const VkDeviceCreateInfo*,
                                             const VkAllocationCallbacks*, VkDevice*) {
  return VK_ERROR_INITIALIZATION_FAILED;
}
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_for_device(VkDevice, const char*) { return nullptr; }

// Stands for functions that the loader requires and the tests never call.
VKAPI_ATTR void VKAPI_CALL never_called() {}

}  // namespace

// Negotiates the version of the loader-driver interface. The loader accepts Vulkan 1.1 drivers only
// with this version.
extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t* version) {
  *version = 5;
  return VK_SUCCESS;
}

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetInstanceProcAddr(VkInstance, const char* name) {
  struct Function {
    const char* name;
    PFN_vkVoidFunction function;
  };
#define FUNCTION(name, function) \
  { "vk" #name, reinterpret_cast<PFN_vkVoidFunction>(function) }
  static const Function kFunctions[] = {
      FUNCTION(CreateInstance, create_instance),
      FUNCTION(DestroyInstance, destroy_instance),
      FUNCTION(EnumerateInstanceExtensionProperties, instance_extensions),
      FUNCTION(EnumerateInstanceVersion, version),
      FUNCTION(EnumeratePhysicalDevices, devices),
      FUNCTION(EnumerateDeviceExtensionProperties, device_extensions),
      FUNCTION(GetPhysicalDeviceProperties, properties),
      FUNCTION(GetPhysicalDeviceProperties2, properties2),
      FUNCTION(GetPhysicalDeviceFeatures, features),
      FUNCTION(GetPhysicalDeviceFeatures2, features2),
      FUNCTION(GetPhysicalDeviceMemoryProperties, memory),
      FUNCTION(GetPhysicalDeviceQueueFamilyProperties, queues),
      FUNCTION(GetPhysicalDeviceFormatProperties, never_called),
      FUNCTION(GetPhysicalDeviceImageFormatProperties, never_called),
      FUNCTION(GetPhysicalDeviceSparseImageFormatProperties, never_called),
      FUNCTION(CreateDevice, create_device),
      FUNCTION(GetDeviceProcAddr, find_for_device),
  };
#undef FUNCTION
  for (const Function& each : kFunctions) {
    if (std::strcmp(each.name, name) == 0) return each.function;
  }
  return nullptr;
}
