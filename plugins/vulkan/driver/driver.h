// A VkDevice with its function table, and the conversion of VkResult values to errors. All objects
// of a device hold a reference to it.

#pragma once

#include <atomic>
#include <string>

#include "plugins/vulkan/driver/instance.h"

namespace tenon_vulkan {

class Driver {
 public:
  Driver(Instance& instance, const PhysicalDevice& physical)
      : instance_(instance), physical_(physical) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  ~Driver();

  // Creates the VkDevice, loads its functions and gets its queue.
  tenon_error* open();

  const DeviceFunctions& vk() const { return vk_; }
  VkDevice device() const { return device_; }
  VkQueue queue() const { return queue_; }
  Instance& instance() const { return instance_; }
  const tenon_sdk::Host& host() const { return instance_.host(); }
  const Options& options() const { return instance_.options(); }
  const PhysicalDevice& physical() const { return physical_; }
  // Whether the device has timeline semaphores and option `timeline` permits them.
  bool has_timeline() const { return physical_.has_timeline() && options().timeline; }
  // Number of valid bits of a timestamp; 0 if there are no timestamps or option `clock` is off.
  uint32_t timestamp_bits() const { return options().clock ? physical_.timestamp_bits : 0; }

  // Whether the validation layer or another tool displays object names.
  bool has_names() const {
    return options().wants_names() && vk_.SetDebugUtilsObjectNameEXT != nullptr;
  }
  // Sets the name of a Vulkan object for debugging tools. Does nothing unless has_names().
  template <class Handle>
  void set_name(VkObjectType type, Handle handle, const std::string& name) const {
    set_name(type, reinterpret_cast<uint64_t>(handle), name);
  }
  void set_name(VkObjectType type, uint64_t handle, const std::string& name) const;

  // Makes an error with this code and the message "vulkan: MESSAGE".
  tenon_error* error(tenon_code code, std::string_view message) const;
  // Converts a result to an error with the message `what`. VK_ERROR_DEVICE_LOST also marks the
  // device as lost.
  tenon_error* error(VkResult result, std::string_view what) const;

  bool is_lost() const { return is_lost_.load(std::memory_order_relaxed); }
  void mark_lost() const { is_lost_ = true; }
  // Called when the process exits, because the driver then destroys the device and its instance.
  // Replaces the Vulkan functions by stubs that do nothing.
  void disable_driver_calls();
  // Makes the error that reports the loss of this device.
  tenon_error* lost_error() const;

  // Returns a unique serial number for a block of memory.
  uint32_t next_serial() const { return ++last_serial_; }

 private:
  Instance& instance_;
  const PhysicalDevice& physical_;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  DeviceFunctions vk_;
  mutable std::atomic<bool> is_lost_{false};
  mutable std::atomic<uint32_t> last_serial_{0};
};

}  // namespace tenon_vulkan
