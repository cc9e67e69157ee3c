// A small call of each kernel that is no loop over elements, with what it gives: run on the
// emulated driver by cuda_kernels_test.cc and compiled by the real NVRTC in cuda_nvrtc_test.cc.

#pragma once

#include <vector>

#include "plugins/cuda/testing/cuda_testing.h"

namespace tenon_cuda::testing {

struct Example {
  const char* name;
  uint32_t op;
  const void* attrs;
  std::vector<Tensor> inputs, outputs;  // Outputs: their dtypes and sizes.
  std::vector<tenon_sdk::testing::Numbers> expected;
};

const std::vector<Example>& examples();

// An elementwise line of the plugin's list, with operands of ones: of float32 where it has that.
Example elementwise_example(const tenon_kernel& line);
// Whether a line is one: it may be an instruction of a loop, and is no reduction.
bool is_elementwise(const tenon_kernel& line);

}  // namespace tenon_cuda::testing
