// Memory of the host, lent for a tensor to lie in.

#pragma once

#include <tenon/types.h>

#include "capi/src/handles.h"

namespace tenon::capi {

// Elements that somebody lends. Strides may be negative or 0; that of an axis of size 1 is dense.
struct HostArray {
  TensorType type;
  Dims strides;
  void* data = nullptr;       // The element whose indices are all 0.
  uint64_t bytes = 0;         // From the lowest element to the end of the highest.
  uint64_t bytes_before = 0;  // Of these, those before `data`, where strides are negative.
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
