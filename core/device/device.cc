#include "core/device/device.h"

#include <condition_variable>

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
      kernels_(*this) {
  check(calls_.open_device(instance, index, &handle_));
  try {
    properties_.struct_size = sizeof properties_;
    check(calls_.describe_device(handle_, &properties_));
    features_ = properties_.features & plugin.provides;
    synchronous_ = has(TENON_FEATURE_SYNCHRONOUS);
    host_visible_ = has(TENON_FEATURE_HOST_VISIBLE);
    kernels_.load(plugin);
    if (!synchronous_) default_stream_ = open_stream();
  } catch (...) {
    calls_.close_device(handle_);
    throw;
  }
}

Device::~Device() {
  kernels_.clear();
  allocator_.trim();
  if (default_stream_) calls_.close_stream(default_stream_);
  calls_.close_device(handle_);
}

tenon_stream_p* Device::open_stream() {
  tenon_stream_p* stream = nullptr;
  check(calls_.open_stream(handle_, &stream));
  return stream;
}

void Device::wait(tenon_stream_p* stream) {
  if (has(TENON_FEATURE_HOST_BLOCKING)) {
    check(calls_.wait(stream));
    return;
  }
  struct Signal {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    ErrorInfo error;
  } signal;
  const tenon_done_callback callback = {
      .function =
          [](void* payload, const tenon_error* error) {
            auto& s = *static_cast<Signal*>(payload);
            std::lock_guard guard(s.mutex);
            if (error)
              s.error = error->info;
            else
              s.error.code = Code::kOk;
            s.done = true;
            s.changed.notify_one();
          },
      .payload = &signal,
      .destroy = nullptr,
  };
  check(calls_.notify(stream, callback));
  std::unique_lock lock(signal.mutex);
  signal.changed.wait(lock, [&] { return signal.done; });
  if (signal.error.code != Code::kOk) throw Error(signal.error);
}

void Device::raise(tenon_error* error) const {
  Error taken = take_error(error);
  taken.set_device(name_);
  throw taken;
}

void Device::discard(tenon_error* error) const { release_error(error); }

}  // namespace tenon
