// The Vulkan plugin, for Vulkan 1.1 or later. driver/ contains all code that calls Vulkan: memory,
// streams, pipelines. kernels/ contains the kernels, which generate SPIR-V shaders with spirv/.
// encoder.h is the interface between driver/ and kernels/.

#include <tenon/plugin.h>

#include <iterator>
#include <memory>

#include "plugins/sdk/guarded.h"
#include "plugins/sdk/kernel.h"
#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/driver/recording.h"
#include "plugins/vulkan/driver/stream.h"
#include "plugins/vulkan/kernels/kernels.h"
#include "plugins/vulkan/kernels/named.h"

namespace tenon_vulkan {
namespace {

constexpr tenon_features kProvides = TENON_FEATURE_HOST_VISIBLE | TENON_FEATURE_HOST_BLOCKING |
                                     TENON_FEATURE_IMPORT_HOST | TENON_FEATURE_FLUSH_TO_ZERO |
                                     TENON_FEATURE_FLOAT64;

// Returns the numeric features of devices with these capabilities.
tenon_features numeric_features_of(const Capabilities& capabilities) {
  const bool keeps = capabilities.controls32.preserves_denorms &&
                     (!capabilities.float64 || capabilities.controls64.preserves_denorms);
  return (keeps ? 0 : TENON_FEATURE_FLUSH_TO_ZERO) |
         (capabilities.float64 ? TENON_FEATURE_FLOAT64 : 0);
}

template <class Handle, class Object>
void set_out_handle(Handle** out, std::unique_ptr<Object> made) {
  *out = reinterpret_cast<Handle*>(made.release());
}

tenon_error* create(const tenon_host* host, const tenon_instance_options* options,
                    tenon_instance_p** out_instance) try {
  *out_instance = nullptr;
  std::unique_ptr<Instance> made;
  if (tenon_error* error = Instance::create(host, *options, made)) return error;
  set_out_handle(out_instance, std::move(made));
  return nullptr;
} catch (const std::exception& failure) {
  return tenon_sdk::Host(host).error(TENON_OUT_OF_MEMORY, failure.what());
}

}  // namespace

namespace calls {

void destroy(tenon_instance_p* self) { delete &from_c(self); }

tenon_error* count_devices(tenon_instance_p* self, size_t* out_count) {
  *out_count = from_c(self).devices().size();
  return nullptr;
}

tenon_error* open_device(tenon_instance_p* self, size_t index, tenon_device_p** out_device) {
  *out_device = nullptr;
  Instance& instance = from_c(self);
  const size_t n = instance.devices().size();
  if (index >= n) {
    return instance.host().error(
        TENON_NOT_FOUND, "vulkan: device index " + std::to_string(index) +
                             " is out of range: the number of devices is " + std::to_string(n));
  }
  std::unique_ptr<Device> made;
  if (tenon_error* error = Device::open(instance, instance.devices()[index], made)) return error;
  set_out_handle(out_device, std::move(made));
  return nullptr;
}

void close_device(tenon_device_p* device) { delete &from_c(device); }

tenon_error* describe_device(tenon_device_p* self, tenon_device_properties* out_properties) {
  const Device& device = from_c(self);
  tenon_sdk::fill_struct(out_properties,
                         device.describe(numeric_features_of(device.capabilities())));
  return nullptr;
}

tenon_error* allocate(tenon_device_p* device, uint64_t size, tenon_buffer_p** out_buffer) {
  *out_buffer = nullptr;
  std::unique_ptr<Buffer> made;
  if (tenon_error* error = from_c(device).memory().allocate(size, made)) return error;
  set_out_handle(out_buffer, std::move(made));
  return nullptr;
}

void release(tenon_buffer_p* self) {
  Buffer* const buffer = &from_c(self);
  buffer->memory.release(std::unique_ptr<Buffer>(buffer));
}

void* map(tenon_buffer_p* buffer) { return from_c(buffer).data(); }

tenon_error* import_host(tenon_device_p* device, void* data, uint64_t size,
                         tenon_buffer_p** out_buffer) {
  *out_buffer = nullptr;
  std::unique_ptr<Buffer> made;
  if (tenon_error* error = from_c(device).memory().import(data, size, made)) return error;
  set_out_handle(out_buffer, std::move(made));
  return nullptr;
}

tenon_error* copy(tenon_stream_p* stream, const tenon_copy_region* region) {
  return from_c(stream).copy(*region);
}

tenon_error* fill(tenon_stream_p* stream, const tenon_fill_region* region) {
  return from_c(stream).fill(*region);
}

tenon_error* memory_statistics(tenon_device_p* device, tenon_memory_statistics* out_statistics) {
  tenon_sdk::fill_struct(out_statistics, from_c(device).memory().statistics());
  return nullptr;
}

tenon_error* open_stream(tenon_device_p* device, tenon_stream_p** out_stream) {
  *out_stream = nullptr;
  auto made = std::make_unique<Stream>(from_c(device));
  if (tenon_error* error = made->open()) return error;
  set_out_handle(out_stream, std::move(made));
  return nullptr;
}

void close_stream(tenon_stream_p* stream) { delete &from_c(stream); }

tenon_error* record_event(tenon_stream_p* stream, tenon_event_p** out_event) {
  *out_event = nullptr;
  auto number = std::make_unique<uint64_t>();
  if (tenon_error* error = from_c(stream).record_event(*number)) return error;
  set_out_handle(out_event, std::move(number));
  return nullptr;
}

// An event of the plugin interface is a pointer to its batch number.
uint64_t* batch_number_of(tenon_event_p* event) { return reinterpret_cast<uint64_t*>(event); }

tenon_error* wait_event(tenon_stream_p* stream, tenon_event_p* event) {
  return from_c(stream).wait_event(*batch_number_of(event));
}

void release_event(tenon_event_p* event) { delete batch_number_of(event); }

tenon_error* notify(tenon_stream_p* stream, tenon_done_callback done) {
  return from_c(stream).notify(done);
}

tenon_error* wait(tenon_stream_p* stream) { return from_c(stream).wait(); }

uint64_t workspace(tenon_kernel_p* kernel, const tenon_launch* launch) {
  return tenon_sdk::from_c(kernel)->workspace(*launch);
}

tenon_error* launch(tenon_kernel_p* kernel, tenon_stream_p* stream, const tenon_launch* launch) {
  return tenon_sdk::from_c(kernel)->launch(stream, *launch);
}

void release_kernel(tenon_kernel_p* kernel) { delete tenon_sdk::from_c(kernel); }

tenon_error* prepare_loop(tenon_device_p* device, const tenon_loop_request* request,
                          tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                          tenon_string* out_reason) {
  return tenon_sdk::prepare_loop<prepare_named_loop>(device, request, out_kernel, out_traits,
                                                     out_reason);
}

tenon_error* record(tenon_device_p* device, const tenon_record_request* request,
                    tenon_recording_p** out_recording, tenon_string*) {
  *out_recording = nullptr;
  auto made = std::make_unique<Recording>(from_c(device), request->n_slots, request->n_values);
  for (size_t i = 0; i < request->n_launches; ++i) {
    if (tenon_error* error = made->add(request->launches[i])) return error;
  }
  set_out_handle(out_recording, std::move(made));
  return nullptr;
}

tenon_error* replay(tenon_recording_p* recording, tenon_stream_p* stream,
                    const tenon_replay* replay) {
  return from_c(stream).replay(from_c(recording), *replay);
}

void release_recording(tenon_recording_p* recording) { delete &from_c(recording); }

constexpr std::nullptr_t run_tasks = nullptr;

tenon_error* mark_time(tenon_stream_p* stream, uint64_t* out_mark) {
  *out_mark = 0;
  return from_c(stream).mark_time(*out_mark);
}

tenon_error* read_time(tenon_stream_p* stream, uint64_t mark, uint64_t* out_ns) {
  *out_ns = 0;
  return from_c(stream).read_time(mark, *out_ns);
}

}  // namespace calls

namespace {

struct Handles {
  static constexpr const char* no_memory = "vulkan: host memory is exhausted";
  static const tenon_sdk::Host& host_of(tenon_instance_p* self) { return from_c(self).host(); }
  static const tenon_sdk::Host& host_of(tenon_device_p* device) { return from_c(device).host(); }
  static const tenon_sdk::Host& host_of(tenon_stream_p* stream) {
    return from_c(stream).device().host();
  }
};

constexpr tenon_plugin_calls kCalls = {
    .struct_size = sizeof(tenon_plugin_calls),
#define TENON_SLOT(result, name, parameters) .name = tenon_sdk::Guard<Handles>::of<calls::name>(),
#include <tenon/plugin_slots.def>
};

constexpr tenon_kernel kKernels[] = {
#define TENON_KERNEL(op, signature, prepare) \
  TENON_SDK_KERNEL(op, signature, prepare_named<prepare>),
#include "plugins/vulkan/kernels.def"
#undef TENON_KERNEL
};

constexpr tenon_plugin kPlugin = {
    .struct_size = sizeof(tenon_plugin),
    .name = TENON_STR("vulkan"),
    .version = TENON_STR("0.1.0"),
    .provides = kProvides,
    .requires_of_host = TENON_HOST_FEATURE_BROADCAST_VIEWS,
    .create = create,
    .calls = &kCalls,
    .kernels = kKernels,
    .n_kernels = std::size(kKernels),
    .kernel_size = sizeof(tenon_kernel),
};

}  // namespace
}  // namespace tenon_vulkan

TENON_PLUGIN_ENTRY(vulkan)(const tenon_host* host, const tenon_plugin** out_plugin) {
  tenon_vulkan::Loader loader;
  std::string why;
  if (!tenon_vulkan::open_loader(tenon_vulkan::kLoaderName, loader, why)) {
    return tenon_sdk::Host(host).error(TENON_UNAVAILABLE, "vulkan: " + why);
  }
  *out_plugin = &tenon_vulkan::kPlugin;
  return nullptr;
}
