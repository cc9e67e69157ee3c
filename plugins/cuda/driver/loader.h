// Finds and opens libcuda, libnvrtc and libcublasLt. None is linked: a machine without a GPU opens
// the plugin and hears what is missing. docs/cuda.md lists where they are searched.

#pragma once

#include <string>
#include <vector>

#include "plugins/cuda/driver/cublaslt_abi.h"
#include "plugins/cuda/driver/cuda_abi.h"

namespace tenon_cuda {

struct DriverFunctions {
#define TENON_CUDA_POINTER(name, symbol, parameters) CUresult(*name) parameters = nullptr;
  TENON_CUDA_DRIVER_FUNCTIONS(TENON_CUDA_POINTER)
#undef TENON_CUDA_POINTER
};

struct NvrtcFunctions {
#define TENON_CUDA_POINTER(name, symbol, parameters) nvrtcResult(*name) parameters = nullptr;
  TENON_CUDA_NVRTC_FUNCTIONS(TENON_CUDA_POINTER)
#undef TENON_CUDA_POINTER
  const char* (*GetErrorString)(nvrtcResult result) = nullptr;
};

struct CublasLtFunctions {
#define TENON_CUDA_POINTER(name, symbol, parameters) cublasStatus(*name) parameters = nullptr;
  TENON_CUDA_CUBLASLT_FUNCTIONS(TENON_CUDA_POINTER)
#undef TENON_CUDA_POINTER
};

// A variable of the environment; NULL also in a process with more rights than its user.
const char* trusted_variable(const char* name);

// Opens TENON_CUDA_DRIVER, or the system's libcuda. False, with the reason: there is none.
bool open_driver(DriverFunctions& functions, std::string& why);

// Opens TENON_CUDA_NVRTC, or the first NVRTC that candidates_for_nvrtc() names.
bool open_nvrtc(NvrtcFunctions& functions, std::string& why);

// File names for dlopen, in the order in which they are tried: the system's, a toolkit's, those of
// wheels in Python environments. Of files only those that exist.
std::vector<std::string> candidates_for_nvrtc();

// Opens TENON_CUDA_CUBLASLT, or the first libcublasLt that is found in the same places. Without one
// the plugin's own kernels multiply; an empty variable says the same. A library that the variable
// names must be there.
enum class Opened { kYes, kNone, kFailed };
Opened open_cublaslt(CublasLtFunctions& functions, std::string& why);

}  // namespace tenon_cuda
