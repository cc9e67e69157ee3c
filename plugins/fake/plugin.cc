// A device with injectable faults, for tests of hosts. It computes like `ref`. Options make it
// asynchronous, slow or short of memory, hide its memory from the host, or make calls fail
// (options.h).

#include <tenon/plugin.h>

#include <new>
#include <type_traits>

#include "plugins/fake/device.h"
#include "plugins/fake/launch.h"
#include "plugins/fake/recording.h"
#include "plugins/fake/stream.h"

// The entry point of plugin `ref`.
TENON_EXTERN_C tenon_error* tenon_plugin_query_v1_ref(const tenon_host* host,
                                                      const tenon_plugin** out_plugin);

namespace tenon_fake {

// Returns the plugin table of `ref`, which does the work of the fake device.
const tenon_plugin& inner_plugin() {
  static const tenon_plugin* const plugin = [] {
    const tenon_plugin* found = nullptr;
    tenon_plugin_query_v1_ref(nullptr, &found);
    return found;
  }();
  return *plugin;
}

// Returns the features of `ref`, except those that the options of the fake device add or remove.
tenon_features Device::features() const {
  constexpr tenon_features kWhatWeSay = TENON_FEATURE_HOST_VISIBLE | TENON_FEATURE_HOST_BLOCKING |
                                        TENON_FEATURE_SYNCHRONOUS | TENON_FEATURE_IMPORT_HOST;
  tenon_features features = inner_plugin().provides & ~kWhatWeSay;
  if (options().visible) features |= TENON_FEATURE_HOST_VISIBLE | TENON_FEATURE_IMPORT_HOST;
  if (options().blocking) features |= TENON_FEATURE_HOST_BLOCKING;
  if (!options().asynchronous) features |= TENON_FEATURE_SYNCHRONOUS;
  return features | options().claim_features;
}

// Returns the time of the device's clock: one hour when the device is opened, then option `clock`
// percent of real time.
uint64_t Device::clock_ns() const {
  using std::chrono::nanoseconds;
  const nanoseconds since = std::chrono::steady_clock::now() - opened;
  return static_cast<uint64_t>(nanoseconds(std::chrono::hours(1)).count()) +
         static_cast<uint64_t>(since.count()) * options().clock / 100;
}

namespace calls {

tenon_error* create(const tenon_host* host, const tenon_instance_options* given,
                    tenon_instance_p** out_instance) try {
  *out_instance = nullptr;
  auto self = std::make_unique<Instance>(Instance{tenon_sdk::Host(host), {}, nullptr});
  if (tenon_error* error = read_options(self->host, *given, self->options)) return error;
  const tenon_instance_options inner_options = {.struct_size = sizeof inner_options,
                                                .threads = given->threads,
                                                .log_context = given->log_context};
  if (tenon_error* error = inner_plugin().create(host, &inner_options, &self->instance)) {
    return error;
  }
  *out_instance = reinterpret_cast<tenon_instance_p*>(self.release());
  return nullptr;
} catch (const std::bad_alloc&) {
  return tenon_sdk::Host(host).error(TENON_OUT_OF_MEMORY,
                                     "out of host memory: cannot create an instance");
}

void destroy(tenon_instance_p* self) {
  inner().destroy(from_c(self).instance);
  delete &from_c(self);
}

tenon_error* count_devices(tenon_instance_p* self, size_t* out_count) {
  return inner().count_devices(from_c(self).instance, out_count);
}

tenon_error* open_device(tenon_instance_p* self, size_t index, tenon_device_p** out_device) {
  *out_device = nullptr;
  tenon_device_p* device = nullptr;
  if (tenon_error* error = inner().open_device(from_c(self).instance, index, &device)) return error;
  try {
    *out_device = reinterpret_cast<tenon_device_p*>(new Device{from_c(self), device});
  } catch (...) {
    inner().close_device(device);
    throw;
  }
  return nullptr;
}

void close_device(tenon_device_p* device) {
  inner().close_device(from_c(device).device);
  delete &from_c(device);
}

tenon_error* describe_device(tenon_device_p* self, tenon_device_properties* out_properties) {
  const Device& device = from_c(self);
  const Options& options = device.options();
  tenon_sdk::fill_struct(
      out_properties,
      tenon_device_properties{
          .kind = TENON_DEVICE_ACCELERATOR,
          .description = options.asynchronous
                             ? tenon_string TENON_STR("ref's kernels on an asynchronous queue")
                             : tenon_string TENON_STR("ref's kernels with host-invisible memory"),
          .vendor = TENON_STR("Tenon"),
          .driver = TENON_STR(""),
          .features = device.features(),
          .memory_bytes = options.memory_bytes,
          .compute_units = 1,
          .max_operand_bytes = options.max_operand_bytes});
  return nullptr;
}

// Wraps a buffer of plugin `ref`. Releases the buffer if memory is exhausted.
tenon_error* make_buffer(Device& device, tenon_buffer_p* buffer, uint64_t size,
                         tenon_buffer_p** out_buffer) {
  auto* const data = static_cast<std::byte*>(inner().map(buffer));
  try {
    *out_buffer = reinterpret_cast<tenon_buffer_p*>(new Buffer{device, buffer, data, size});
  } catch (...) {
    inner().release(buffer);
    throw;
  }
  device.allocated_bytes += size;
  return nullptr;
}

tenon_error* allocate(tenon_device_p* self, uint64_t size, tenon_buffer_p** out_buffer) {
  *out_buffer = nullptr;
  Device& device = from_c(self);
  const uint64_t limit = device.options().memory_bytes;
  if (++device.allocations == device.options().fail_allocate ||
      (limit && device.allocated_bytes + size > limit)) {
    return device.error(TENON_OUT_OF_MEMORY, "cannot allocate " + std::to_string(size) + " bytes");
  }
  tenon_buffer_p* buffer = nullptr;
  if (tenon_error* error = inner().allocate(device.device, size, &buffer)) return error;
  return make_buffer(device, buffer, size, out_buffer);
}

void release(tenon_buffer_p* self) {
  Buffer& buffer = from_c(self);
  buffer.device.allocated_bytes -= buffer.size;
  inner().release(buffer.buffer);
  delete &buffer;
}

void* map(tenon_buffer_p* buffer) { return from_c(buffer).data; }

tenon_error* import_host(tenon_device_p* self, void* data, uint64_t size,
                         tenon_buffer_p** out_buffer) {
  *out_buffer = nullptr;
  Device& device = from_c(self);
  tenon_buffer_p* buffer = nullptr;
  if (tenon_error* error = inner().import_host(device.device, data, size, &buffer)) return error;
  return make_buffer(device, buffer, size, out_buffer);
}

tenon_error* copy(tenon_stream_p* self, const tenon_copy_region* given) {
  Stream& stream = from_c(self);
  tenon_copy_region region = *given;
  if (region.from.buffer) region.from.buffer = from_c(region.from.buffer).buffer;
  if (region.to.buffer) region.to.buffer = from_c(region.to.buffer).buffer;
  Device& device = stream.device();
  const uint64_t number = ++device.copies;
  return stream.enqueue([&stream, &device, number, region] {
    if (number != device.options().fail_copy) return inner().copy(stream.inner(), &region);
    return device.error(TENON_INTERNAL, "copy " + std::to_string(number) + " failed");
  });
}

tenon_error* fill(tenon_stream_p* self, const tenon_fill_region* given) {
  Stream& stream = from_c(self);
  tenon_fill_region region = *given;
  region.buffer = from_c(region.buffer).buffer;
  return stream.enqueue([&stream, region] { return inner().fill(stream.inner(), &region); });
}

tenon_error* memory_statistics(tenon_device_p* device, tenon_memory_statistics* out_statistics) {
  return inner().memory_statistics(from_c(device).device, out_statistics);
}

tenon_error* open_stream(tenon_device_p* self, tenon_stream_p** out_stream) {
  *out_stream = nullptr;
  Device& device = from_c(self);
  tenon_stream_p* stream = nullptr;
  if (tenon_error* error = inner().open_stream(device.device, &stream)) return error;
  try {
    *out_stream = reinterpret_cast<tenon_stream_p*>(new Stream(device, stream));
  } catch (...) {
    inner().close_stream(stream);
    throw;
  }
  return nullptr;
}

void close_stream(tenon_stream_p* stream) { delete &from_c(stream); }

tenon_error* record_event(tenon_stream_p* stream, tenon_event_p** out_event) {
  *out_event = nullptr;
  auto event = std::make_unique<EventPtr>(std::make_shared<Event>());
  tenon_error* error = from_c(stream).enqueue([event = *event]() -> tenon_error* {
    event->signal();
    return nullptr;
  });
  if (!error) *out_event = reinterpret_cast<tenon_event_p*>(event.release());
  return error;
}

tenon_error* wait_event(tenon_stream_p* self, tenon_event_p* event) {
  Stream& stream = from_c(self);
  return stream.enqueue([&stream, event = from_c(event)]() -> tenon_error* {
    stream.device().turns.set_blocked(stream.number(), true);
    event->wait();
    stream.device().turns.set_blocked(stream.number(), false);
    return nullptr;
  });
}

void release_event(tenon_event_p* event) { delete &from_c(event); }

tenon_error* notify(tenon_stream_p* stream, tenon_done_callback done) {
  return from_c(stream).notify(done);
}

tenon_error* wait(tenon_stream_p* stream) { return from_c(stream).wait(); }

uint64_t workspace(tenon_kernel_p* kernel, const tenon_launch* launch) {
  return inner().workspace(from_c(kernel).kernel, launch);
}

using tenon_fake::launch;
using tenon_fake::prepare_loop;
using tenon_fake::record;
using tenon_fake::release_recording;
using tenon_fake::replay;

constexpr std::nullptr_t run_tasks = nullptr;

tenon_error* mark_time(tenon_stream_p* stream, uint64_t* out_mark) {
  return from_c(stream).mark_time(out_mark);
}

tenon_error* read_time(tenon_stream_p* stream, uint64_t mark, uint64_t* out_ns) {
  return from_c(stream).read_time(mark, out_ns);
}

void release_kernel(tenon_kernel_p* kernel) {
  inner().release_kernel(from_c(kernel).kernel);
  delete &from_c(kernel);
}

}  // namespace calls

namespace {

// ---- the table of functions: every function first checks for an injected failure

// Return the host of the context to which a handle belongs.
const tenon_sdk::Host& host_of(tenon_instance_p* self) { return from_c(self).host; }
const tenon_sdk::Host& host_of(tenon_device_p* device) { return from_c(device).host(); }
const tenon_sdk::Host& host_of(tenon_stream_p* stream) { return from_c(stream).device().host(); }
const tenon_sdk::Host& host_of(tenon_kernel_p* kernel) { return from_c(kernel).device.host(); }
const tenon_sdk::Host& host_of(tenon_recording_p* recording) { return device_of(recording).host(); }

// Counts a call, and returns an error if it is the one that option `fail_call` selects.
tenon_error* injected_failure(Device& device) {
  const uint64_t n = ++device.calls;
  if (n != device.options().fail_call) return nullptr;
  return device.error(TENON_INTERNAL, "call " + std::to_string(n) + " failed");
}
tenon_error* injected_failure(tenon_instance_p*) { return nullptr; }
tenon_error* injected_failure(tenon_device_p* device) { return injected_failure(from_c(device)); }
tenon_error* injected_failure(tenon_stream_p* stream) {
  return injected_failure(from_c(stream).device());
}
tenon_error* injected_failure(tenon_kernel_p* kernel) {
  return injected_failure(from_c(kernel).device);
}
tenon_error* injected_failure(tenon_recording_p* recording) {
  return injected_failure(device_of(recording));
}

// Called for each argument of a failed call: destroys a callback. Other arguments need no action.
template <class Argument>
void destroy_argument(const Argument&) {}
void destroy_argument(const tenon_done_callback& done) {
  if (done.destroy) done.destroy(done.payload);
}

template <auto slot>
struct Guarded;
template <>
struct Guarded<nullptr> {
  static constexpr std::nullptr_t call = nullptr;
};
template <class Result, class First, class... Rest, Result (*slot)(First, Rest...)>
struct Guarded<slot> {
  static Result call(First first, Rest... rest) {
    if constexpr (std::is_same_v<Result, tenon_error*>) {
      tenon_error* error = nullptr;
      try {
        error = injected_failure(first);
        if (!error) return slot(first, rest...);
      } catch (const std::exception& failure) {
        error = host_of(first).error(TENON_OUT_OF_MEMORY, failure.what());
      }
      (destroy_argument(rest), ...);
      return error;
    } else {
      return slot(first, rest...);
    }
  }
};

constexpr tenon_plugin_calls kCalls = {
    .struct_size = sizeof(tenon_plugin_calls),
#define TENON_SLOT(result, name, parameters) .name = Guarded<calls::name>::call,
#include <tenon/plugin_slots.def>
};

}  // namespace
}  // namespace tenon_fake

TENON_PLUGIN_ENTRY(fake)(const tenon_host*, const tenon_plugin** out_plugin) {
  static const tenon_plugin plugin = {
      .struct_size = sizeof(tenon_plugin),
      .name = TENON_STR("fake"),
      .version = TENON_STR("0.1.0"),
      .provides =
          // A device of the plugin may provide these features. It reports only those that its
          // options enable.
      tenon_fake::inner_plugin().provides,
      .requires_of_host = TENON_HOST_FEATURE_BROADCAST_VIEWS,
      .create = tenon_fake::calls::create,
      .calls = &tenon_fake::kCalls,
      .kernels = tenon_fake::kernels(),
      .n_kernels = tenon_fake::count_kernels(),
      .kernel_size = sizeof(tenon_kernel),
  };
  *out_plugin = &plugin;
  return nullptr;
}
