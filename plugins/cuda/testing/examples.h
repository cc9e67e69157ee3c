// Examples: for each kernel that is not elementwise, a small call with its expected outputs.
// cuda_kernels_test.cc runs the examples on the emulated driver; cuda_nvrtc_test.cc compiles them
// with the real NVRTC.

#pragma once

#include <vector>

#include "plugins/cuda/testing/cuda_testing.h"

namespace tenon_cuda::testing {

struct Example {
  const char* name;
  uint32_t op;
  const void* attrs;
  std::vector<Tensor> inputs, outputs;  // `outputs` specifies only dtypes and sizes.
  std::vector<tenon_sdk::testing::Numbers> expected;
};

const std::vector<Example>& examples();

// Returns an example for an elementwise entry of the plugin's kernel table. Its operands are ones,
// of float32 if the entry supports it.
Example elementwise_example(const tenon_kernel& line);
// Whether a kernel entry is elementwise: it may be an instruction of a loop and is not a reduction.
bool is_elementwise(const tenon_kernel& line);

}  // namespace tenon_cuda::testing
