#include "plugins/cuda/driver/device.h"

#include <algorithm>
#include <cstring>

#include "plugins/cuda/encoder.h"

namespace tenon_cuda {
namespace {

// Maximum age of the base event in milliseconds. Up to this age, a float has a resolution of 61 ns.
constexpr float kClockPeriodMs = 1000;

}  // namespace

tenon_error* Device::open(Instance& instance, CUdevice number, std::unique_ptr<Device>& made) {
  std::unique_ptr<Device> self(new Device(instance, number));
  if (tenon_error* error = self->enter_primary_context(instance)) return error;
  self->memory_ = std::make_unique<Memory>(self->driver_, self->context_, number);
  self->library_products_ = std::make_unique<LibraryProducts>(self->driver_, self->context_);
  if (tenon_error* error = self->start_clock()) return error;
  made = std::move(self);
  return nullptr;
}

tenon_error* Device::enter_primary_context(Instance& instance) {
  const DriverFunctions& cu = driver_.cu;
  char name[256] = {};
  CUuuid uuid = {};
  size_t memory = 0;
  int driver_version = 0, n_processors = 0, major = 0, minor = 0;
  const struct {
    CUresult result;
    const char* what;
  } steps[] = {
      {cu.DeviceGetName(name, sizeof name, number_), "cuDeviceGetName"},
      {cu.DeviceGetUuid(&uuid, number_), "cuDeviceGetUuid"},
      {cu.DeviceTotalMem(&memory, number_), "cuDeviceTotalMem"},
      {cu.DriverGetVersion(&driver_version), "cuDriverGetVersion"},
      {cu.DeviceGetAttribute(&n_processors, kAttributeMultiprocessors, number_),
       "cuDeviceGetAttribute"},
      {cu.DeviceGetAttribute(&major, kAttributeMajor, number_), "cuDeviceGetAttribute"},
      {cu.DeviceGetAttribute(&minor, kAttributeMinor, number_), "cuDeviceGetAttribute"},
      {cu.DevicePrimaryCtxRetain(&context_, number_), "cuDevicePrimaryCtxRetain"},
  };
  for (const auto& [result, what] : steps) {
    if (tenon_error* error = driver_.check(result, what)) return error;
  }
  name_ = name;
  version_ = "CUDA " + std::to_string(driver_version / 1000) + "." +
             std::to_string(driver_version % 1000 / 10);
  multiprocessors_ = static_cast<uint32_t>(n_processors);
  properties_ = {.kind = TENON_DEVICE_GPU,
                 .description = tenon_sdk::to_c(name_),
                 .vendor = TENON_STR("NVIDIA"),
                 .driver = tenon_sdk::to_c(version_),
                 .memory_bytes = memory,
                 .compute_units = multiprocessors_,
                 .vector_bits = 1024};
  std::memcpy(properties_.uuid, uuid.bytes, sizeof properties_.uuid);

  const Options& options = instance.options();
  compiler_ = std::make_unique<Compiler>(driver_, instance.nvrtc(), context_, 10 * major + minor,
                                         options.cache ? *options.cache : Cache::default_folder());
  return compiler_->choose_architecture();
}

Device::~Device() {
  if (context_ == nullptr) return;
  library_products_.reset();
  compiler_.reset();
  memory_.reset();
  {
    const Entered entered(driver_, context_);
    for (const CUevent event : events_) driver_.cu.EventDestroy(event);
    if (clock_from_ != nullptr) driver_.cu.EventDestroy(clock_from_);
  }
  driver_.cu.DevicePrimaryCtxRelease(number_);
}

tenon_device_properties Device::describe(tenon_features features) const {
  tenon_device_properties properties = properties_;
  properties.features = features;
  return properties;
}

tenon_error* Device::request_access_to(const Memory& peer) {
  std::lock_guard guard(peers_mutex_);
  if (std::find(peers_.begin(), peers_.end(), peer.device()) != peers_.end()) return nullptr;
  int can_access = 0;
  const CUresult result = driver_.cu.DeviceCanAccessPeer(&can_access, number_, peer.device());
  if (tenon_error* error = driver_.check(result, "cuDeviceCanAccessPeer")) return error;
  if (can_access != 0) {
    // Another library in the process may have enabled the access.
    const CUresult enabled = driver_.cu.CtxEnablePeerAccess(peer.context(), 0);
    if (enabled != kCudaPeerAccessAlreadyEnabled) {
      if (tenon_error* error = driver_.check(enabled, "enabling access to a peer")) return error;
    }
  }
  peers_.push_back(peer.device());
  return nullptr;
}

tenon_error* Device::make_event(EventRef& event) {
  CUevent made = nullptr;
  {
    std::lock_guard guard(events_mutex_);
    if (!events_.empty()) {
      made = events_.back();
      events_.pop_back();
    }
  }
  if (made == nullptr) {
    {
      // Reserves space in the pool for all events, so that returning an event does not allocate.
      std::lock_guard guard(events_mutex_);
      if (events_.capacity() <= n_events_) events_.reserve(2 * n_events_ + 8);
      ++n_events_;
    }
    const CUresult result = driver_.cu.EventCreate(&made, kEventDisableTiming | kEventBlockingSync);
    if (result != kCudaSuccess) {
      std::lock_guard guard(events_mutex_);
      --n_events_;
    }
    if (tenon_error* error = driver_.check(result, "creating an event")) return error;
  }
  event = EventRef(made, [this](CUevent released) {
    std::lock_guard guard(events_mutex_);
    events_.push_back(released);
  });
  return nullptr;
}

tenon_error* Device::start_clock() {
  const Entered entered(driver_, context_);
  if (tenon_error* error = entered.error()) return error;
  if (tenon_error* error =
          driver_.check(driver_.cu.EventCreate(&clock_from_, 0), "creating an event")) {
    return error;
  }
  if (tenon_error* error =
          driver_.check(driver_.cu.EventRecord(clock_from_, nullptr), "starting the clock")) {
    return error;
  }
  return driver_.check(driver_.cu.EventSynchronize(clock_from_), "starting the clock");
}

tenon_error* Device::read_clock(CUevent event, uint64_t& ns) {
  std::lock_guard guard(clock_mutex_);
  float ms = 0;
  const CUresult result = driver_.cu.EventElapsedTime(&ms, clock_from_, event);
  if (result == kCudaNotReady) {
    return driver_.error(
        TENON_FAILED_PRECONDITION,
        "cuda: the device has not reached this mark yet; wait for the stream first");
  }
  if (tenon_error* error = driver_.check(result, "reading the clock")) return error;
  ns = static_cast<uint64_t>((clock_ms_ + static_cast<double>(ms)) * 1e6);
  return ms > kClockPeriodMs ? replace_base_event() : nullptr;
}

tenon_error* Device::replace_base_event() {
  CUevent now = nullptr;
  if (tenon_error* error = driver_.check(driver_.cu.EventCreate(&now, 0), "creating an event")) {
    return error;
  }
  float ms = 0;
  CUresult result = driver_.cu.EventRecord(now, nullptr);
  if (result == kCudaSuccess) result = driver_.cu.EventSynchronize(now);
  if (result == kCudaSuccess) result = driver_.cu.EventElapsedTime(&ms, clock_from_, now);
  if (result == kCudaSuccess) {
    std::swap(clock_from_, now);
    clock_ms_ += static_cast<double>(ms);
  }
  driver_.cu.EventDestroy(now);
  return driver_.check(result, "reading the clock");
}

// ---- queries of kernels

tenon_error* make_error(tenon_device_p* device, tenon_code code, std::string_view message) {
  return from_c(device).driver().error(code, message);
}

void release_error(tenon_device_p* device, tenon_error* error) {
  from_c(device).host().release(error);
}

// Compiles or finds a module and looks up the functions with these names.
tenon_error* make_functions(tenon_device_p* device, const std::string& name,
                            const std::string& source, std::span<const char* const> names,
                            Function* functions) {
  const Module* module = nullptr;
  if (tenon_error* error = from_c(device).driver().check_lost()) return error;
  if (tenon_error* error = from_c(device).compiler().get_module(name, source, &module))
    return error;
  for (size_t i = 0; i < names.size(); ++i) {
    if (tenon_error* error = module->find_function(names[i], functions[i])) return error;
  }
  return nullptr;
}

uint32_t multiprocessors(tenon_device_p* device) { return from_c(device).multiprocessors(); }

uint64_t address_of(const tenon_view& view) {
  return view.buffer != nullptr ? from_c(view.buffer).data + view.byte_offset : 0;
}

uint64_t error_record_address(const tenon_launch& launch) {
  return launch.record_buffer != nullptr ? from_c(launch.record_buffer).data + launch.record_offset
                                         : 0;
}

}  // namespace tenon_cuda
