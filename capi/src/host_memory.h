// Creates tensors from host memory, in place or by copying.

#pragma once

#include <tenon/types.h>

#include "capi/src/handles.h"

namespace tenon::capi {

// Describes a strided array in external host memory. Strides are in elements and may be negative or
// 0. An axis of size 1 always has the stride of a dense array.
struct HostArray {
  TensorType type;
  Dims strides;
  void* data = nullptr;  // Address of the element with index 0 along all axes.
  uint64_t bytes =
      0;  // Size of the array, from the first byte of the lowest element to the end of the highest.
  uint64_t bytes_before = 0;  // Number of the `bytes` that precede `data`.
};

// Describes an array at `data`. `strides` is in elements; NULL means row-major without gaps.
HostArray host_array(const TensorType& type, const int64_t* strides, void* data);

// tensor_of_host_memory() returns a tensor on the scope's device. The tensor uses the memory in
// place if the device can import it; otherwise tensor_of_host_memory() copies the elements. `loan`
// is destroyed with the last reference to the tensor, or after the copy. copy_from_host() always
// copies.
Tensor tensor_of_host_memory(Scope& scope, const HostArray& array, Payload loan);
Tensor copy_from_host(Scope& scope, const HostArray& array);

// Converts an element of dtype `from` to an int64 or a double, depending on `as`.
void convert_element(DType from, const void* bits, DType as, void* to);

}  // namespace tenon::capi
