// Finds and opens libcuda, libnvrtc and libcublasLt. None of them is linked: on a machine without a
// GPU, the plugin can be loaded and reports what is missing. docs/cuda.md lists where they are
// searched.

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

// Returns an environment variable; NULL in a process with elevated privileges (secure_getenv).
const char* trusted_environment_variable(const char* name);

// Opens the file that the environment variable TENON_CUDA_DRIVER names, or the system's libcuda. If
// that fails, returns false, with the reason in `why`.
bool open_driver(DriverFunctions& functions, std::string& why);

// Opens the file that the environment variable TENON_CUDA_NVRTC names, or the first file of
// candidates_for_nvrtc() that can be opened. If that fails, returns false, with the reason in
// `why`.
bool open_nvrtc(NvrtcFunctions& functions, std::string& why);

// Returns file names for dlopen() in the order in which they are tried: those of the system, of a
// toolkit, and of wheels in Python environments. Includes a path only if the file exists.
std::vector<std::string> candidates_for_nvrtc();

// Opens the file that the environment variable TENON_CUDA_CUBLASLT names, or the first libcublasLt
// in the locations where NVRTC is searched. If there is none, or the variable is empty, returns
// kNone, and the plugin uses its own kernels. If the variable names a library that cannot be
// opened, returns kFailed.
enum class Opened { kYes, kNone, kFailed };
Opened open_cublaslt(CublasLtFunctions& functions, std::string& why);

}  // namespace tenon_cuda
