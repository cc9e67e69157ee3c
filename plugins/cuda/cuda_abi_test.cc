// Compares the declarations of driver/cuda_abi.h with a toolkit's headers, where the build found
// them: the sizes and kinds of all parameters and results, and the constants.

#include <gtest/gtest.h>

#if defined(TENON_HAS_CUDA_HEADERS)
#include <cuda.h>
#include <nvrtc.h>
#endif

#include <type_traits>

#include "plugins/cuda/driver/cuda_abi.h"

namespace tenon_cuda::testing {
namespace {

#if defined(TENON_HAS_CUDA_HEADERS)

template <class T>
constexpr bool is_number = std::is_integral_v<T> || std::is_enum_v<T>;

// Whether a caller that passes an `Ours` passes what a callee that takes a `Theirs` reads. Handles
// are pointers to types that have other names here.
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
