// Declarations that the source files of the emulated driver share.

#pragma once

#include <string>

#include "plugins/cuda/driver/cuda_abi.h"
#include "plugins/cuda/testing/emulated_faults.h"
#include "plugins/cuda/testing/emulated_stream.h"

namespace tenon_emulated {

using tenon_cuda::CUdeviceptr;
using tenon_cuda::CUresult;
using tenon_cuda::CUstream;

inline constexpr CUresult kInvalidValue = 1, kNotInitialized = 3, kInvalidContext = 201;
inline constexpr CUresult kInvalidImage = 200, kInvalidHandle = 400, kNotFound = 500,
                          kLaunchFailed = 719;

// Prints why a call is invalid, and returns CUDA_ERROR_INVALID_VALUE.
CUresult invalid(const std::string& text);
// Returns an error if a call that requires a context is made without one, or after an error of the
// context.
CUresult check_context();
// Returns an error if the bytes are not within one allocation. `what`: the operation that the error
// names.
CUresult check_memory(CUdeviceptr data, size_t size, const char* what);
// Returns the host address of memory of the emulated device.
inline void* pointer(CUdeviceptr memory) { return reinterpret_cast<void*>(memory); }
// Returns the stream of a handle; NULL stands for the default stream.
Stream& from_c(CUstream stream);

}  // namespace tenon_emulated

#define ENTRY(name) extern "C" __attribute__((visibility("default"))) tenon_cuda::CUresult name
#define MAY_FAIL(name) \
  if (const tenon_cuda::CUresult result = tenon_emulated::injected(name)) return result;
#define NEEDS_CONTEXT(name) \
  MAY_FAIL(name)            \
  if (const tenon_cuda::CUresult result = tenon_emulated::check_context()) return result;
