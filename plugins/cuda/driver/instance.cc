#include "plugins/cuda/driver/instance.h"

#include "plugins/cuda/driver/driver.h"
#include "plugins/cuda/driver/nvtx.h"

namespace tenon_cuda {

tenon_error* Instance::create(const tenon_host* host, const tenon_instance_options& options,
                              std::unique_ptr<Instance>& made) {
  std::unique_ptr<Instance> self(new Instance(tenon_sdk::Host(host)));
  if (tenon_error* error = read_options(self->host_, options, self->options_)) return error;
  Range::attach_profiler();
  std::string why;
  if (!open_driver(self->driver_, why) || !open_nvrtc(self->nvrtc_, why)) {
    return self->host_.error(TENON_UNAVAILABLE, "cuda: " + why);
  }
  if (tenon_error* error = self->find_devices()) return error;
  made = std::move(self);
  return nullptr;
}

// Converts a failed result to an error; returns NULL for success. `what`: the operation that the
// error names.
tenon_error* Instance::check(CUresult result, const char* what) const {
  return Driver(driver_, host_).check(result, what);
}

tenon_error* Instance::find_devices() {
  const CUresult result = driver_.Init(0);
  if (result == kCudaNoDevice) return nullptr;
  if (result != kCudaSuccess) {
    return host_.error(TENON_UNAVAILABLE, "cuda: the driver cannot be initialised: " +
                                              Driver(driver_, host_).describe(result));
  }
  int n = 0;
  if (tenon_error* error = check(driver_.DeviceGetCount(&n), "cuDeviceGetCount")) return error;
  for (int i = 0; i < n; ++i) {
    char name[256] = {};
    CUdevice device = 0;
    if (tenon_error* error = check(driver_.DeviceGet(&device, i), "cuDeviceGet")) return error;
    if (tenon_error* error =
            check(driver_.DeviceGetName(name, sizeof name, device), "cuDeviceGetName")) {
      return error;
    }
    const std::string& wanted = options_.device;
    if (wanted.empty() || wanted == std::to_string(i) ||
        std::string(name).find(wanted) != std::string::npos) {
      devices_.push_back(device);
    }
  }
  return nullptr;
}

}  // namespace tenon_cuda
