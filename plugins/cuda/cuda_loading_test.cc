// Tests of loading errors: a library is missing, is a different library, or finds no device.

#include <chrono>

#include "plugins/cuda/testing/cuda_testing.h"

namespace tenon_cuda::testing {
namespace {

TEST(CudaLoading, MissingDriverIsUnavailableWithinFiveMilliseconds) {
  const Variable driver("TENON_CUDA_DRIVER", "/none/libcuda.so.1");
  double best_ms = 1e9;
  for (int i = 0; i < 10; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const tenon_plugin* plugin = nullptr;
    const Failure failure = query(&plugin);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    best_ms = std::min(best_ms, took.count());
    EXPECT_EQ(failure.code, TENON_UNAVAILABLE);
    EXPECT_NE(failure.message.find("cannot load the CUDA driver"), std::string::npos);
    EXPECT_NE(failure.message.find("/none/libcuda.so.1"), std::string::npos);
  }
  EXPECT_LT(best_ms, 5.0);
}

TEST(CudaLoading, ErrorForMissingNvrtcNamesThePackageToInstall) {
  const Variable nvrtc("TENON_CUDA_NVRTC", "/none/libnvrtc.so.13");
  const tenon_plugin* plugin = nullptr;
  const Failure failure = query(&plugin);
  EXPECT_EQ(failure.code, TENON_UNAVAILABLE);
  EXPECT_NE(failure.message.find("nvidia-cuda-nvrtc"), std::string::npos) << failure.message;
}

TEST(CudaLoading, DriverLibraryWithoutTheRequiredFunctionsIsUnavailable) {
  const Variable driver("TENON_CUDA_DRIVER", std::getenv("TENON_CUDA_NVRTC"));
  const tenon_plugin* plugin = nullptr;
  const Failure failure = query(&plugin);
  EXPECT_EQ(failure.code, TENON_UNAVAILABLE);
  EXPECT_NE(failure.message.find("lacks the function cuInit"), std::string::npos)
      << failure.message;
}

TEST(CudaLoading, DriverWithoutADeviceHasNoDevices) {
  const Variable devices("TENON_EMULATED_CUDA_DEVICES", "0");
  const Bench bench;
  EXPECT_EQ(bench.failure().code, TENON_NOT_FOUND);
  EXPECT_EQ(bench.failure().message,
            "cuda: device index 0 is out of range: the number of devices is 0");
}

TEST(CudaLoading, DeviceThatNvrtcDoesNotSupportIsUnavailable) {
  const Variable chip("TENON_EMULATED_CUDA_CHIP", "75");
  const Bench bench;
  EXPECT_EQ(bench.failure().code, TENON_UNAVAILABLE);
  EXPECT_NE(bench.failure().message.find("compute capability 7.5"), std::string::npos);
}

TEST(CudaLoading, UnknownOptionsAndRelativeCachePathsAreRefused) {
  const Bench unknown(Settings{{"speed", "1"}});
  EXPECT_EQ(unknown.failure().code, TENON_INVALID_ARGUMENT);
  const Bench relative(Settings{{"cache", "kernels"}});
  EXPECT_EQ(relative.failure().code, TENON_INVALID_ARGUMENT);
}

TEST(CudaLoading, DeviceIsChosenByIndexOrName) {
  const Variable devices("TENON_EMULATED_CUDA_DEVICES", "2");
  EXPECT_TRUE(Bench(Settings{{"device", "1"}, {"cache", ""}}).is_open());
  EXPECT_TRUE(Bench(Settings{{"device", "Emulated"}, {"cache", ""}}).is_open());
  EXPECT_FALSE(Bench(Settings{{"device", "RTX"}, {"cache", ""}}).is_open());
}

}  // namespace
}  // namespace tenon_cuda::testing
