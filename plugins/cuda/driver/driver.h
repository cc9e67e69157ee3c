// The functions of the opened libraries, and the conversion of their results to errors.

#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "plugins/cuda/driver/loader.h"
#include "plugins/sdk/host.h"

namespace tenon_cuda {

// The driver's functions for one device, and whether the device is lost.
class Driver {
 public:
  Driver(const DriverFunctions& functions, const tenon_sdk::Host& host)
      : cu(functions), host_(host) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  const DriverFunctions& cu;
  const tenon_sdk::Host& host() const { return host_; }
  // Creates an error.
  tenon_error* error(tenon_code code, std::string_view message) const {
    return host_.error(code, message);
  }

  // Converts a result to an error, or NULL for success. After an error that makes the context
  // unusable, such as an illegal address, the device is lost: all later calls return an error.
  tenon_error* check(CUresult result, std::string_view what) const;
  // Returns an error if the device is lost, otherwise NULL.
  tenon_error* check_lost() const;
  // Returns the result's name, description and number: "CUDA_ERROR_INVALID_VALUE (invalid argument,
  // 1)".
  std::string describe(CUresult result) const;

 private:
  const tenon_sdk::Host host_;
  mutable std::atomic<bool> is_lost_{false};
  mutable std::mutex mutex_;
  mutable std::string loss_;
};

// Makes a device's context current on this thread during the lifetime of the object.
class Entered {
 public:
  Entered(const Driver& driver, CUcontext context)
      : driver_(driver), result_(driver.cu.CtxPushCurrent(context)) {}
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  ~Entered() {
    if (result_ == kCudaSuccess) driver_.cu.CtxPopCurrent(&left_);
  }
  // Returns an error if the context could not be made current, otherwise NULL.
  tenon_error* error() const { return driver_.check(result_, "entering the context"); }

 private:
  const Driver& driver_;
  const CUresult result_;
  CUcontext left_ = nullptr;
};

}  // namespace tenon_cuda
