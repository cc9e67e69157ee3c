// Launches that may outlive the call that enqueues them.

#pragma once

#include "plugins/fake/stream.h"

namespace tenon_fake {

// Determines which launches of a group, which is enqueued together, fail. Launches are numbered
// from the opening of the device.
class Faults {
 public:
  Faults(Device& device, uint64_t n);

  // The error of a launch that is refused immediately; NULL if none is.
  tenon_error* at_enqueue() const;
  // The error of launch `i` of the group, to report when that launch runs; NULL if it does not
  // fail.
  tenon_error* at(uint64_t i) const;
  // Reports the error to the host as the failure of a launch, and returns NULL. With option
  // `silent`, returns the error instead.
  tenon_error* tell(tenon_error* error, void* work, uint64_t ticket) const;

 private:
  Device& device_;
  uint64_t first_;
  bool refused_ = false;
};

tenon_error* launch(tenon_kernel_p* kernel, tenon_stream_p* stream, const tenon_launch* launch);

// The kernels of `ref`, with this plugin's `prepare`.
const tenon_kernel* kernels();
size_t count_kernels();
tenon_error* prepare_loop(tenon_device_p* device, const tenon_loop_request* request,
                          tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                          tenon_string* out_reason);

}  // namespace tenon_fake
