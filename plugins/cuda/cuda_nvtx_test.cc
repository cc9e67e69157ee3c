// Tests of NVTX ranges with an emulated profiler, which NVTX_INJECTION64_PATH names.

#include <dlfcn.h>

#include <cstdlib>

#include "plugins/cuda/testing/cuda_testing.h"

namespace tenon_cuda::testing {
namespace {

using namespace tenon_sdk::testing;

class CudaNvtx : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const path = std::getenv("NVTX_INJECTION64_PATH");
    if (path == nullptr) GTEST_SKIP() << "needs NVTX_INJECTION64_PATH";
    library_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << path;
    take_ = reinterpret_cast<const char* (*)()>(dlsym(library_, "tenon_emulated_take_ranges"));
    ASSERT_NE(take_, nullptr);
  }
  void TearDown() override {
    if (library_ != nullptr) dlclose(library_);
  }
  // Returns the names of the ranges since the last call.
  std::string take_ranges() const { return take_(); }

 private:
  void* library_ = nullptr;
  const char* (*take_)() = nullptr;
};

TEST_F(CudaNvtx, LaunchIsARangeThatNamesItsKernel) {
  const Bench bench;
  take_ranges();
  bench.run(TENON_OP_add, nullptr, {f32({1, 2}), f32({3, 4})}, {f32({2}, {})});
  EXPECT_EQ(take_ranges(), "tenon: launch add\ntenon: compile add\n");
  bench.run(TENON_OP_add, nullptr, {f32({1, 2}), f32({3, 4})}, {f32({2}, {})});
  EXPECT_EQ(take_ranges(), "tenon: launch add\n");
}

TEST_F(CudaNvtx, FailedLaunchClosesItsRange) {
  const Bench bench;
  take_ranges();
  {
    const Fault fault("cuLaunchKernel:1");
    bench.run(TENON_OP_neg, nullptr, {f32({1, 2})}, {f32({2}, {})});
  }
  EXPECT_EQ(take_ranges(), "tenon: launch neg\ntenon: compile neg\n");
}

}  // namespace
}  // namespace tenon_cuda::testing
