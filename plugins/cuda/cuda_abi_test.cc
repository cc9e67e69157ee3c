// Compares the declarations of driver/cuda_abi.h with the headers of a CUDA toolkit, if the build
// found them: sizes and kinds of all parameters and results, and constants.

#include <gtest/gtest.h>

#if defined(TENON_HAS_CUDA_HEADERS)
#include <cuda.h>
#include <nvrtc.h>
// The wheel nvidia-nvtx has this header.
#if __has_include(<nvtx3/nvToolsExt.h>)
#define TENON_HAS_NVTX_HEADER 1
#include <nvtx3/nvToolsExt.h>
#endif
// cublasLt.h includes headers of the CUDA runtime, which other wheels contain.
#if __has_include(<cublasLt.h>) && __has_include(<crt/host_defines.h>) && __has_include(<nv/target>)
#define TENON_HAS_CUBLASLT_HEADER 1
#include <cublasLt.h>
#endif
#endif

#include <type_traits>

#include "plugins/cuda/driver/cublaslt_abi.h"
#include "plugins/cuda/driver/cuda_abi.h"
#include "plugins/cuda/driver/nvtx.h"

namespace tenon_cuda::testing {
namespace {

#if defined(TENON_HAS_CUDA_HEADERS)

template <class T>
constexpr bool is_number = std::is_integral_v<T> || std::is_enum_v<T>;

// Whether arguments of types `Ours` and `Theirs` are passed in the same way. Handles are pointers
// to types with different names.
template <class Ours, class Theirs>
constexpr bool agrees() {
  if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    using To = std::remove_pointer_t<Ours>;
    using From = std::remove_pointer_t<Theirs>;
    if constexpr (std::is_class_v<To> || std::is_class_v<From>) {
      return std::is_class_v<To> && std::is_class_v<From>;
    } else if constexpr (std::is_void_v<To> || std::is_void_v<From>) {
      return std::is_void_v<To> && std::is_void_v<From>;
    } else {
      return std::is_const_v<To> == std::is_const_v<From> &&
             agrees<std::remove_cv_t<To>, std::remove_cv_t<From>>();
    }
  } else if constexpr (is_number<Ours> && is_number<Theirs>) {
    return sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs) &&
           (std::is_enum_v<Theirs> || std::is_signed_v<Ours> == std::is_signed_v<Theirs>);
  } else {
    return std::is_same_v<Ours, Theirs>;
  }
}

template <class Ours, class Theirs>
struct Functions : std::false_type {};
template <class R, class... A, class S, class... B>
requires(sizeof...(A) == sizeof...(B)) struct Functions<R (*)(A...), S (*)(B...)>
    : std::bool_constant<agrees<R, S>() && (agrees<A, B>() && ...)> {
};

TEST(CudaAbi, DriverFunctionsAgreeWithTheHeaders) {
#define TENON_CUDA_COMPARE(name, symbol, parameters) \
  EXPECT_TRUE((Functions<CUresult(*) parameters, decltype(&::symbol)>::value)) << #symbol;
  TENON_CUDA_DRIVER_FUNCTIONS(TENON_CUDA_COMPARE)
#undef TENON_CUDA_COMPARE
}

TEST(CudaAbi, NvrtcFunctionsAgreeWithTheHeaders) {
#define TENON_CUDA_COMPARE(name, symbol, parameters) \
  EXPECT_TRUE((Functions<nvrtcResult(*) parameters, decltype(&::symbol)>::value)) << #symbol;
  TENON_CUDA_NVRTC_FUNCTIONS(TENON_CUDA_COMPARE)
#undef TENON_CUDA_COMPARE
}

#if defined(TENON_HAS_CUBLASLT_HEADER)

