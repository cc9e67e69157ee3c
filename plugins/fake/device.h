// A device that wraps a device of plugin `ref` and injects faults. Memory and kernels are those of
// `ref`, which is linked in and called through the plugin ABI.

#pragma once

#include <tenon/plugin.h>

#include <atomic>
#include <chrono>
#include <string>

#include "plugins/fake/options.h"
#include "plugins/fake/turns.h"
#include "plugins/sdk/host.h"

namespace tenon_fake {

// Returns plugin `ref`, which computes for this plugin.
const tenon_plugin& inner_plugin();
// Returns the functions of plugin `ref`.
inline const tenon_plugin_calls& inner() { return *inner_plugin().calls; }

struct Instance {
  tenon_sdk::Host host;
  Options options;
  tenon_instance_p* instance;
};

struct Device {
  Instance& instance;
  tenon_device_p* device;
  std::atomic<uint64_t> launches{0}, copies{0};
  std::atomic<uint64_t> allocations{0};
  std::atomic<uint64_t> allocated_bytes{0};
  std::atomic<uint64_t> calls{0};
  std::atomic<bool> lost{false};
  Turns turns;
  const std::chrono::steady_clock::time_point opened = std::chrono::steady_clock::now();

  const Options& options() const { return instance.options; }
  const tenon_sdk::Host& host() const { return instance.host; }
  // Returns the features that plugin `ref` provides, as far as the options enable them, and those
  // that the options falsely claim.
  tenon_features features() const;
  // The current time in nanoseconds of the device's clock, which starts at one hour.
  uint64_t clock_ns() const;
  tenon_error* error(tenon_code code, const std::string& message) const {
    return instance.host.error(code, message);
  }
  // Returns the error of every call after the device was lost.
  tenon_error* lost_error() const {
    return error(TENON_DEVICE_LOST, "the fake device was lost (option lose_at)");
  }
};

struct Buffer {
  Device& device;
  tenon_buffer_p* buffer;
  std::byte* data;
  uint64_t size;
};

struct Kernel {
  Device& device;
  tenon_kernel_p* kernel;
  uint32_t op;  // The op's number; 0 for a loop or a custom op.
};

// Returns the object of a handle of the plugin ABI.
inline Instance& from_c(tenon_instance_p* self) { return *reinterpret_cast<Instance*>(self); }
inline Device& from_c(tenon_device_p* device) { return *reinterpret_cast<Device*>(device); }
inline Buffer& from_c(tenon_buffer_p* buffer) { return *reinterpret_cast<Buffer*>(buffer); }
inline Kernel& from_c(tenon_kernel_p* kernel) { return *reinterpret_cast<Kernel*>(kernel); }

}  // namespace tenon_fake
