// Imports host memory into tensors.

#pragma once

#include <tenon/types.h>

#include "capi/src/handles.h"

namespace tenon::capi {

// An array in external host memory. Strides may be negative or 0. The stride of an axis of size 1
// is set as in a dense array.
struct HostArray {
  TensorType type;
  Dims strides;
  void* data = nullptr;  // The element at index 0 of all axes.
  uint64_t bytes =
      0;  // Size of the array, from the first byte of the lowest element to the end of the highest.
  uint64_t bytes_before = 0;  // The part of `bytes` before `data`, due to negative strides.
};

// `strides` NULL stands for row-major without gaps.
HostArray host_array(const TensorType& type, const int64_t* strides, void* data);

// lend() returns a tensor on the scope's device that uses the memory in place if the device can, or
// else a copy. `loan` is destroyed with the last reference to the tensor or after the copy.
// copy_in() always copies.
Tensor lend(Scope& scope, const HostArray& array, Payload loan);
Tensor copy_in(Scope& scope, const HostArray& array);

// Converts one element of dtype `from` to an int64 or a double, as `as` specifies.
void element_as(DType from, const void* bits, DType as, void* to);

}  // namespace tenon::capi