TEST(CudaAbi, CublasLtAgreesWithItsHeader) {
#define TENON_CUDA_COMPARE(name, symbol, parameters) \
  EXPECT_TRUE((Functions<cublasStatus(*) parameters, decltype(&::symbol)>::value)) << #symbol;
  TENON_CUDA_CUBLASLT_FUNCTIONS(TENON_CUDA_COMPARE)
#undef TENON_CUDA_COMPARE
  static_assert(sizeof(cublasLtAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
  static_assert(sizeof(cublasLtChoice) == sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(offsetof(cublasLtChoice, workspace_bytes),
            offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
  EXPECT_EQ(offsetof(cublasLtChoice, state), offsetof(cublasLtMatmulHeuristicResult_t, state));
  const auto same = [](int ours, int theirs) { EXPECT_EQ(ours, theirs); };
  same(kCublasNotSupported, CUBLAS_STATUS_NOT_SUPPORTED);
  same(kCublasFloat32, CUDA_R_32F);
  same(kCublasFloat64, CUDA_R_64F);
  same(kCublasFloat16, CUDA_R_16F);
  same(kCublasBFloat16, CUDA_R_16BF);
  same(kCompute32, CUBLAS_COMPUTE_32F);
  same(kCompute32Pedantic, CUBLAS_COMPUTE_32F_PEDANTIC);
  same(kCompute64, CUBLAS_COMPUTE_64F);
  same(kComputeTf32, CUBLAS_COMPUTE_32F_FAST_TF32);
  same(kTranspose, CUBLAS_OP_T);
  same(kDescriptionTransposeA, CUBLASLT_MATMUL_DESC_TRANSA);
  same(kDescriptionTransposeB, CUBLASLT_MATMUL_DESC_TRANSB);
  same(kLayoutBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  same(kLayoutBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  same(kPreferenceWorkspaceBytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  same(kPreferenceReductionSchemes, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
  same(kPreferenceAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
  same(kPreferenceAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
  same(kPreferenceAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
  same(kPreferenceAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
}

#else

TEST(CudaAbi, CublasLtAgreesWithItsHeader) {
  GTEST_SKIP() << "no cublasLt.h when the build was configured: the wheels nvidia-cublas, "
                  "nvidia-cuda-crt and nvidia-cuda-cccl have it and what it includes";
}

#endif

#if defined(TENON_HAS_NVTX_HEADER)

TEST(CudaAbi, NvtxAgreesWithItsHeader) {
  static_assert(sizeof(NvtxCallbackTable) == sizeof(NvtxExportTableCallbacks));
  static_assert(sizeof(NvtxVersionTable) == sizeof(NvtxExportTableVersionInfo));
  EXPECT_EQ(offsetof(NvtxCallbackTable, get_module),
            offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
  EXPECT_EQ(offsetof(NvtxVersionTable, version), offsetof(NvtxExportTableVersionInfo, version));
  EXPECT_EQ(offsetof(NvtxVersionTable, set_profiler_version),
            offsetof(NvtxExportTableVersionInfo, SetInjectionNvtxVersion));
  EXPECT_TRUE((Functions<NvtxGetTable, NvtxGetExportTableFunc_t>::value));
  EXPECT_TRUE((Functions<decltype(NvtxCallbackTable::get_module),
                         decltype(NvtxExportTableCallbacks::GetModuleFunctionTable)>::value));
  EXPECT_EQ(kNvtxVersion, static_cast<uint32_t>(NVTX_VERSION));
  EXPECT_EQ(kNvtxTableCallbacks, static_cast<uint32_t>(NVTX_ETID_CALLBACKS));
  EXPECT_EQ(kNvtxTableVersion, static_cast<uint32_t>(NVTX_ETID_VERSIONINFO));
  EXPECT_EQ(kNvtxModuleCore, static_cast<int>(NVTX_CB_MODULE_CORE));
  EXPECT_EQ(kNvtxRangePush, static_cast<unsigned>(NVTX_CBID_CORE_RangePushA));
  EXPECT_EQ(kNvtxRangePop, static_cast<unsigned>(NVTX_CBID_CORE_RangePop));
  EXPECT_EQ(kNvtxCoreFunctions, static_cast<unsigned>(NVTX_CBID_CORE_SIZE));
}

#else

TEST(CudaAbi, NvtxAgreesWithItsHeader) {
  GTEST_SKIP()
      << "no nvtx3/nvToolsExt.h when the build was configured: the wheel nvidia-nvtx has it";
}

#endif

TEST(CudaAbi, KernelNodeParametersAgreeWithTheHeaders) {
  using Theirs = CUDA_KERNEL_NODE_PARAMS;
  static_assert(sizeof(CUkernelNodeParameters) == sizeof(Theirs));
  EXPECT_EQ(offsetof(CUkernelNodeParameters, function), offsetof(Theirs, func));
  EXPECT_EQ(offsetof(CUkernelNodeParameters, grid_x), offsetof(Theirs, gridDimX));
  EXPECT_EQ(offsetof(CUkernelNodeParameters, block_x), offsetof(Theirs, blockDimX));
  EXPECT_EQ(offsetof(CUkernelNodeParameters, shared_bytes), offsetof(Theirs, sharedMemBytes));
  EXPECT_EQ(offsetof(CUkernelNodeParameters, parameters), offsetof(Theirs, kernelParams));
  EXPECT_EQ(offsetof(CUkernelNodeParameters, extra), offsetof(Theirs, extra));
  EXPECT_EQ(offsetof(CUkernelNodeParameters, kernel), offsetof(Theirs, kern));
  EXPECT_EQ(offsetof(CUkernelNodeParameters, context), offsetof(Theirs, ctx));
}

TEST(CudaAbi, ConstantsAgreeWithTheHeaders) {
  static_assert(sizeof(CUuuid) == sizeof(::CUuuid));
  EXPECT_EQ(kCudaSuccess, CUDA_SUCCESS);
  EXPECT_EQ(kCudaOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(kCudaNoDevice, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(kCudaNotReady, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(kAttributeMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(kAttributeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(kAttributeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(kStreamNonBlocking, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(kEventBlockingSync, static_cast<unsigned>(CU_EVENT_BLOCKING_SYNC));
  EXPECT_EQ(kEventDisableTiming, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING));
  EXPECT_EQ(kParameterEnd, CU_LAUNCH_PARAM_END);
  EXPECT_EQ(kParameterPointer, CU_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(kParameterSize, CU_LAUNCH_PARAM_BUFFER_SIZE);
}

#else

TEST(CudaAbi, AgreesWithTheHeaders) {
  GTEST_SKIP() << "no cuda.h and nvrtc.h when the build was configured: ./dev setup --cuda "
                  "installs them";
}

#endif

}  // namespace
}  // namespace tenon_cuda::testing
