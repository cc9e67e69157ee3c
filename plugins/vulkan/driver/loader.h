// The Vulkan loader, opened at run time.

#pragma once

#include <string>

#include "plugins/vulkan/driver/vulkan.h"

namespace tenon_vulkan {

inline constexpr const char* kLoaderName = "libvulkan.so.1";

// Functions of the loaded Vulkan loader. The library is never closed, because drivers may still
// have threads and registered destructors.
struct Loader {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
  GlobalFunctions functions;
};

// Returns false, with the reason in `why`, if the library does not exist or is not a Vulkan loader.
bool open_loader(const std::string& name, Loader& loader, std::string& why);

// Fill in the function table of an instance or of a device. Return false if a function of Vulkan
// 1.1 is missing.
bool load_functions(const Loader& loader, VkInstance instance, InstanceFunctions& functions);
bool load_functions(const InstanceFunctions& instance_functions, VkDevice device,
                    DeviceFunctions& functions);

// Keeps the loaded drivers in memory until the process ends. Otherwise the loader would unload them
// with their last instance.
void keep_drivers();

// Replaces all functions by stubs that do nothing and, if they return a VkResult, return
// VK_ERROR_DEVICE_LOST. No driver calls follow.
void stub_functions(InstanceFunctions& functions);
void stub_functions(DeviceFunctions& functions);

}  // namespace tenon_vulkan
