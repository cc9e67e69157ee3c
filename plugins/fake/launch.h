// Launches on the fake device. On an asynchronous device, a launch runs after the call that
// enqueued it.

#pragma once

#include "plugins/fake/stream.h"

namespace tenon_fake {

// Determines which launches fail in a group of `n` that is enqueued together. Launches are numbered
// from 1, beginning when the device is opened.
class Faults {
 public:
  Faults(Device& device, uint64_t n);

  // Returns the error if option `fail_enqueue` refuses a launch of the group; NULL otherwise.
  tenon_error* enqueue_error() const;
  // Returns the error with which launch `i` of the group fails when it runs; NULL if it does not
  // fail.
  tenon_error* launch_error(uint64_t i) const;
  // Reports a launch's error to the host by launch_failed, and returns NULL. Returns the error
  // instead if option `silent` is set, the device is synchronous, or the device is lost.
  tenon_error* report_failure(tenon_error* error, void* work, uint64_t ticket) const;

 private:
  Device& device_;
  uint64_t first_;
  bool refused_ = false;
};

tenon_error* launch(tenon_kernel_p* kernel, tenon_stream_p* stream, const tenon_launch* launch);

// The kernel entries of plugin `ref`, with `prepare` replaced by the one of this plugin.
const tenon_kernel* kernels();
size_t count_kernels();
tenon_error* prepare_loop(tenon_device_p* device, const tenon_loop_request* request,
                          tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                          tenon_string* out_reason);

}  // namespace tenon_fake
