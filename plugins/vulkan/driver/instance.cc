#include "plugins/vulkan/driver/instance.h"

#include <algorithm>
#include <cstring>

namespace tenon_vulkan {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";
constexpr const char* kPortability = "VK_KHR_portability_enumeration";
constexpr VkInstanceCreateFlags kEnumeratePortability = 1;

// Maximum number of multiplications per submission for discrete GPUs, GPUs that share the host's
// memory, and software drivers. This many multiplications take less than a second on the slowest
// device of each type.
constexpr uint64_t kProductsOfDiscrete = uint64_t{1} << 34,
                   kProductsOfIntegrated = uint64_t{1} << 31,
                   kProductsOfSoftware = uint64_t{1} << 26;

uint64_t max_products_per_submission(VkPhysicalDeviceType type) {
  if (type == VK_PHYSICAL_DEVICE_TYPE_CPU) return kProductsOfSoftware;
  return type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ? kProductsOfDiscrete : kProductsOfIntegrated;
}

// Whether the loader (`layer` is NULL) or a layer has the extension.
bool has_extension(const GlobalFunctions& vk, const char* layer, const char* name) {
  uint32_t n = 0;
  if (vk.EnumerateInstanceExtensionProperties(layer, &n, nullptr) != VK_SUCCESS) return false;
  std::vector<VkExtensionProperties> list(n);
  if (vk.EnumerateInstanceExtensionProperties(layer, &n, list.data()) < VK_SUCCESS) return false;
  return std::any_of(list.begin(), list.begin() + n, [&](const VkExtensionProperties& each) {
    return std::strcmp(each.extensionName, name) == 0;
  });
}

bool has_layer(const GlobalFunctions& vk, const char* name) {
  uint32_t n = 0;
  if (vk.EnumerateInstanceLayerProperties(&n, nullptr) != VK_SUCCESS) return false;
  std::vector<VkLayerProperties> list(n);
  if (vk.EnumerateInstanceLayerProperties(&n, list.data()) < VK_SUCCESS) return false;
  return std::any_of(list.begin(), list.begin() + n, [&](const VkLayerProperties& each) {
    return std::strcmp(each.layerName, name) == 0;
  });
}

VKAPI_ATTR VkBool32 VKAPI_CALL log_layer_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT,
                                                 const VkDebugUtilsMessengerCallbackDataEXT* data,
                                                 void* self) {
  auto& instance = *static_cast<Instance*>(self);
  const bool is_error = severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  instance.log(is_error ? TENON_LOG_ERROR : TENON_LOG_WARNING, data->pMessage);
  return VK_FALSE;  // VK_FALSE: the call that triggered the message proceeds.
}

}  // namespace

tenon_error* Instance::create(const tenon_host* host, const tenon_instance_options& options,
                              std::unique_ptr<Instance>& made) {
  auto self = std::make_unique<Instance>(host, options.log_context);
  if (tenon_error* error = read_options(self->host_, options, self->options_)) return error;
  std::string why;
  if (!open_loader(self->options_.loader, self->loader_, why)) {
    return self->host_.error(TENON_UNAVAILABLE, "vulkan: " + why);
  }
  if (tenon_error* error = self->make_instance()) return error;
  if (tenon_error* error = self->register_messenger()) return error;
  if (tenon_error* error = self->find_devices()) return error;
  made = std::move(self);
  return nullptr;
}

Instance::~Instance() {
  if (messenger_ != VK_NULL_HANDLE) {
    vk_.DestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
  }
  if (instance_ != VK_NULL_HANDLE) vk_.DestroyInstance(instance_, nullptr);
}

void Instance::log(int32_t level, std::string_view message) const {
  host_.log(log_context_, level, message);
}

tenon_error* Instance::choose_layers(std::vector<const char*>& layers,
                                     std::vector<const char*>& extensions) const {
  if (options_.validate) {
    if (!has_layer(loader_.functions, kValidationLayer)) {
      return host_.error(TENON_UNAVAILABLE, "vulkan: option validate needs the layer " +
                                                std::string(kValidationLayer) +
                                                ", which is not installed");
    }
    layers.push_back(kValidationLayer);
  }
  if (!options_.wants_names()) return nullptr;
  if (has_extension(loader_.functions, nullptr, VK_EXT_DEBUG_UTILS_EXTENSION_NAME) ||
      (options_.validate &&
       has_extension(loader_.functions, kValidationLayer, VK_EXT_DEBUG_UTILS_EXTENSION_NAME))) {
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  }
  return nullptr;
}

