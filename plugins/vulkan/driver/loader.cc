#include "plugins/vulkan/driver/loader.h"

#include <dlfcn.h>
#include <link.h>

#include <type_traits>
#include <vector>

namespace tenon_vulkan {

// Calls find(name) for each function of a table; `all` becomes false if one of them is missing.
#define TENON_VULKAN_FIND(name)                                      \
  functions.name = reinterpret_cast<PFN_vk##name>(find("vk" #name)); \
  all = all && functions.name != nullptr;

bool open_loader(const std::string& name, Loader& loader, std::string& why) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    why = "cannot load the Vulkan loader: " + std::string(reason ? reason : name.c_str());
    return false;
  }
  void* const symbol = dlsym(library, "vkGetInstanceProcAddr");
  if (symbol == nullptr) {
    why = name + " is not a Vulkan loader: it does not export vkGetInstanceProcAddr";
    return false;
  }
  loader.GetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(symbol);
  GlobalFunctions& functions = loader.functions;
  const auto find = [&](const char* function) {
    return loader.GetInstanceProcAddr(nullptr, function);
  };
  bool all = true;
  TENON_VULKAN_GLOBAL_FUNCTIONS(TENON_VULKAN_FIND)
  functions.EnumerateInstanceVersion =
      reinterpret_cast<PFN_vkEnumerateInstanceVersion>(find("vkEnumerateInstanceVersion"));
  if (!all) why = name + " lacks functions that every Vulkan loader has";
  return all;
}

bool load_functions(const Loader& loader, VkInstance instance, InstanceFunctions& functions) {
  const auto find = [&](const char* name) { return loader.GetInstanceProcAddr(instance, name); };
  bool all = true;
  TENON_VULKAN_INSTANCE_FUNCTIONS(TENON_VULKAN_FIND)
  functions.CreateDebugUtilsMessengerEXT =
      reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(find("vkCreateDebugUtilsMessengerEXT"));
  functions.DestroyDebugUtilsMessengerEXT = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
      find("vkDestroyDebugUtilsMessengerEXT"));
  return all;
}

bool load_functions(const InstanceFunctions& instance_functions, VkDevice device,
                    DeviceFunctions& functions) {
  const auto find = [&](const char* name) {
    return instance_functions.GetDeviceProcAddr(device, name);
  };
  bool all = true;
  TENON_VULKAN_DEVICE_FUNCTIONS(TENON_VULKAN_FIND)
  functions.WaitSemaphores = reinterpret_cast<PFN_vkWaitSemaphores>(find("vkWaitSemaphores"));
  if (functions.WaitSemaphores == nullptr) {
    functions.WaitSemaphores = reinterpret_cast<PFN_vkWaitSemaphores>(find("vkWaitSemaphoresKHR"));
  }
  functions.GetMemoryHostPointerPropertiesEXT =
      reinterpret_cast<PFN_vkGetMemoryHostPointerPropertiesEXT>(
          find("vkGetMemoryHostPointerPropertiesEXT"));
  functions.SetDebugUtilsObjectNameEXT =
      reinterpret_cast<PFN_vkSetDebugUtilsObjectNameEXT>(find("vkSetDebugUtilsObjectNameEXT"));
  functions.CmdBeginDebugUtilsLabelEXT =
      reinterpret_cast<PFN_vkCmdBeginDebugUtilsLabelEXT>(find("vkCmdBeginDebugUtilsLabelEXT"));
  functions.CmdEndDebugUtilsLabelEXT =
      reinterpret_cast<PFN_vkCmdEndDebugUtilsLabelEXT>(find("vkCmdEndDebugUtilsLabelEXT"));
  return all;
}

void keep_drivers() {
  std::vector<std::string> libraries;
  const auto add = [](dl_phdr_info* info, size_t, void* names) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &libraries);
  for (const std::string& name : libraries) {
    void* const library = name.empty() ? nullptr : dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) continue;
    if (dlsym(library, "vk_icdGetInstanceProcAddr") !=
        nullptr) {  // The library exports it, so the library is a driver and not a loader.
      dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    }
    dlclose(library);
  }
}

namespace {

template <class Result, class... Arguments>
void stub_function(Result(VKAPI_PTR*& function)(Arguments...)) {
  if (function == nullptr)
    return;  // NULL: the function belongs to an extension that is not enabled.
  function = [](Arguments...) -> Result {
    if constexpr (std::is_same_v<Result, VkResult>) return VK_ERROR_DEVICE_LOST;
    return Result();
  };
}

}  // namespace

#define TENON_VULKAN_STUB(name) stub_function(functions.name);

void stub_functions(InstanceFunctions& functions) {
  TENON_VULKAN_INSTANCE_FUNCTIONS(TENON_VULKAN_STUB)
  stub_function(functions.DestroyDebugUtilsMessengerEXT);
}

void stub_functions(DeviceFunctions& functions) {
  TENON_VULKAN_DEVICE_FUNCTIONS(TENON_VULKAN_STUB)
  stub_function(functions.WaitSemaphores);
  stub_function(functions.GetMemoryHostPointerPropertiesEXT);
  stub_function(functions.SetDebugUtilsObjectNameEXT);
  stub_function(functions.CmdBeginDebugUtilsLabelEXT);
  stub_function(functions.CmdEndDebugUtilsLabelEXT);
}

std::string name_of(VkResult result) {
  switch (result) {
#define TENON_VULKAN_RESULT(name) \
  case name:                      \
    return #name;
    TENON_VULKAN_RESULT(VK_SUCCESS)
    TENON_VULKAN_RESULT(VK_NOT_READY)
    TENON_VULKAN_RESULT(VK_TIMEOUT)
    TENON_VULKAN_RESULT(VK_INCOMPLETE)
    TENON_VULKAN_RESULT(VK_ERROR_OUT_OF_HOST_MEMORY)
    TENON_VULKAN_RESULT(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    TENON_VULKAN_RESULT(VK_ERROR_INITIALIZATION_FAILED)
    TENON_VULKAN_RESULT(VK_ERROR_DEVICE_LOST)
    TENON_VULKAN_RESULT(VK_ERROR_MEMORY_MAP_FAILED)
    TENON_VULKAN_RESULT(VK_ERROR_LAYER_NOT_PRESENT)
    TENON_VULKAN_RESULT(VK_ERROR_EXTENSION_NOT_PRESENT)
    TENON_VULKAN_RESULT(VK_ERROR_FEATURE_NOT_PRESENT)
    TENON_VULKAN_RESULT(VK_ERROR_INCOMPATIBLE_DRIVER)
    TENON_VULKAN_RESULT(VK_ERROR_TOO_MANY_OBJECTS)
    TENON_VULKAN_RESULT(VK_ERROR_FRAGMENTED_POOL)
    TENON_VULKAN_RESULT(VK_ERROR_OUT_OF_POOL_MEMORY)
    TENON_VULKAN_RESULT(VK_ERROR_INVALID_EXTERNAL_HANDLE)
    TENON_VULKAN_RESULT(VK_ERROR_INVALID_SHADER_NV)
    TENON_VULKAN_RESULT(VK_ERROR_UNKNOWN)
#undef TENON_VULKAN_RESULT
    default:
      return "VkResult " + std::to_string(static_cast<int>(result));
  }
}

}  // namespace tenon_vulkan
