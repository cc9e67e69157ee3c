// Compiles every kernel with the real NVRTC, where it is installed, and also every source that
// earlier tests left in the cache of the emulated NVRTC. The emulated driver cannot load the
// compiled code, so each call must fail with that error, not with a compiler error.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "plugins/cuda/driver/loader.h"
#include "plugins/cuda/encoder.h"
#include "plugins/cuda/testing/examples.h"

namespace tenon_cuda::testing {
namespace {

// Returns the path of NVRTC in the Python environment of `./dev setup --cuda`, or where the plugin
// finds it. Empty if NVRTC is not installed.
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

// Returns the paths of the sources in the cache of the emulated NVRTC, sorted by name.
std::vector<std::filesystem::path> cached_sources() {
  std::vector<std::filesystem::path> files;
  const char* const folder = std::getenv("TENON_EMULATED_CUDA_CACHE");
  if (folder == nullptr) return files;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string read(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class CudaNvrtc : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    nvrtc_ = find_nvrtc();
    if (nvrtc_.empty()) GTEST_SKIP() << "no NVRTC: ./dev setup --cuda installs it";
  }
  void expect_compiled(const Bench& bench, const Example& example) const {
    const Result result = bench.run(example.op, example.attrs, example.inputs, example.outputs);
    EXPECT_EQ(result.refusal, "");
    EXPECT_NE(result.failure.message.find("loading the compiled"), std::string::npos)
        << example.name << ", op " << example.op << ": " << result.failure.message;
  }
  std::string nvrtc_;
};

TEST_P(CudaNvrtc, CompilesEveryKernel) {
  const Variable library("TENON_CUDA_NVRTC", nvrtc_.c_str());
  const Variable chip("TENON_EMULATED_CUDA_CHIP", GetParam());
  const Bench bench;
  ASSERT_TRUE(bench.is_open()) << bench.failure().message;
  for (const Example& example : examples()) expect_compiled(bench, example);
  for (size_t i = 0; i < bench.plugin().n_kernels; ++i) {
    const tenon_kernel& line = bench.plugin().kernels[i];
    if (is_elementwise(line)) expect_compiled(bench, elementwise_example(line));
  }
}

// If TENON_NVRTC_STRIDE is set, to 10 for example, compiles only every tenth source.
TEST_P(CudaNvrtc, CompilesEverySourceOfEarlierTests) {
  const std::vector<std::filesystem::path> files = cached_sources();
  if (files.empty()) GTEST_SKIP() << "no test has left sources in TENON_EMULATED_CUDA_CACHE";
  const char* const text = std::getenv("TENON_NVRTC_STRIDE");
  const size_t stride = std::max(1, text != nullptr ? std::atoi(text) : 1);
  const Variable library("TENON_CUDA_NVRTC", nvrtc_.c_str());
  const Variable chip("TENON_EMULATED_CUDA_CHIP", GetParam());
  const Bench bench;
  ASSERT_TRUE(bench.is_open()) << bench.failure().message;
  size_t n_compiled = 0;
  for (size_t i = 0; i < files.size(); i += stride, ++n_compiled) {
    const Failure failure =
        take(make_functions(bench.device(), "source", read(files[i]), {}, nullptr));
    EXPECT_NE(failure.message.find("loading the compiled"), std::string::npos)
        << files[i] << ": " << failure.message;
  }
  std::cout << n_compiled << " of " << files.size() << " sources compiled\n";
}

INSTANTIATE_TEST_SUITE_P(Chips, CudaNvrtc, ::testing::Values("80", "90", "100"),
                         [](const auto& chip) { return std::string("sm_") + chip.param; });

}  // namespace
}  // namespace tenon_cuda::testing
