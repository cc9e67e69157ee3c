#include "plugins/vulkan/driver/device.h"

#include <algorithm>
#include <chrono>

namespace tenon_vulkan {

tenon_error* Device::open(Instance& instance, const PhysicalDevice& physical,
                          std::unique_ptr<Device>& made) {
  auto self = std::make_unique<Device>(instance, physical);
  if (tenon_error* error = self->driver_.open()) return error;
  if (tenon_error* error = choose_memory_types(self->driver_, self->types_)) return error;
  self->memory_ = std::make_unique<Memory>(self->driver_, self->types_);
  self->pipelines_ = std::make_unique<Pipelines>(self->driver_);
  self->pipelines_->open();
  self->queue_ = std::make_unique<Queue>(self->driver_);
  if (tenon_error* error = self->queue_->open()) return error;
  self->pipelines_->compiler().set_created_callback(
      [queue = self->queue_.get()] { queue->encode_ready_dispatches(); });
  register_handler(Moment::kLoaded);
  self->register_object();
  made = std::move(self);
  return nullptr;
}

Device::~Device() {
  unregister_object();
  if (pipelines_ != nullptr) pipelines_->compiler().stop();
}

// Called when the process exits. Waits at most one second for running work to complete, because its
// results are no longer needed. Later driver calls do nothing.
void Device::end_with_process() noexcept {
  pipelines_->compiler().stop();
  if (queue_->wait_for_all(std::chrono::seconds(1))) pipelines_->save();
  driver_.disable_driver_calls();
}

tenon_device_properties Device::describe(tenon_features arithmetic) const {
  const PhysicalDevice& physical = driver_.physical();
  tenon_device_properties properties = {
      .struct_size = 0,
      .kind = capabilities().is_software ? TENON_DEVICE_CPU : TENON_DEVICE_GPU,
      .description = tenon_str(physical.properties.deviceName),
      .vendor = tenon_sdk::to_c(physical.vendor),
      .driver = tenon_sdk::to_c(physical.driver),
      .features = TENON_FEATURE_HOST_BLOCKING | arithmetic,
      .memory_bytes = types_.device_bytes,
      .max_buffer_bytes = memory_->max_buffer_bytes(),
      .compute_units = 0,
      .vector_bits = 0,
      .uuid = {},
      .max_operand_bytes = capabilities().bindable_bytes()};
  if (types_.device_is_visible) properties.features |= TENON_FEATURE_HOST_VISIBLE;
  if (memory_->can_import()) properties.features |= TENON_FEATURE_IMPORT_HOST;
  std::copy(physical.uuid.begin(), physical.uuid.end(), properties.uuid);
  return properties;
}

}  // namespace tenon_vulkan
