// Emulates libcuda for tests without a GPU: implements the functions that the plugin uses, with
// host memory as device memory. emulated_kernels.cc has the functions that load and launch kernels,
// and emulated_graph.cc those of graphs. Environment variables trigger behaviour that is rare with
// a real driver: TENON_EMULATED_CUDA_FAIL (emulated_faults.h), _LATE (emulated_stream.h), _MEMORY
// (emulated_memory.h), _DEVICES (number of devices, 1 by default), _PEERS (0: the devices cannot
// access each other), _CHIP (their compute capability times ten, 90 by default).

#include "plugins/cuda/testing/emulated_driver.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugins/cuda/testing/emulated_memory.h"

using namespace tenon_cuda;
using namespace tenon_emulated;

namespace {

std::atomic<bool> is_initialized{false};
std::atomic<int> n_retained{0};
thread_local std::vector<CUcontext> contexts;
constexpr int kMaxDevices = 8;
int primary_contexts[kMaxDevices];  // Only their addresses are used.

// Returns the stream that the driver API denotes by NULL.
Stream& default_stream() {
  static Stream stream;
  return stream;
}
Event& from_c(CUevent event) { return *reinterpret_cast<Event*>(event); }

// Returns the compute capability times ten.
int chip() {
  const char* const text = std::getenv("TENON_EMULATED_CUDA_CHIP");
  return text != nullptr ? std::atoi(text) : 90;
}

}  // namespace

Stream& tenon_emulated::from_c(CUstream stream) {
  return stream != nullptr ? *reinterpret_cast<Stream*>(stream) : default_stream();
}

CUresult tenon_emulated::invalid(const std::string& text) {
  std::fprintf(stderr, "emulated CUDA: %s\n", text.c_str());
  return kInvalidValue;
}

CUresult tenon_emulated::check_context() {
  if (!is_initialized) return kNotInitialized;
  if (contexts.empty() || n_retained == 0) return kInvalidContext;
  return context_has_failed() ? kLaunchFailed : 0;
}

CUresult tenon_emulated::check_memory(CUdeviceptr data, size_t size, const char* what) {
  if (memory().contains(pointer(data), size)) return 0;
  return invalid(std::string(what) + " of " + std::to_string(size) +
                 " bytes that are not in one allocation");
}

// Called by the emulated cuBLASLt. Enqueues `job` in the stream. Returns 0 if the job was enqueued.
extern "C" __attribute__((visibility("default"))) int tenon_emulated_enqueue(
    CUstream stream, const std::function<void()>* job) {
  if (const CUresult result = check_context()) return result;
  from_c(stream).enqueue([job = *job] {
    if (context_has_failed()) return;
    job();
    const std::string fault = memory().find_write_outside();
    if (!fault.empty()) fail_context("cublasLtMatmul: " + fault);
  });
  return 0;
}
// Whether all of these bytes are within one allocation.
extern "C" __attribute__((visibility("default"))) bool tenon_emulated_contains(const void* data,
                                                                               size_t size) {
  return memory().contains(data, size);
}

ENTRY(cuInit)(unsigned flags) {
  MAY_FAIL("cuInit")
  if (flags != 0) return kInvalidValue;
  is_initialized = true;
  return 0;
}

ENTRY(cuDriverGetVersion)(int* version) {
  MAY_FAIL("cuDriverGetVersion")
  *version = 13000;
  return 0;
}

ENTRY(cuGetErrorName)(CUresult result, const char** name) {
  MAY_FAIL("cuGetErrorName")
  *name = result == kCudaOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == kLaunchFailed  ? "CUDA_ERROR_LAUNCH_FAILED"
          : result == kInvalidValue  ? "CUDA_ERROR_INVALID_VALUE"
                                     : "CUDA_ERROR_UNKNOWN";
  return 0;
}

ENTRY(cuGetErrorString)(CUresult result, const char** text) {
  MAY_FAIL("cuGetErrorString")
  *text = result == kCudaOutOfMemory ? "out of memory"
          : result == kLaunchFailed  ? "unspecified launch failure"
          : result == kInvalidValue  ? "invalid argument"
                                     : "unknown error";
  return 0;
}

ENTRY(cuDeviceGetCount)(int* count) {
  MAY_FAIL("cuDeviceGetCount")
  if (!is_initialized) return kNotInitialized;
  const char* const text = std::getenv("TENON_EMULATED_CUDA_DEVICES");
  *count = text != nullptr ? std::atoi(text) : 1;
  return 0;
}

ENTRY(cuDeviceGet)(CUdevice* device, int index) {
  MAY_FAIL("cuDeviceGet")
  *device = index;
  return 0;
}

ENTRY(cuDeviceGetName)(char* name, int size, CUdevice) {
  MAY_FAIL("cuDeviceGetName")
  std::snprintf(name, static_cast<size_t>(size), "Emulated GPU");
  return 0;
}

