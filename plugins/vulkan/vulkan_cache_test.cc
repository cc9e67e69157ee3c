// Tests that the next run passes saved pipeline cache data to the driver, unless the file is
// incomplete, corrupt or from another driver.

#include <filesystem>
#include <fstream>
#include <iterator>

#include "plugins/vulkan/driver/cache_file.h"
#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {
namespace {

using Data = std::vector<std::byte>;

Data data_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return Data(bytes.begin(), bytes.end());
}

void put(const std::filesystem::path& file, std::span<const std::byte> data) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry);
  return files;
}

// ---- the file

constexpr CacheKey kKey = {1, 2, 3, 4, 5, 6, 7, 8};

// Returns 29 bytes, which is not a multiple of the 8-byte words of the checksum.
Data some_data() {
  Data data(29);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(3 * i);
  return data;
}

TEST(VulkanCacheFile, ReadReturnsTheWrittenData) {
  const Folder folder("cache");
  const std::string path = folder.path() / "below" / "one";
  write_cache(path, kKey, some_data());
  EXPECT_EQ(read_cache(path, kKey), some_data());
  write_cache(path, kKey, Data(5, std::byte{7}));
  EXPECT_EQ(read_cache(path, kKey), Data(5, std::byte{7}));
  EXPECT_EQ(files_in(folder.path() / "below").size(), 1u);
}

TEST(VulkanCacheFile, ReadOfAMissingFileReturnsNoData) {
  const Folder folder("cache");
  EXPECT_EQ(read_cache("", kKey), Data{});
  EXPECT_EQ(read_cache(folder.path() / "one", kKey), Data{});
  EXPECT_EQ(read_cache(folder.path(), kKey), Data{});
}

TEST(VulkanCacheFile, FileWithADifferentKeyIsNotRead) {
  const Folder folder("cache");
  const std::string path = folder.path() / "one";
  write_cache(path, kKey, some_data());
  for (size_t i = 0; i < kKey.size(); ++i) {
    CacheKey other = kKey;
    ++other[i];
    EXPECT_EQ(read_cache(path, other), Data{}) << i;
  }
  EXPECT_EQ(read_cache(path, kKey), some_data());
}

TEST(VulkanCacheFile, FileWithACorruptByteIsNotRead) {
  const Folder folder("cache");
  const std::string path = folder.path() / "one";
  write_cache(path, kKey, some_data());
  const Data whole = data_of(path);
  ASSERT_GT(whole.size(), some_data().size());
  for (size_t i = 0; i < whole.size(); ++i) {
    Data spoiled = whole;
    spoiled[i] ^= std::byte{0xff};
    put(path, spoiled);
    EXPECT_EQ(read_cache(path, kKey), Data{}) << i;
  }
  put(path, whole);
  EXPECT_EQ(read_cache(path, kKey), some_data());
}

TEST(VulkanCacheFile, FileOfWrongLengthIsNotRead) {
  const Folder folder("cache");
  const std::string path = folder.path() / "one";
  write_cache(path, kKey, some_data());
  Data whole = data_of(path);
  for (size_t n = 0; n < whole.size(); ++n) {
    put(path, std::span(whole).first(n));
    EXPECT_EQ(read_cache(path, kKey), Data{}) << n;
  }
  whole.push_back(std::byte{0});
  put(path, whole);
  EXPECT_EQ(read_cache(path, kKey), Data{});
}

// ---- runs

// `given`: the cache data that the driver returned. `handed`: the initial data that the driver
// received in each run.
Data given;
std::vector<Data> handed;
bool refuses_data;
PFN_vkGetPipelineCacheData give_of_driver = nullptr;
PFN_vkCreatePipelineCache create_of_driver = nullptr;

VKAPI_ATTR VkResult VKAPI_CALL give(VkDevice device, VkPipelineCache cache, size_t* size,
                                    void* data) {
  const VkResult result = give_of_driver(device, cache, size, data);
  const auto* const bytes = static_cast<const std::byte*>(data);
  if (bytes != nullptr) given.assign(bytes, bytes + *size);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice device, const VkPipelineCacheCreateInfo* info,
                                      const VkAllocationCallbacks* allocation,
                                      VkPipelineCache* made) {
  const auto* const bytes = static_cast<const std::byte*>(info->pInitialData);
  handed.emplace_back(bytes, bytes + info->initialDataSize);
  if (refuses_data && info->initialDataSize > 0) return VK_ERROR_INITIALIZATION_FAILED;
  return create_of_driver(device, info, allocation, made);
}

Settings keeping_in(const std::filesystem::path& folder) { return {{"cache", folder.string()}}; }

void make_one_pipeline(const std::filesystem::path& cache) {
  const TestDevice bench(keeping_in(cache));
  ASSERT_TRUE(bench.is_open());
  give_of_driver = std::exchange(functions_of(bench).GetPipelineCacheData, give);
  PipelineRef pipeline;
  EXPECT_SUCCESS(make_pipeline(bench.device(), add_shader(), 3, &pipeline));
  EXPECT_SUCCESS(from_c(bench.device()).pipelines().compiler().require(*pipeline));
}

