// Declares the types and functions of libcuda and libnvrtc that the plugin uses, so that the build
// needs no CUDA toolkit. cuda_abi_test.cc compares the declarations with a toolkit's headers if
// these are installed. The emulated driver (testing/) implements the same lists.

#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon_cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;
using nvrtcResult = int;
using nvrtcProgram = struct nvrtcProgram_st*;

struct CUuuid {
  char bytes[16];
};

// CUDA_KERNEL_NODE_PARAMS of CUDA 12 and later.
struct CUkernelNodeParameters {
  CUfunction function;
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  void** parameters;
  void** extra;
  void* kernel;  // Used instead of `function` if that is NULL.
  CUcontext context;
};

// Result codes that the plugin handles.
inline constexpr CUresult kCudaSuccess = 0;
inline constexpr CUresult kCudaOutOfMemory = 2;
inline constexpr CUresult kCudaNoDevice = 100;
inline constexpr CUresult kCudaNotReady = 600;
inline constexpr CUresult kCudaPeerAccessAlreadyEnabled = 704;

// Attributes of devices (CU_DEVICE_ATTRIBUTE_*).
inline constexpr int kAttributeMultiprocessors = 16;
inline constexpr int kAttributeMajor = 75;
inline constexpr int kAttributeMinor = 76;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventBlockingSync = 1;
inline constexpr unsigned kEventDisableTiming = 2;

// Keys of the list in which cuLaunchKernel receives parameters and their size (CU_LAUNCH_PARAM_*).
inline void* const kParameterEnd = nullptr;
inline void* const kParameterPointer = reinterpret_cast<void*>(1);
inline void* const kParameterSize = reinterpret_cast<void*>(2);

