// An open device with its memory, pipelines, queue and clock.

#pragma once

#include <memory>
#include <string>

#include "plugins/vulkan/driver/at_exit.h"
#include "plugins/vulkan/driver/clock.h"
#include "plugins/vulkan/driver/memory.h"
#include "plugins/vulkan/driver/pipelines.h"
#include "plugins/vulkan/driver/queue.h"

namespace tenon_vulkan {

class Device final : private AtExit {
 public:
  static tenon_error* open(Instance& instance, const PhysicalDevice& physical,
                           std::unique_ptr<Device>& made);

  const Driver& driver() const { return driver_; }
  const tenon_sdk::Host& host() const { return driver_.host(); }
  const Capabilities& capabilities() const { return driver_.physical().capabilities; }
  const MemoryTypes& memory_types() const { return types_; }
  Memory& memory() { return *memory_; }
  Pipelines& pipelines() { return *pipelines_; }
  Queue& queue() { return *queue_; }
  Clock& clock() { return clock_; }

  // Returns the properties for the plugin interface. `arithmetic`: the numeric features, which
  // depend on the kernels.
  tenon_device_properties describe(tenon_features arithmetic) const;

  Device(Instance& instance, const PhysicalDevice& physical)
      : driver_(instance, physical),
        clock_(driver_.timestamp_bits(), physical.properties.limits.timestampPeriod) {}
  ~Device();

 private:
  void end_with_process() noexcept override;

  Driver driver_;
  Clock clock_;
  MemoryTypes types_ = {};
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Pipelines> pipelines_;
  std::unique_ptr<Queue> queue_;
};

inline Device& from_c(tenon_device_p* device) { return *reinterpret_cast<Device*>(device); }

}  // namespace tenon_vulkan
