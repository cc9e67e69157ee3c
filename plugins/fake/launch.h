// Launches that outlive the call which asks for them.

#pragma once

#include "plugins/fake/stream.h"

namespace tenon_fake {

// Which of some launches that are enqueued together are to fail. They count on from those before.
class Faults {
 public:
  Faults(Device& device, uint64_t n);

  // Of one that is refused at once; NULL: of none.
  tenon_error* at_enqueue() const;
  // Of one, when its turn has come.
  tenon_error* at(uint64_t i) const;
  // Names what failed to the host, or gives what it is to be told of otherwise.
  tenon_error* tell(tenon_error* error, void* work, uint64_t ticket) const;

 private:
  Device& device_;
  uint64_t first_;
  bool refused_ = false;
};

tenon_error* launch(tenon_kernel_p* kernel, tenon_stream_p* stream, const tenon_launch* launch);

// The kernels of `ref`, prepared through us.
const tenon_kernel* kernels();
size_t count_kernels();
tenon_error* prepare_loop(tenon_device_p* device, const tenon_loop_request* request,
                          tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                          tenon_string* out_reason);

}  // namespace tenon_fake
