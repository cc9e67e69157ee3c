// The Vulkan loader, opened at run time.

#pragma once

#include <string>

#include "plugins/vulkan/driver/vulkan.h"

namespace tenon_vulkan {

inline constexpr const char* kLoaderName = "libvulkan.so.1";

// Stays open for good: drivers keep threads and destructors of their own.
struct Loader {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
  GlobalFunctions functions;
};

// False, with the reason in `why`, if there is no such library or it is no loader.
bool open_loader(const std::string& name, Loader& loader, std::string& why);

bool load_functions(const Loader& loader, VkInstance instance, InstanceFunctions& functions);
bool load_functions(const InstanceFunctions& instance_functions, VkDevice device,
                    DeviceFunctions& functions);

// Keeps the drivers that are loaded for good, as the loader is kept, which would unload them with
// their last instance.
void keep_drivers();

// From here on nothing is asked of the driver: each function does nothing, and says
// VK_ERROR_DEVICE_LOST where it says anything.
void make_lost(InstanceFunctions& functions);
void make_lost(DeviceFunctions& functions);

}  // namespace tenon_vulkan
