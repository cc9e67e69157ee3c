// The plugin's instance for one context: a VkInstance and the list of its devices.

#pragma once

#include <memory>
#include <vector>

#include "plugins/vulkan/driver/loader.h"
#include "plugins/vulkan/driver/options.h"
#include "plugins/vulkan/driver/physical_device.h"

namespace tenon_vulkan {

class Instance {
 public:
  // Returns UNAVAILABLE if this machine has no Vulkan device with a compute queue.
  static tenon_error* create(const tenon_host* host, const tenon_instance_options& options,
                             std::unique_ptr<Instance>& made);
  Instance(const tenon_host* host, void* log_context) : host_(host), log_context_(log_context) {}
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  const tenon_sdk::Host& host() const { return host_; }
  const Options& options() const { return options_; }
  const InstanceFunctions& vk() const { return vk_; }
  const std::vector<PhysicalDevice>& devices() const { return devices_; }

  void log(int32_t level, std::string_view message) const;

  // Called when the process exits, because the driver then destroys the instance. Replaces the
  // Vulkan functions by stubs that do nothing.
  void disable_driver_calls() { stub_functions(vk_); }

 private:
  // Creates the VkInstance and loads its functions.
  tenon_error* make_instance();
  // Appends the layers and extensions that the options require.
  tenon_error* choose_layers(std::vector<const char*>& layers,
                             std::vector<const char*>& extensions) const;
  // Makes the validation layer report its messages to the host's log.
  tenon_error* register_messenger();
  // Lists the devices that option `device` selects, or returns an error if there is none.
  tenon_error* find_devices();

  const tenon_sdk::Host host_;
  void* const log_context_;
  Options options_;
  Loader loader_;
  InstanceFunctions vk_;
  VkInstance instance_ = VK_NULL_HANDLE;
  uint32_t api_version_ = kOldestApi;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::vector<PhysicalDevice> devices_;
};

inline Instance& from_c(tenon_instance_p* self) { return *reinterpret_cast<Instance*>(self); }

}  // namespace tenon_vulkan
