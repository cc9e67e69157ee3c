// Vulkan's types, and its functions as tables of pointers. Nothing is linked, so the plugin loads
// on machines without a Vulkan loader.

#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <string>

namespace tenon_vulkan {

// Global functions, which need no instance.
#define TENON_VULKAN_GLOBAL_FUNCTIONS(F)  \
  F(CreateInstance)                       \
  F(EnumerateInstanceExtensionProperties) \
  F(EnumerateInstanceLayerProperties)

// Functions of an instance.
#define TENON_VULKAN_INSTANCE_FUNCTIONS(F)     \
  F(DestroyInstance)                           \
  F(EnumeratePhysicalDevices)                  \
  F(GetPhysicalDeviceProperties)               \
  F(GetPhysicalDeviceProperties2)              \
  F(GetPhysicalDeviceFeatures2)                \
  F(GetPhysicalDeviceMemoryProperties)         \
  F(GetPhysicalDeviceMemoryProperties2)        \
  F(GetPhysicalDeviceQueueFamilyProperties)    \
  F(GetPhysicalDeviceExternalBufferProperties) \
  F(EnumerateDeviceExtensionProperties)        \
  F(CreateDevice)                              \
  F(GetDeviceProcAddr)

// Functions of a device.
#define TENON_VULKAN_DEVICE_FUNCTIONS(F) \
  F(DestroyDevice)                       \
  F(GetDeviceQueue)                      \
  F(DeviceWaitIdle)                      \
  F(AllocateMemory)                      \
  F(FreeMemory)                          \
  F(MapMemory)                           \
  F(CreateBuffer)                        \
  F(DestroyBuffer)                       \
  F(CreateBufferView)                    \
  F(DestroyBufferView)                   \
  F(GetBufferMemoryRequirements)         \
  F(BindBufferMemory)                    \
  F(CreateCommandPool)                   \
  F(DestroyCommandPool)                  \
  F(AllocateCommandBuffers)              \
  F(FreeCommandBuffers)                  \
  F(BeginCommandBuffer)                  \
  F(EndCommandBuffer)                    \
  F(QueueSubmit)                         \
  F(CreateFence)                         \
  F(DestroyFence)                        \
  F(ResetFences)                         \
  F(WaitForFences)                       \
  F(CreateSemaphore)                     \
  F(DestroySemaphore)                    \
  F(CreateShaderModule)                  \
  F(DestroyShaderModule)                 \
  F(CreatePipelineCache)                 \
  F(DestroyPipelineCache)                \
  F(GetPipelineCacheData)                \
  F(CreateComputePipelines)              \
  F(DestroyPipeline)                     \
  F(CreatePipelineLayout)                \
  F(DestroyPipelineLayout)               \
  F(CreateDescriptorSetLayout)           \
  F(DestroyDescriptorSetLayout)          \
  F(CreateDescriptorPool)                \
  F(DestroyDescriptorPool)               \
  F(AllocateDescriptorSets)              \
  F(UpdateDescriptorSets)                \
  F(CmdBindPipeline)                     \
  F(CmdBindDescriptorSets)               \
  F(CmdPushConstants)                    \
  F(CmdDispatch)                         \
  F(CmdPipelineBarrier)                  \
  F(CmdCopyBuffer)                       \
  F(CmdFillBuffer)                       \
  F(CmdExecuteCommands)                  \
  F(CreateQueryPool)                     \
  F(DestroyQueryPool)                    \
  F(GetQueryPoolResults)                 \
  F(CmdResetQueryPool)                   \
  F(CmdWriteTimestamp)

#define TENON_VULKAN_MEMBER(name) PFN_vk##name name = nullptr;

struct GlobalFunctions {
  TENON_VULKAN_GLOBAL_FUNCTIONS(TENON_VULKAN_MEMBER)
  PFN_vkEnumerateInstanceVersion EnumerateInstanceVersion =
      nullptr;  // vkEnumerateInstanceVersion; NULL if the loader supports only Vulkan 1.0.
};

struct InstanceFunctions {
  TENON_VULKAN_INSTANCE_FUNCTIONS(TENON_VULKAN_MEMBER)
  // Only with VK_EXT_debug_utils.
  PFN_vkCreateDebugUtilsMessengerEXT CreateDebugUtilsMessengerEXT = nullptr;
  PFN_vkDestroyDebugUtilsMessengerEXT DestroyDebugUtilsMessengerEXT = nullptr;
};

struct DeviceFunctions {
  TENON_VULKAN_DEVICE_FUNCTIONS(TENON_VULKAN_MEMBER)
  PFN_vkWaitSemaphores WaitSemaphores = nullptr;  // Only with timeline semaphores.
  // Only with VK_EXT_external_memory_host.
  PFN_vkGetMemoryHostPointerPropertiesEXT GetMemoryHostPointerPropertiesEXT = nullptr;
  // Only with VK_EXT_debug_utils.
  PFN_vkSetDebugUtilsObjectNameEXT SetDebugUtilsObjectNameEXT = nullptr;
  PFN_vkCmdBeginDebugUtilsLabelEXT CmdBeginDebugUtilsLabelEXT = nullptr;
  PFN_vkCmdEndDebugUtilsLabelEXT CmdEndDebugUtilsLabelEXT = nullptr;
};

// Returns the name of a result, such as "VK_ERROR_DEVICE_LOST", or its number if the name is
// unknown.
std::string name_of(VkResult result);

// The usage flags of every block.
inline constexpr VkBufferUsageFlags kBlockUsage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT |
    VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

// Format of texel buffers: a texel is four 32-bit words.
inline constexpr VkFormat kTexelFormat = VK_FORMAT_R32G32B32A32_UINT;
inline constexpr uint64_t kTexelBytes = 16;

inline constexpr uint32_t kOldestApi = VK_API_VERSION_1_1;
inline constexpr uint32_t kNewestApi = VK_API_VERSION_1_3;

}  // namespace tenon_vulkan