// Returns the initial data that the driver receives if a run opens this device's cache file.
std::vector<Data> initial_data_of_a_run(const TestDevice& bench) {
  handed.clear();
  create_of_driver = std::exchange(functions_of(bench).CreatePipelineCache, create);
  Pipelines(from_c(bench.device()).driver()).open();
  functions_of(bench).CreatePipelineCache = create_of_driver;
  return handed;
}

class VulkanCache : public ExpectsNoReportsTest {
 protected:
  void SetUp() override {
    ExpectsNoReportsTest::SetUp();
    given.clear();
    refuses_data = false;
    const TestDevice bench(keeping_in(folder()));
    if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
    const Driver& driver = from_c(bench.device()).driver();
    key_ = cache_key(driver);
    file_ = cache_path(driver);
  }
  const std::filesystem::path& folder() const { return folder_.path(); }
  const CacheKey& key() const { return key_; }
  const std::string& file() const { return file_; }
  Data read() const { return read_cache(file_, key_); }

 private:
  const Folder folder_{"cache"};
  CacheKey key_ = {};
  std::string file_;
};

TEST_F(VulkanCache, PipelinesAreSavedInOneFileWhichIsReplacedIfIncomplete) {
  make_one_pipeline(folder() / "new");
  ASSERT_EQ(files_in(folder() / "new").size(), 1u);
  const auto file = files_in(folder() / "new")[0];
  const uintmax_t size = std::filesystem::file_size(file);
  EXPECT_GT(size, 64u);
  make_one_pipeline(folder() / "new");
  for (const uintmax_t torn : {size - 1, uintmax_t{20}, uintmax_t{0}}) {
    std::filesystem::resize_file(file, torn);
    make_one_pipeline(folder() / "new");
    // Compares the contents, because some drivers return data of a different size in each run.
    EXPECT_EQ(read_cache(file, key()), given);
  }
  std::fstream spoiled(file, std::ios::in | std::ios::out | std::ios::binary);
  spoiled.seekp(-1, std::ios::end);
  spoiled.put('!');
  spoiled.close();
  ASSERT_EQ(read_cache(file, key()), Data{});
  make_one_pipeline(folder() / "new");
  EXPECT_EQ(files_in(folder() / "new").size(), 1u);
  EXPECT_EQ(read_cache(file, key()), given);
}

TEST_F(VulkanCache, PassesSavedDataToTheNextRun) {
  make_one_pipeline(folder());
  ASSERT_FALSE(given.empty());
  EXPECT_EQ(files_in(folder()), (std::vector<std::filesystem::path>{file()}));
  EXPECT_EQ(read(), given);
  const TestDevice next(keeping_in(folder()));
  ASSERT_TRUE(next.is_open());
  EXPECT_EQ(initial_data_of_a_run(next), std::vector<Data>{given});
}

// The driver is identified by both the file's name and its header.
TEST_F(VulkanCache, DataThatIsCorruptOrOfAnotherDriverIsNotPassedToTheDriver) {
  make_one_pipeline(folder());
  const Data whole = data_of(file()), kept = read();
  ASSERT_FALSE(kept.empty());
  const TestDevice next(keeping_in(folder()));
  ASSERT_TRUE(next.is_open());
  const std::vector<Data> nothing = {Data{}};
  for (size_t i = 0; i < key().size(); ++i) {  // The device, the driver, its version.
    CacheKey other = key();
    ++other[i];
    write_cache(file(), other, kept);
    EXPECT_EQ(initial_data_of_a_run(next), nothing) << i;
  }
  Data spoiled = whole;
  spoiled.back() ^= std::byte{1};
  put(file(), spoiled);
  EXPECT_EQ(initial_data_of_a_run(next), nothing);
  put(file(), std::span(whole).first(whole.size() - 1));
  EXPECT_EQ(initial_data_of_a_run(next), nothing);
  std::filesystem::remove(file());
  EXPECT_EQ(initial_data_of_a_run(next), nothing);
  put(file(), whole);
  EXPECT_EQ(initial_data_of_a_run(next), std::vector<Data>{kept});
}

TEST_F(VulkanCache, StartsEmptyIfTheDriverRejectsSavedData) {
  make_one_pipeline(folder());
  const Data kept = read();
  ASSERT_FALSE(kept.empty());
  const TestDevice next(keeping_in(folder()));
  ASSERT_TRUE(next.is_open());
  refuses_data = true;
  EXPECT_EQ(initial_data_of_a_run(next), (std::vector<Data>{kept, Data{}}));
}

TEST_F(VulkanCache, IgnoresAnUnwritableFolder) { make_one_pipeline("/proc/nowhere"); }

}  // namespace
}  // namespace tenon_vulkan::testing
