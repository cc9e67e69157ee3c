#include "core/device/device.h"

#include <algorithm>
#include <bit>

#include "core/base/error_object.h"

namespace tenon {

Device::Device(Context& context, const tenon_plugin& plugin, const tenon_plugin_calls& calls,
               tenon_instance_p* instance, size_t index, uint64_t memory_limit)
    : Object(Kind::kDevice),
      context_(context),
      plugin_(plugin),
      calls_(calls),
      name_(format("{}:{}", {std::string_view(plugin.name.data, plugin.name.size), index})),
      allocator_(*this, memory_limit),
      kernels_(*this),
      loops_(*this) {
  check(calls_.open_device(instance, index, &handle_));
  try {
    properties_.struct_size = sizeof properties_;
    check(calls_.describe_device(handle_, &properties_));
    features_ = properties_.features & plugin.provides;
    synchronous_ = has(TENON_FEATURE_SYNCHRONOUS);
    host_visible_ = has(TENON_FEATURE_HOST_VISIBLE);
    kernels_.load(plugin);
    if (!synchronous_) queue_ = std::make_unique<WorkQueue>(*this);
  } catch (...) {
    calls_.close_device(handle_);
    throw;
  }
}

Device::~Device() {
  queue_.reset();
  loops_.clear();
  kernels_.clear();
  allocator_.trim();
  calls_.close_device(handle_);
  delete lost_.load();
}

// Queries the plugin for the device's properties.
tenon_device_properties Device::describe() const {
  tenon_device_properties properties = {};
  properties.struct_size = sizeof properties;
  if (tenon_error* error = calls_.describe_device(handle_, &properties)) throw take_error(error);
  return properties;
}

tenon_stream_p* Device::open_stream() {
  tenon_stream_p* stream = nullptr;
  check(calls_.open_stream(handle_, &stream));
  return stream;
}

void Device::write(tenon_stream_p* stream, tenon_buffer_p* buffer, uint64_t offset,
                   std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t n = std::bit_floor(std::min<size_t>(bytes.size(), sizeof(uint64_t)));
    uint64_t pattern = 0;
    for (size_t i = 0; i < n; ++i) pattern |= static_cast<uint64_t>(bytes[i]) << 8 * i;
    const tenon_fill_region region = {.buffer = buffer,
                                      .offset = offset,
                                      .size = n,
                                      .pattern = pattern,
                                      .pattern_size = static_cast<uint32_t>(n),
                                      .reserved = 0};
    check(calls_.fill(stream, &region));
    offset += n;
    bytes = bytes.subspan(n);
  }
}

void Device::mark_lost(const ErrorInfo& why) {
  auto* const lost = new ErrorInfo(why);
  const ErrorInfo* none = nullptr;
  if (!lost_.compare_exchange_strong(none, lost, std::memory_order_acq_rel)) delete lost;
}

void Device::fail_lost() const {
  Error loss(*lost_.load(std::memory_order_acquire));
  loss.set_device(name_);
  fail_because(loss, loss.code(), "device {} is lost; open it in a new context to use it again: {}",
               {name_, loss.what()});
}

// Throws a plugin's error as an Error, and releases it.
void Device::raise(tenon_error* error) {
  Error taken = take_error(error);
  taken.set_device(name_);
  if (taken.code() == Code::kDeviceLost) {
    if (queue_) taken = Error(*queue_->explain(taken.info()));
    mark_lost(taken.info());
  }
  throw taken;
}

// Releases a plugin's error without reporting it.
void Device::discard(tenon_error* error) const { release_error(error); }

}  // namespace tenon