tenon_error* Instance::make_instance() {
  uint32_t version = VK_API_VERSION_1_0;
  if (loader_.functions.EnumerateInstanceVersion) {
    loader_.functions.EnumerateInstanceVersion(&version);
  }
  if (version < kOldestApi) {
    return host_.error(TENON_UNAVAILABLE,
                       "vulkan: the loader supports Vulkan 1.0, but 1.1 is required");
  }
  api_version_ = std::min(version, kNewestApi);
  std::vector<const char*> layers, extensions;
  if (tenon_error* error = choose_layers(layers, extensions)) return error;
  VkInstanceCreateFlags flags = 0;
  if (has_extension(loader_.functions, nullptr, kPortability)) {
    extensions.push_back(kPortability);
    flags = kEnumeratePortability;
  }
  const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                         .pNext = nullptr,
                                         .pApplicationName = nullptr,
                                         .applicationVersion = 0,
                                         .pEngineName = "Tenon",
                                         .engineVersion = 0,
                                         .apiVersion = api_version_};
  const VkInstanceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
      .pNext = nullptr,
      .flags = flags,
      .pApplicationInfo = &application,
      .enabledLayerCount = static_cast<uint32_t>(layers.size()),
      .ppEnabledLayerNames = layers.data(),
      .enabledExtensionCount = static_cast<uint32_t>(extensions.size()),
      .ppEnabledExtensionNames = extensions.data()};
  const VkResult result = loader_.functions.CreateInstance(&info, nullptr, &instance_);
  if (result != VK_SUCCESS) {
    instance_ = VK_NULL_HANDLE;
    return host_.error(TENON_UNAVAILABLE,
                       result == VK_ERROR_INCOMPATIBLE_DRIVER
                           ? "vulkan: no driver is installed"
                           : "vulkan: cannot create an instance: " + name_of(result));
  }
  if (!load_functions(loader_, instance_, vk_)) {
    // vkDestroyInstance itself may be missing, so the instance is not destroyed.
    instance_ = VK_NULL_HANDLE;
    return host_.error(TENON_UNAVAILABLE, "vulkan: the loader lacks functions of Vulkan 1.1");
  }
  return nullptr;
}

tenon_error* Instance::register_messenger() {
  if (!options_.validate || vk_.CreateDebugUtilsMessengerEXT == nullptr) return nullptr;
  const VkDebugUtilsMessengerCreateInfoEXT info = {
      .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
      .pNext = nullptr,
      .flags = 0,
      .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
      .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                     VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
      .pfnUserCallback = log_layer_message,
      .pUserData = this};
  const VkResult result = vk_.CreateDebugUtilsMessengerEXT(instance_, &info, nullptr, &messenger_);
  if (result == VK_SUCCESS) return nullptr;
  messenger_ = VK_NULL_HANDLE;
  return host_.error(
      TENON_UNAVAILABLE,
      "vulkan: cannot register for messages of the validation layer: " + name_of(result));
}

tenon_error* Instance::find_devices() {
  std::vector<PhysicalDevice> all;
  std::string why;
  const VkResult result = list_devices(vk_, instance_, api_version_, all, why);
  if (result != VK_SUCCESS) why = name_of(result);
  if (all.empty()) {
    return host_.error(TENON_UNAVAILABLE,
                       "vulkan: there is no device with a compute queue and Vulkan 1.1: " + why);
  }
  std::string names;
  for (size_t i = 0; i < all.size(); ++i) {
    names += (i == 0 ? "" : ", ") + std::string(all[i].properties.deviceName);
    if (!matches_option(all[i], i, options_.device)) continue;
    devices_.push_back(all[i]);
    Capabilities& capabilities = devices_.back().capabilities;
    if (options_.minimum) reduce_to_required_minimum(capabilities);
    capabilities.runs_on_host = capabilities.is_software && !options_.gpu_ways;
    capabilities.max_products_per_submission =
        max_products_per_submission(all[i].properties.deviceType);
  }
  if (!devices_.empty()) return nullptr;
  return host_.error(TENON_INVALID_ARGUMENT, "vulkan: option device: no device matches '" +
                                                 options_.device + "'; the devices are " + names);
}

}  // namespace tenon_vulkan
