// A synchronous device in host memory. Implements every function (slot) of plugin_slots.def.
//
// A plugin derives its Instance from the one here, passes it to `create`, and fills its table with
// the functions in host_device. To replace a function, define one with the same name in another
// namespace:
//
//   namespace my_calls {
//   using namespace tenon_sdk::host_device;
//   tenon_error* describe_device(tenon_device_p* device, tenon_device_properties* out) { ... }
//   }  // `my_calls::name` finds a function of my_calls before one of host_device.

#pragma once

#include <tenon/plugin.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "plugins/sdk/host.h"
#include "plugins/sdk/kernel.h"
#include "plugins/sdk/loop.h"

namespace tenon_sdk {

inline constexpr tenon_features kHostDeviceFeatures =
    TENON_FEATURE_HOST_VISIBLE | TENON_FEATURE_HOST_BLOCKING | TENON_FEATURE_SYNCHRONOUS |
    TENON_FEATURE_IMPORT_HOST;

// The plugin's instance for one context. It has one device.
class Instance {
 public:
  Instance(const tenon_host* host, const tenon_instance_options& options)
      : host(host), log_context(options.log_context), threads(options.threads) {}
  virtual ~Instance() = default;

  // Returns the device's properties. Strings in them must live as long as the instance.
  virtual tenon_device_properties describe() const = 0;

  const Host host;
  void* const log_context;
  const uint32_t threads;  // Maximum number of threads; 0 for one per core.
};

struct HostDevice {
  Instance& instance;
  std::atomic<uint64_t> allocated{0};
  std::atomic<uint64_t> peak{0};
  std::atomic<uint64_t> allocations{0};

