// Tests of the disk cache of compiled kernels.

#include <filesystem>
#include <fstream>

#include "plugins/cuda/driver/cache.h"
#include "plugins/cuda/testing/cuda_testing.h"

namespace tenon_cuda::testing {
namespace {

namespace fs = std::filesystem;
using namespace tenon_sdk::testing;

class CudaCache : public ::testing::Test {
 protected:
  CudaCache() {
    std::string folder = (fs::temp_directory_path() / "tenon_cuda_cache_XXXXXX").string();
    folder_ = mkdtemp(folder.data());
  }
  ~CudaCache() override {
    std::error_code failure;
    fs::remove_all(folder_, failure);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path());
    return found;
  }
  Result add() const {
    const Bench bench(Settings{{"cache", folder_}});
    return bench.run(TENON_OP_add, nullptr, {f32({1}), f32({2})}, {f32({1}, {})});
  }
  std::string folder_;
};

TEST_F(CudaCache, SecondDeviceLoadsKernelsFromTheCache) {
  EXPECT_EQ(add().failure.message, "");
  EXPECT_EQ(files().size(), 1u);
  const Fault fault("nvrtcCompileProgram:1+");
  const Result again = add();
  EXPECT_EQ(again.failure.message, "");
  EXPECT_EQ(again[0].numbers(), (Numbers{3}));
}

TEST_F(CudaCache, IncompleteFileIsRecompiledAndReplaced) {
  EXPECT_EQ(add().failure.message, "");
  ASSERT_EQ(files().size(), 1u);
  const fs::path file = files()[0];
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_EQ(add().failure.message, "");
  const Fault fault("nvrtcCompileProgram:1+");
  EXPECT_EQ(add().failure.message, "");  // The previous call replaced the file by a valid one.
}

TEST_F(CudaCache, FileWithAWrongChecksumIsRecompiled) {
  EXPECT_EQ(add().failure.message, "");
  ASSERT_EQ(files().size(), 1u);
  {
    std::fstream file(files()[0], std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-8, std::ios::end);
    file << "rubbish!";
  }
  EXPECT_EQ(add().failure.message, "");
}

TEST_F(CudaCache, FileWithADifferentKeyIsNotRead) {
  const Cache cache(folder_);
  cache.write("sm_90 source", "code");
  EXPECT_EQ(cache.read("sm_90 source"), "code");
  EXPECT_EQ(cache.read("sm_80 source"), "");
}

TEST_F(CudaCache, UnwritableFolderIsIgnored) {
  const Bench bench(Settings{{"cache", "/proc/none"}});
  const Result result = bench.run(TENON_OP_add, nullptr, {f32({1}), f32({2})}, {f32({1}, {})});
  EXPECT_EQ(result.failure.message, "");
}

}  // namespace
}  // namespace tenon_cuda::testing