// F(name, symbol, parameters): a function that libcuda exports as `symbol`.
// clang-format off
#define TENON_CUDA_DRIVER_FUNCTIONS(F)                                                            \
  F(Init, cuInit, (unsigned flags))                                                               \
  F(DriverGetVersion, cuDriverGetVersion, (int* version))                                         \
  F(GetErrorName, cuGetErrorName, (CUresult result, const char** name))                           \
  F(GetErrorString, cuGetErrorString, (CUresult result, const char** text))                       \
  F(DeviceGetCount, cuDeviceGetCount, (int* count))                                               \
  F(DeviceGet, cuDeviceGet, (CUdevice* device, int index))                                        \
  F(DeviceGetName, cuDeviceGetName, (char* name, int size, CUdevice device))                      \
  F(DeviceGetUuid, cuDeviceGetUuid_v2, (CUuuid* uuid, CUdevice device))                              \
  F(DeviceGetAttribute, cuDeviceGetAttribute, (int* value, int attribute, CUdevice device))       \
  F(DeviceTotalMem, cuDeviceTotalMem_v2, (size_t* bytes, CUdevice device))                        \
  F(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext* context, CUdevice device))      \
  F(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                     \
  F(CtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext context))                                     \
  F(CtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext* context))                                      \
  F(DeviceCanAccessPeer, cuDeviceCanAccessPeer, (int* can, CUdevice device, CUdevice peer))       \
  F(CtxEnablePeerAccess, cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags))                 \
  F(MemGetInfo, cuMemGetInfo_v2, (size_t* free, size_t* total))                                   \
  F(MemAlloc, cuMemAlloc_v2, (CUdeviceptr* memory, size_t size))                                  \
  F(MemFree, cuMemFree_v2, (CUdeviceptr memory))                                                  \
  F(MemHostAlloc, cuMemHostAlloc, (void** memory, size_t size, unsigned flags))                   \
  F(MemFreeHost, cuMemFreeHost, (void* memory))                                                   \
  F(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                        \
    (CUdeviceptr to, const void* from, size_t size, CUstream stream))                             \
  F(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                        \
    (void* to, CUdeviceptr from, size_t size, CUstream stream))                                   \
  F(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                                        \
    (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream))                             \
  F(MemcpyPeerAsync, cuMemcpyPeerAsync,                                                           \
    (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size, \
     CUstream stream))                                                                            \
  F(MemsetD8Async, cuMemsetD8Async,                                                               \
    (CUdeviceptr memory, unsigned char value, size_t n, CUstream stream))                         \
  F(MemsetD16Async, cuMemsetD16Async,                                                             \
    (CUdeviceptr memory, unsigned short value, size_t n, CUstream stream))                        \
  F(MemsetD32Async, cuMemsetD32Async,                                                             \
    (CUdeviceptr memory, unsigned value, size_t n, CUstream stream))                              \
  F(StreamCreate, cuStreamCreate, (CUstream* stream, unsigned flags))                             \
  F(StreamDestroy, cuStreamDestroy_v2, (CUstream stream))                                         \
  F(StreamSynchronize, cuStreamSynchronize, (CUstream stream))                                    \
  F(StreamWaitEvent, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))         \
  F(EventCreate, cuEventCreate, (CUevent* event, unsigned flags))                                 \
  F(EventDestroy, cuEventDestroy_v2, (CUevent event))                                             \
  F(EventRecord, cuEventRecord, (CUevent event, CUstream stream))                                 \
  F(EventSynchronize, cuEventSynchronize, (CUevent event))                                        \
  F(EventElapsedTime, cuEventElapsedTime, (float* ms, CUevent from, CUevent to))                  \
  F(ModuleLoadData, cuModuleLoadData, (CUmodule* module, const void* image))                      \
  F(ModuleUnload, cuModuleUnload, (CUmodule module))                                              \
  F(ModuleGetFunction, cuModuleGetFunction,                                                       \
    (CUfunction* function, CUmodule module, const char* name))                                    \
  F(LaunchKernel, cuLaunchKernel,                                                                 \
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,    \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,                  \
     void** parameters, void** extra))                                                            \
  F(GraphCreate, cuGraphCreate, (CUgraph* graph, unsigned flags))                                 \
  F(GraphDestroy, cuGraphDestroy, (CUgraph graph))                                                \
  F(GraphAddKernelNode, cuGraphAddKernelNode_v2,                                                  \
    (CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t n_dependencies,    \
     const CUkernelNodeParameters* parameters))                                                   \
  F(GraphInstantiate, cuGraphInstantiateWithFlags,                                                \
    (CUgraphExec* executable, CUgraph graph, unsigned long long flags))                           \
  F(GraphExecDestroy, cuGraphExecDestroy, (CUgraphExec executable))                               \
  F(GraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2,                              \
    (CUgraphExec executable, CUgraphNode node, const CUkernelNodeParameters* parameters))         \
  F(GraphLaunch, cuGraphLaunch, (CUgraphExec executable, CUstream stream))

// F(name, symbol, parameters) for the functions of libnvrtc, except nvrtcGetErrorString, which
// returns a string.
#define TENON_CUDA_NVRTC_FUNCTIONS(F)                                                             \
  F(Version, nvrtcVersion, (int* major, int* minor))                                              \
  F(GetNumSupportedArchs, nvrtcGetNumSupportedArchs, (int* n))                                    \
  F(GetSupportedArchs, nvrtcGetSupportedArchs, (int* architectures))                              \
  F(CreateProgram, nvrtcCreateProgram,                                                            \
    (nvrtcProgram* program, const char* source, const char* name, int n_headers,                  \
     const char* const* headers, const char* const* include_names))                               \
  F(DestroyProgram, nvrtcDestroyProgram, (nvrtcProgram* program))                                 \
  F(CompileProgram, nvrtcCompileProgram,                                                          \
    (nvrtcProgram program, int n_options, const char* const* options))                            \
  F(GetProgramLogSize, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t* size))              \
  F(GetProgramLog, nvrtcGetProgramLog, (nvrtcProgram program, char* log))                         \
  F(GetCubinSize, nvrtcGetCUBINSize, (nvrtcProgram program, size_t* size))                        \
  F(GetCubin, nvrtcGetCUBIN, (nvrtcProgram program, char* code))
// clang-format on

}  // namespace tenon_cuda