  // Creates an error.
  tenon_error* error(tenon_code code, std::string_view message) const {
    return instance.host.error(code, message);
  }
};

struct HostBuffer {
  HostDevice& device;
  std::byte* data;
  uint64_t size;
  bool imported;
};

struct HostStream {
  HostDevice& device;
};

inline Instance& from_c(tenon_instance_p* self) { return *reinterpret_cast<Instance*>(self); }
inline HostDevice& from_c(tenon_device_p* device) { return *reinterpret_cast<HostDevice*>(device); }
inline HostBuffer& from_c(tenon_buffer_p* buffer) { return *reinterpret_cast<HostBuffer*>(buffer); }
inline HostStream& from_c(tenon_stream_p* stream) { return *reinterpret_cast<HostStream*>(stream); }

namespace host_device {

inline constexpr std::align_val_t kAlignment{64};

// Creates an instance of `Derived`, a class derived from Instance with the same constructor
// parameters. The device has no options, so every option key is an error.
template <class Derived>
tenon_error* create(const tenon_host* host, const tenon_instance_options* options,
                    tenon_instance_p** out_instance) {
  *out_instance = nullptr;
  try {
    if (TENON_SDK_HAS(*options, n_options) && options->n_options > 0) {
      const std::string key(text(options->option_keys[0]));
      return Host(host).error(TENON_INVALID_ARGUMENT, "unknown option '" + key + "'");
    }
    Instance* const made = new Derived(host, *options);
    *out_instance = reinterpret_cast<tenon_instance_p*>(made);
    return nullptr;
  } catch (const std::bad_alloc&) {
    return Host(host).error(TENON_OUT_OF_MEMORY,
                            "out of host memory: cannot create the plugin's instance");
  } catch (const std::exception& error) {
    return Host(host).error(TENON_UNAVAILABLE, error.what());
  }
}

inline void destroy(tenon_instance_p* self) { delete &from_c(self); }

inline tenon_error* count_devices(tenon_instance_p*, size_t* out_count) {
  *out_count = 1;
  return nullptr;
}

inline tenon_error* open_device(tenon_instance_p* self, size_t index, tenon_device_p** out_device) {
  *out_device = nullptr;
  Instance& instance = from_c(self);
  if (index > 0)
    return instance.host.error(TENON_NOT_FOUND,
                               "device index is out of range: this plugin has one device, index 0");
  auto* device = new (std::nothrow) HostDevice{instance};
  if (!device)
    return instance.host.error(TENON_OUT_OF_MEMORY, "out of host memory: cannot open the device");
  *out_device = reinterpret_cast<tenon_device_p*>(device);
  return nullptr;
}

inline void close_device(tenon_device_p* device) { delete &from_c(device); }

inline tenon_error* describe_device(tenon_device_p* device,
                                    tenon_device_properties* out_properties) {
  try {
    fill_struct(out_properties, from_c(device).instance.describe());
    return nullptr;
  } catch (const std::bad_alloc&) {
    return from_c(device).error(TENON_OUT_OF_MEMORY,
                                "out of host memory: cannot describe the device");
  }
}

// Creates the handle of a buffer. `imported`: the caller owns the memory at `data`.
inline tenon_error* make_buffer(HostDevice& device, void* data, uint64_t size, bool imported,
                                tenon_buffer_p** out_buffer) {
  auto* buffer =
      new (std::nothrow) HostBuffer{device, static_cast<std::byte*>(data), size, imported};
  if (!buffer)
    return device.error(TENON_OUT_OF_MEMORY, "out of host memory: cannot create a buffer");
  *out_buffer = reinterpret_cast<tenon_buffer_p*>(buffer);
  return nullptr;
}

inline tenon_error* allocate(tenon_device_p* self, uint64_t size, tenon_buffer_p** out_buffer) {
  *out_buffer = nullptr;
  HostDevice& device = from_c(self);
  void* data = nullptr;
  if (size <= PTRDIFF_MAX) {
    data = ::operator new(static_cast<size_t>(size), kAlignment, std::nothrow);
  }
  if (!data) {
    char message[64];
    std::snprintf(message, sizeof message, "cannot allocate %llu bytes",
                  static_cast<unsigned long long>(size));
    return device.error(TENON_OUT_OF_MEMORY, message);
  }
  if (tenon_error* error = make_buffer(device, data, size, false, out_buffer)) {
    ::operator delete(data, kAlignment);
    return error;
  }
  const uint64_t now = device.allocated += size;
  uint64_t peak = device.peak;
  while (peak < now && !device.peak.compare_exchange_weak(peak, now)) {
  }
  ++device.allocations;
  return nullptr;
}

inline void release(tenon_buffer_p* self) {
  HostBuffer* const buffer = &from_c(self);
  if (!buffer->imported) {
    buffer->device.allocated -= buffer->size;
    ::operator delete(buffer->data, kAlignment);
  }
  delete buffer;
}

inline void* map(tenon_buffer_p* buffer) { return from_c(buffer).data; }

inline tenon_error* import_host(tenon_device_p* device, void* data, uint64_t size,
                                tenon_buffer_p** out_buffer) {
  *out_buffer = nullptr;
  return make_buffer(from_c(device), data, size, true, out_buffer);
}

// Returns the address of `size` bytes at `place`, an offset in a buffer; NULL if the bytes are not
// entirely inside the buffer.
inline std::byte* address(const tenon_place& place, uint64_t size) {
  if (place.buffer == nullptr) return static_cast<std::byte*>(place.host) + place.offset;
  const HostBuffer& buffer = from_c(place.buffer);
  if (place.offset > buffer.size || size > buffer.size - place.offset) return nullptr;
  return buffer.data + place.offset;
}

inline tenon_error* copy(tenon_stream_p* stream, const tenon_copy_region* copy) {
  if (copy->size == 0) return nullptr;
  const std::byte* from = address(copy->from, copy->size);
  std::byte* to = address(copy->to, copy->size);
  if (!from || !to) {
    return from_c(stream).device.error(TENON_INVALID_ARGUMENT,
                                       "copy: the byte range is not inside the buffer");
  }
  std::memmove(to, from, static_cast<size_t>(copy->size));
  return nullptr;
}

inline tenon_error* fill(tenon_stream_p* stream, const tenon_fill_region* fill) {
  const HostDevice& device = from_c(stream).device;
  const uint32_t n = fill->pattern_size;
  if (!(n == 1 || n == 2 || n == 4 || n == 8) || fill->size % n != 0) {
    return device.error(TENON_INVALID_ARGUMENT,
                        "fill: pattern_size must be 1, 2, 4 or 8, and size a multiple of it");
  }
  const tenon_place place = {.buffer = fill->buffer, .offset = fill->offset};
  std::byte* const to = address(place, fill->size);
  if (!to)
    return device.error(TENON_INVALID_ARGUMENT, "fill: the byte range is not inside the buffer");
  // Writes the pattern's low byte first, on hosts of either byte order.
  std::byte pattern[8];
  for (uint32_t i = 0; i < n; ++i) pattern[i] = static_cast<std::byte>(fill->pattern >> (8 * i));
  for (uint64_t at = 0; at < fill->size; at += n) std::memcpy(to + at, pattern, n);
  return nullptr;
}

inline tenon_error* memory_statistics(tenon_device_p* self,
                                      tenon_memory_statistics* out_statistics) {
  const HostDevice& device = from_c(self);
  fill_struct(out_statistics, tenon_memory_statistics{.allocated_bytes = device.allocated,
                                                      .peak_bytes = device.peak,
                                                      .allocations = device.allocations});
  return nullptr;
}

inline tenon_error* open_stream(tenon_device_p* self, tenon_stream_p** out_stream) {
  *out_stream = nullptr;
  HostDevice& device = from_c(self);
  auto* stream = new (std::nothrow) HostStream{device};
  if (!stream) return device.error(TENON_OUT_OF_MEMORY, "out of host memory: cannot open a stream");
  *out_stream = reinterpret_cast<tenon_stream_p*>(stream);
  return nullptr;
}

inline void close_stream(tenon_stream_p* stream) { delete &from_c(stream); }

// Earlier work has always finished when an event is recorded, so all events can be the same object.
inline tenon_error* record_event(tenon_stream_p*, tenon_event_p** out_event) {
  static char event;
  *out_event = reinterpret_cast<tenon_event_p*>(&event);
  return nullptr;
}
inline tenon_error* wait_event(tenon_stream_p*, tenon_event_p*) { return nullptr; }
inline void release_event(tenon_event_p*) {}

inline tenon_error* notify(tenon_stream_p*, tenon_done_callback done) {
  done.function(done.payload, nullptr);
  if (done.destroy) done.destroy(done.payload);
  return nullptr;
}

inline tenon_error* wait(tenon_stream_p*) { return nullptr; }

inline uint64_t workspace(tenon_kernel_p* kernel, const tenon_launch* launch) {
  return from_c(kernel)->workspace(*launch);
}

inline tenon_error* launch(tenon_kernel_p* kernel, tenon_stream_p* stream,
                           const tenon_launch* launch) {
  try {
    return from_c(kernel)->launch(stream, *launch);
  } catch (const std::bad_alloc&) {
    return from_c(stream).device.error(
        TENON_OUT_OF_MEMORY, "out of host memory: cannot allocate a kernel's temporary memory");
  } catch (const std::exception& error) {
    return from_c(stream).device.error(TENON_INTERNAL, error.what());
  }
}

inline tenon_error* prepare_loop(tenon_device_p* device, const tenon_loop_request* request,
                                 tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                                 tenon_string* out_reason) {
  return tenon_sdk::prepare_loop<StepByStep::prepare>(device, request, out_kernel, out_traits,
                                                      out_reason);
}

inline void release_kernel(tenon_kernel_p* kernel) { delete from_c(kernel); }

// A synchronous device does not support recordings.
inline constexpr std::nullptr_t record = nullptr;
inline constexpr std::nullptr_t replay = nullptr;
inline constexpr std::nullptr_t release_recording = nullptr;

inline constexpr std::nullptr_t run_tasks = nullptr;

// Time marks are not needed: on a synchronous device, the host measures each call with its own
// clock.
inline constexpr std::nullptr_t mark_time = nullptr;
inline constexpr std::nullptr_t read_time = nullptr;

}  // namespace host_device
}  // namespace tenon_sdk
