// The plugin for NVIDIA GPUs. driver/ contains all code that calls libcuda and NVRTC: memory,
// streams, compiled kernels. kernels/ prepares kernels from CUDA C++ source, which it generates or
// reads from device/. encoder.h is the interface between driver/ and kernels/. testing/ contains
// libraries that emulate the driver on machines without a GPU.

#include <tenon/plugin.h>

#include <iterator>
#include <memory>

#include "plugins/cuda/driver/device.h"
#include "plugins/cuda/driver/recording.h"
#include "plugins/cuda/driver/stream.h"
#include "plugins/cuda/kernels/kernels.h"
#include "plugins/sdk/guarded.h"
#include "plugins/sdk/kernel.h"

namespace tenon_cuda {
namespace {

// Arithmetic follows IEEE 754: sources are compiled without contraction, fast division or flushing
// of subnormals.
constexpr tenon_features kProvides = TENON_FEATURE_HOST_BLOCKING | TENON_FEATURE_IEEE_DIV |
                                     TENON_FEATURE_IEEE_FMA | TENON_FEATURE_FLOAT64 |
                                     TENON_FEATURE_PEER_COPY;

// Transfers ownership of an object to the host, as an opaque handle.
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
        TENON_NOT_FOUND, "cuda: device index " + std::to_string(index) +
                             " is out of range: the number of devices is " + std::to_string(n));
  }
  std::unique_ptr<Device> made;
  if (tenon_error* error = Device::open(instance, instance.devices()[index], made)) return error;
  set_out_handle(out_device, std::move(made));
  return nullptr;
}

void close_device(tenon_device_p* device) { delete &from_c(device); }

tenon_error* describe_device(tenon_device_p* self, tenon_device_properties* out_properties) {
  tenon_sdk::fill_struct(out_properties, from_c(self).describe(kProvides));
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

constexpr std::nullptr_t map = nullptr;
constexpr std::nullptr_t import_host = nullptr;

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
  auto event = std::make_unique<EventRef>();
  if (tenon_error* error = from_c(stream).record_event(*event)) return error;
  set_out_handle(out_event, std::move(event));
  return nullptr;
}

EventRef& event_of(tenon_event_p* event) { return *reinterpret_cast<EventRef*>(event); }

tenon_error* wait_event(tenon_stream_p* stream, tenon_event_p* event) {
  return from_c(stream).wait_event(event_of(event));
}

void release_event(tenon_event_p* event) { delete &event_of(event); }

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
  return tenon_sdk::prepare_loop<tenon_cuda::prepare_loop>(device, request, out_kernel, out_traits,
                                                           out_reason);
}

tenon_error* record(tenon_device_p* device, const tenon_record_request* request,
                    tenon_recording_p** out_recording, tenon_string* out_reason) {
  *out_recording = nullptr;
  std::unique_ptr<Recording> made;
  if (tenon_error* error = Recording::make(from_c(device), *request, made, *out_reason)) {
    return error;
  }
  if (made != nullptr) set_out_handle(out_recording, std::move(made));
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
  static constexpr const char* no_memory = "cuda: host memory is exhausted";
  static const tenon_sdk::Host& host_of(tenon_instance_p* self) { return from_c(self).host(); }
  static const tenon_sdk::Host& host_of(tenon_device_p* device) { return from_c(device).host(); }
  static const tenon_sdk::Host& host_of(tenon_stream_p* stream) {
    return from_c(stream).device().host();
  }
  static const tenon_sdk::Host& host_of(tenon_recording_p* recording) {
    return from_c(recording).device().host();
  }
};

constexpr tenon_plugin_calls kCalls = {
    .struct_size = sizeof(tenon_plugin_calls),
#define TENON_SLOT(result, name, parameters) .name = tenon_sdk::Guard<Handles>::of<calls::name>(),
#include <tenon/plugin_slots.def>
};

constexpr tenon_kernel kKernels[] = {
#define TENON_KERNEL(op, signature, prepare) TENON_SDK_KERNEL(op, signature, prepare),
#include "plugins/cuda/kernels.def"
#undef TENON_KERNEL
};

constexpr tenon_plugin kPlugin = {
    .struct_size = sizeof(tenon_plugin),
    .name = TENON_STR("cuda"),
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
}  // namespace tenon_cuda

TENON_PLUGIN_ENTRY(cuda)(const tenon_host* host, const tenon_plugin** out_plugin) {
  tenon_cuda::DriverFunctions driver;
  tenon_cuda::NvrtcFunctions nvrtc;
  std::string why;
  if (!tenon_cuda::open_driver(driver, why) || !tenon_cuda::open_nvrtc(nvrtc, why)) {
    return tenon_sdk::Host(host).error(TENON_UNAVAILABLE, "cuda: " + why);
  }
  *out_plugin = &tenon_cuda::kPlugin;
  return nullptr;
}
