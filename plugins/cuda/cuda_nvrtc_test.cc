// The real NVRTC, where it is installed, compiles every kernel. The emulated driver does not load
// what it makes, so that each call ends with that error, and not with one of the compiler.

#include <filesystem>

#include "plugins/cuda/driver/loader.h"
#include "plugins/cuda/testing/examples.h"

namespace tenon_cuda::testing {
namespace {

// In the environment that ./dev setup --cuda makes, or where the plugin searches. Empty: nowhere.
std::string find_nvrtc() {
  std::error_code failure;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(TENON_NVRTC_FOLDER, failure)) {
    if (entry.path().filename().string().rfind("libnvrtc.so.", 0) == 0) return entry.path();
  }
  for (const std::string& file : candidates_for_nvrtc()) {
    if (std::filesystem::exists(file, failure)) return file;
  }
  return {};
}

class CudaNvrtc : public ::testing::TestWithParam<const char*> {
 protected:
  void expect_compiled(const Bench& bench, const Example& example) const {
    const Result result = bench.run(example.op, example.attrs, example.inputs, example.outputs);
    EXPECT_EQ(result.refusal, "");
    EXPECT_NE(result.failure.message.find("loading the compiled"), std::string::npos)
        << example.name << ", op " << example.op << ": " << result.failure.message;
  }
};

TEST_P(CudaNvrtc, CompilesEveryKernel) {
  const std::string nvrtc = find_nvrtc();
  if (nvrtc.empty()) GTEST_SKIP() << "no NVRTC: ./dev setup --cuda installs it";
  const Variable library("TENON_CUDA_NVRTC", nvrtc.c_str());
  const Variable chip("TENON_EMULATED_CUDA_CHIP", GetParam());
  const Bench bench;
  ASSERT_TRUE(bench.is_open()) << bench.failure().message;
  for (const Example& example : examples()) expect_compiled(bench, example);
  for (size_t i = 0; i < bench.plugin().n_kernels; ++i) {
    const tenon_kernel& line = bench.plugin().kernels[i];
    if (is_elementwise(line)) expect_compiled(bench, elementwise_example(line));
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, CudaNvrtc, ::testing::Values("80", "90", "100"),
                         [](const auto& chip) { return std::string("sm_") + chip.param; });

}  // namespace
}  // namespace tenon_cuda::testing