ENTRY(cuDeviceGetUuid_v2)(CUuuid* uuid, CUdevice device) {
  MAY_FAIL("cuDeviceGetUuid_v2")
  std::memset(uuid, 0, sizeof *uuid);
  uuid->bytes[15] = static_cast<char>(1 + device);
  return 0;
}

ENTRY(cuDeviceGetAttribute)(int* value, int attribute, CUdevice) {
  MAY_FAIL("cuDeviceGetAttribute")
  switch (attribute) {
    case kAttributeMultiprocessors:
      *value = 2;
      return 0;
    case kAttributeMajor:
      *value = chip() / 10;
      return 0;
    case kAttributeMinor:
      *value = chip() % 10;
      return 0;
    default:
      return kInvalidValue;
  }
}

ENTRY(cuDeviceTotalMem_v2)(size_t* bytes, CUdevice) {
  MAY_FAIL("cuDeviceTotalMem_v2")
  *bytes = memory().total();
  return 0;
}

ENTRY(cuDevicePrimaryCtxRetain)(CUcontext* context, CUdevice device) {
  MAY_FAIL("cuDevicePrimaryCtxRetain")
  if (!is_initialized) return kNotInitialized;
  if (device < 0 || device >= kMaxDevices) return kInvalidValue;
  ++n_retained;
  *context = reinterpret_cast<CUcontext>(&primary_contexts[device]);
  return 0;
}

ENTRY(cuDevicePrimaryCtxRelease_v2)(CUdevice) {
  if (--n_retained == 0) reset_context();
  MAY_FAIL("cuDevicePrimaryCtxRelease_v2")
  return 0;
}

ENTRY(cuCtxPushCurrent_v2)(CUcontext context) {
  MAY_FAIL("cuCtxPushCurrent_v2")
  contexts.push_back(context);
  return 0;
}

ENTRY(cuCtxPopCurrent_v2)(CUcontext* context) {
  MAY_FAIL("cuCtxPopCurrent_v2")
  if (contexts.empty()) return kInvalidContext;
  if (context != nullptr) *context = contexts.back();
  contexts.pop_back();
  return 0;
}

ENTRY(cuMemGetInfo_v2)(size_t* free, size_t* total) {
  NEEDS_CONTEXT("cuMemGetInfo_v2")
  *total = memory().total();
  *free = *total - memory().used();
  return 0;
}

ENTRY(cuMemAlloc_v2)(CUdeviceptr* data, size_t size) {
  NEEDS_CONTEXT("cuMemAlloc_v2")
  if (size == 0) return kInvalidValue;
  void* const made = memory().allocate(size, contexts.back());
  *data = reinterpret_cast<CUdeviceptr>(made);
  return made != nullptr ? 0 : kCudaOutOfMemory;
}

ENTRY(cuMemFree_v2)(CUdeviceptr data) {
  std::string fault;
  const bool is_known = memory().free(pointer(data), fault);
  if (!fault.empty()) fail_context(fault);
  NEEDS_CONTEXT("cuMemFree_v2")
  return is_known ? 0 : invalid("cuMemFree of an address that is not an allocation");
}

ENTRY(cuMemHostAlloc)(void** data, size_t size, unsigned) {
  NEEDS_CONTEXT("cuMemHostAlloc")
  *data = std::malloc(size);
  return *data != nullptr ? 0 : kCudaOutOfMemory;
}

ENTRY(cuMemFreeHost)(void* data) {
  std::free(data);
  MAY_FAIL("cuMemFreeHost")
  return 0;
}

ENTRY(cuMemcpyHtoDAsync_v2)(CUdeviceptr to, const void* from, size_t size, CUstream stream) {
  NEEDS_CONTEXT("cuMemcpyHtoDAsync_v2")
  if (const CUresult result = check_memory(to, size, "a copy to")) return result;
  from_c(stream).enqueue([=] { std::memcpy(pointer(to), from, size); });
  return 0;
}

ENTRY(cuMemcpyDtoHAsync_v2)(void* to, CUdeviceptr from, size_t size, CUstream stream) {
  NEEDS_CONTEXT("cuMemcpyDtoHAsync_v2")
  if (const CUresult result = check_memory(from, size, "a copy from")) return result;
  from_c(stream).enqueue([=] { std::memcpy(to, pointer(from), size); });
  return 0;
}

ENTRY(cuMemcpyDtoDAsync_v2)(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  NEEDS_CONTEXT("cuMemcpyDtoDAsync_v2")
  if (const CUresult result = check_memory(to, size, "a copy to")) return result;
  if (const CUresult result = check_memory(from, size, "a copy from")) return result;
  if (memory().context_of(pointer(to)) != memory().context_of(pointer(from)))
    return invalid("cuMemcpyDtoDAsync between two devices");
  if (to < from + size && from < to + size)
    return invalid("source and destination of a copy overlap");
  from_c(stream).enqueue([=] { std::memcpy(pointer(to), pointer(from), size); });
  return 0;
}

