// Declares the types and functions of libcublasLt that the plugin uses, like cuda_abi.h for
// libcuda.

#pragma once

#include "plugins/cuda/driver/cuda_abi.h"

namespace tenon_cuda {

using cublasStatus = int;
using cublasLtHandle = struct cublasLtContext*;
using cublasLtLayout = struct cublasLtLayout_st*;
using cublasLtDescription = struct cublasLtDescription_st*;
using cublasLtPreference = struct cublasLtPreference_st*;

struct cublasLtAlgorithm {
  uint64_t data[8];
};
struct cublasLtChoice {
  cublasLtAlgorithm algorithm;
  size_t workspace_bytes;
  cublasStatus state;
  float waves;
  int reserved[4];
};

inline constexpr cublasStatus kCublasNotSupported = 15;

// Values of cudaDataType_t.
inline constexpr int kCublasFloat32 = 0, kCublasFloat64 = 1, kCublasFloat16 = 2,
                     kCublasBFloat16 = 14;
// Values of cublasComputeType_t. For float32, kCompute32Pedantic computes all products in float32,
// and kComputeTf32 computes them in TF32, which has fewer bits.
inline constexpr int kCompute32 = 68, kCompute32Pedantic = 69, kCompute64 = 70, kComputeTf32 = 77;
inline constexpr int kTranspose = 1;  // cublasOperation_t
inline constexpr int kDescriptionTransposeA = 3, kDescriptionTransposeB = 4;
inline constexpr int kLayoutBatchCount = 5, kLayoutBatchStride = 6;
inline constexpr int kPreferenceWorkspaceBytes = 1, kPreferenceReductionSchemes = 3,
                     kPreferenceAlignmentA = 5, kPreferenceAlignmentB = 6,
                     kPreferenceAlignmentC = 7, kPreferenceAlignmentD = 8;

// clang-format off
#define TENON_CUDA_CUBLASLT_FUNCTIONS(F)                                                          \
  F(Create, cublasLtCreate, (cublasLtHandle* handle))                                             \
  F(Destroy, cublasLtDestroy, (cublasLtHandle handle))                                            \
  F(LayoutCreate, cublasLtMatrixLayoutCreate,                                                     \
    (cublasLtLayout* layout, int type, uint64_t rows, uint64_t columns, int64_t column_stride))   \
  F(LayoutDestroy, cublasLtMatrixLayoutDestroy, (cublasLtLayout layout))                          \
  F(LayoutSet, cublasLtMatrixLayoutSetAttribute,                                                  \
    (cublasLtLayout layout, int attribute, const void* value, size_t size))                       \
  F(DescriptionCreate, cublasLtMatmulDescCreate,                                                  \
    (cublasLtDescription* description, int compute_type, int scale_type))                         \
  F(DescriptionDestroy, cublasLtMatmulDescDestroy, (cublasLtDescription description))             \
  F(DescriptionSet, cublasLtMatmulDescSetAttribute,                                               \
    (cublasLtDescription description, int attribute, const void* value, size_t size))             \
  F(PreferenceCreate, cublasLtMatmulPreferenceCreate, (cublasLtPreference* preference))           \
  F(PreferenceDestroy, cublasLtMatmulPreferenceDestroy, (cublasLtPreference preference))          \
  F(PreferenceSet, cublasLtMatmulPreferenceSetAttribute,                                          \
    (cublasLtPreference preference, int attribute, const void* value, size_t size))               \
  F(FindAlgorithm, cublasLtMatmulAlgoGetHeuristic,                                                \
    (cublasLtHandle handle, cublasLtDescription description, cublasLtLayout a, cublasLtLayout b,  \
     cublasLtLayout c, cublasLtLayout d, cublasLtPreference preference, int n_wanted,             \
     cublasLtChoice* choices, int* n_found))                                                      \
  F(Matmul, cublasLtMatmul,                                                                       \
    (cublasLtHandle handle, cublasLtDescription description, const void* alpha, const void* a,    \
     cublasLtLayout a_layout, const void* b, cublasLtLayout b_layout, const void* beta,           \
     const void* c, cublasLtLayout c_layout, void* d, cublasLtLayout d_layout,                    \
     const cublasLtAlgorithm* algorithm, void* workspace, size_t workspace_bytes,                 \
     CUstream stream))
// clang-format on

}  // namespace tenon_cuda
