// Launches of kernels in the emulated driver.

#pragma once

#include <cstdint>
#include <vector>

#include "plugins/cuda/testing/emulated_abi.h"
#include "plugins/cuda/testing/emulated_driver.h"

namespace tenon_emulated {

struct Function;

struct Launch {
  Function* function;
  TenonIndex grid, block;
  std::vector<uint64_t> parameters;
};

// Stores the launch that the arguments of cuLaunchKernel or a graph node describe, or returns an
// error.
CUresult make_launch(const tenon_cuda::CUkernelNodeParameters& given, Launch& launch);

// Runs the blocks of a launch one after another, until a block reports an error.
void run_launch(const Launch& launch);

}  // namespace tenon_emulated