// The environment variable TENON_EMULATED_CUDA_PEERS=0 makes the devices unable to access each
// other.
ENTRY(cuDeviceCanAccessPeer)(int* can, CUdevice device, CUdevice peer) {
  MAY_FAIL("cuDeviceCanAccessPeer")
  const char* const text = std::getenv("TENON_EMULATED_CUDA_PEERS");
  *can = device != peer && (text == nullptr || std::atoi(text) != 0);
  return 0;
}

ENTRY(cuCtxEnablePeerAccess)(CUcontext peer, unsigned flags) {
  NEEDS_CONTEXT("cuCtxEnablePeerAccess")
  if (flags != 0 || peer == contexts.back()) return invalid("a context is no peer of itself");
  static std::mutex mutex;
  static std::set<std::pair<CUcontext, CUcontext>> enabled;
  std::lock_guard guard(mutex);
  return enabled.insert({contexts.back(), peer}).second ? 0 : kCudaPeerAccessAlreadyEnabled;
}

ENTRY(cuMemcpyPeerAsync)
(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size,
 CUstream stream) {
  NEEDS_CONTEXT("cuMemcpyPeerAsync")
  if (const CUresult result = check_memory(to, size, "a copy to")) return result;
  if (const CUresult result = check_memory(from, size, "a copy from")) return result;
  if (memory().context_of(pointer(to)) != to_context ||
      memory().context_of(pointer(from)) != from_context) {
    return invalid("cuMemcpyPeerAsync with memory of another context");
  }
  from_c(stream).enqueue([=] { std::memcpy(pointer(to), pointer(from), size); });
  return 0;
}

template <class Value>
CUresult set_memory(CUdeviceptr data, Value value, size_t n, CUstream stream) {
  if (const CUresult result = check_memory(data, n * sizeof value, "a fill")) return result;
  if (data % sizeof value != 0) return invalid("the address of a fill is not aligned");
  from_c(stream).enqueue([=] { std::fill_n(static_cast<Value*>(pointer(data)), n, value); });
  return 0;
}

ENTRY(cuMemsetD8Async)(CUdeviceptr data, unsigned char value, size_t n, CUstream stream) {
  NEEDS_CONTEXT("cuMemsetD8Async")
  return set_memory(data, value, n, stream);
}

ENTRY(cuMemsetD16Async)(CUdeviceptr data, unsigned short value, size_t n, CUstream stream) {
  NEEDS_CONTEXT("cuMemsetD16Async")
  return set_memory(data, value, n, stream);
}

ENTRY(cuMemsetD32Async)(CUdeviceptr data, unsigned value, size_t n, CUstream stream) {
  NEEDS_CONTEXT("cuMemsetD32Async")
  return set_memory(data, value, n, stream);
}

ENTRY(cuStreamCreate)(CUstream* stream, unsigned) {
  NEEDS_CONTEXT("cuStreamCreate")
  *stream = reinterpret_cast<CUstream>(new Stream);
  return 0;
}

ENTRY(cuStreamDestroy_v2)(CUstream stream) {
  delete &from_c(stream);
  MAY_FAIL("cuStreamDestroy_v2")
  return 0;
}

ENTRY(cuStreamSynchronize)(CUstream stream) {
  NEEDS_CONTEXT("cuStreamSynchronize")
  from_c(stream).synchronize();
  return check_context();
}

ENTRY(cuStreamWaitEvent)(CUstream stream, CUevent event, unsigned) {
  NEEDS_CONTEXT("cuStreamWaitEvent")
  from_c(event).make_stream_wait(from_c(stream));
  return 0;
}

ENTRY(cuEventCreate)(CUevent* event, unsigned) {
  NEEDS_CONTEXT("cuEventCreate")
  *event = reinterpret_cast<CUevent>(new Event);
  return 0;
}

ENTRY(cuEventDestroy_v2)(CUevent event) {
  delete &from_c(event);
  MAY_FAIL("cuEventDestroy_v2")
  return 0;
}

ENTRY(cuEventRecord)(CUevent event, CUstream stream) {
  NEEDS_CONTEXT("cuEventRecord")
  from_c(event).record(from_c(stream));
  return 0;
}

ENTRY(cuEventSynchronize)(CUevent event) {
  NEEDS_CONTEXT("cuEventSynchronize")
  from_c(event).synchronize();
  return check_context();
}

ENTRY(cuEventElapsedTime)(float* ms, CUevent from, CUevent to) {
  NEEDS_CONTEXT("cuEventElapsedTime")
  const auto read = [](CUevent event, double& at) {
    Event::State& state = *from_c(event).state;
    std::lock_guard guard(state.mutex);
    at = state.ms;
    return state.n_recorded > 0 && state.n_passed == state.n_recorded;
  };
  double begin = 0, end = 0;
  if (!read(from, begin) || !read(to, end)) return kCudaNotReady;
  *ms = static_cast<float>(end - begin);
  return 0;
}
