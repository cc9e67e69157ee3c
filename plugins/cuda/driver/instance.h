// The plugin's instance for one context: the opened libraries and the devices that the options
// select.

#pragma once

#include <memory>
#include <vector>

#include "plugins/cuda/driver/loader.h"
#include "plugins/cuda/driver/options.h"
#include "plugins/sdk/host.h"

namespace tenon_cuda {

class Instance {
 public:
  static tenon_error* create(const tenon_host* host, const tenon_instance_options& options,
                             std::unique_ptr<Instance>& made);

  const tenon_sdk::Host& host() const { return host_; }
  const Options& options() const { return options_; }
  const DriverFunctions& driver() const { return driver_; }
  const NvrtcFunctions& nvrtc() const { return nvrtc_; }
  // The driver's indices of the devices that the options select.
  const std::vector<int>& devices() const { return devices_; }

 private:
  explicit Instance(const tenon_sdk::Host& host) : host_(host) {}
  // Finds the devices that the options select.
  tenon_error* find_devices();
  // Converts a failed result to an error; returns NULL for success. `what`: the operation that the
  // error names.
  tenon_error* check(CUresult result, const char* what) const;

  const tenon_sdk::Host host_;
  Options options_;
  DriverFunctions driver_;
  NvrtcFunctions nvrtc_;
  std::vector<int> devices_;
};

// Returns the object of a handle of the plugin ABI.
inline Instance& from_c(tenon_instance_p* self) { return *reinterpret_cast<Instance*>(self); }

}  // namespace tenon_cuda
