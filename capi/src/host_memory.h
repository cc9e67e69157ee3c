// Memory of the host, lent for a tensor to lie in.

#pragma once

#include <tenon/types.h>

#include "capi/src/handles.h"

namespace tenon::capi {

// Elements that somebody lends. Strides are not negative.
struct HostArray {
  TensorType type;
  Dims strides;
  void* data = nullptr;
  uint64_t bytes = 0;  // Up to the end of the last element.
};

// `strides` NULL stands for row-major without gaps.
HostArray host_array(const TensorType& type, const int64_t* strides, void* data);

// A tensor on the scope's device, in place if the device can use the memory so, else a copy. The
// loan ends with the tensor's last owner or after the copy.
Tensor lend(Scope& scope, const HostArray& array, Payload loan);
Tensor copy_in(Scope& scope, const HostArray& array);

// One element of `from` as an int64 or a double, whichever `as` says.
void element_as(DType from, const void* bits, DType as, void* to);

}  // namespace tenon::capi
