// Tests of instances, devices and memory: selection of devices by options, and error messages if no
// device matches. The tests run on the drivers in VK_DRIVER_FILES.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/spirv/code.h"
#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {
namespace {

bool says(const Failure& failure, const std::string& words) {
  return failure.message.find(words) != std::string::npos;
}

// Sets an environment variable while a test runs.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// Restricts the loader to these drivers by environment variables. Loaders before 1.3.207 use the
// older variable.
class Drivers {
 public:
  explicit Drivers(const std::string& files)
      : files_("VK_DRIVER_FILES", files), icds_("VK_ICD_FILENAMES", files) {}

 private:
  const Environment files_, icds_;
};

// Provides a driver whose only device, the discrete GPU "Broken Board", cannot be opened.
class FailingDriver {
 public:
  FailingDriver() : folder_("icd") {
    std::ofstream(file()) << R"({"file_format_version": "1.0.0", "ICD": {"library_path": ")"
                          << TENON_FAILING_ICD << R"(", "api_version": "1.1.0"}})";
  }
  std::string file() const { return (folder_.path() / "failing.json").string(); }

 private:
  Folder folder_;
};

// Returns the path of the first of these driver manifests that exists, or an empty string.
std::string installed(std::initializer_list<const char*> files) {
  for (const char* const file : files) {
    if (std::filesystem::exists(file)) return file;
  }
  return {};
}

// Returns the names of the devices that options select, or the error message.
std::vector<std::string> chosen(const Settings& settings) {
  tenon_instance_p* instance = nullptr;
  const Failure created = take(TestDevice::create(settings, &instance));
  if (instance == nullptr) return {created.message};
  std::vector<std::string> names;
  size_t n = 0;
  EXPECT_SUCCESS(TestDevice::calls().count_devices(instance, &n));
  for (size_t i = 0; i < n; ++i) {
    tenon_device_p* device = nullptr;
    const Failure opened = take(TestDevice::calls().open_device(instance, i, &device));
    names.push_back(opened.message);
    if (device == nullptr) continue;
    tenon_device_properties properties = {};
    properties.struct_size = sizeof properties;
    EXPECT_SUCCESS(TestDevice::calls().describe_device(device, &properties));
    names.back() = properties.description.data;
    TestDevice::calls().close_device(device);
  }
  TestDevice::calls().destroy(instance);
  return names;
}
using Names = std::vector<std::string>;

std::string uuid_of(const TestDevice& bench) {
  std::string uuid;
  for (const uint8_t byte : bench.properties().uuid) {
    char text[3];
    std::snprintf(text, sizeof text, "%02X", byte);
    uuid += text;
  }
  return uuid;
}

// Returns the device type as option `device` names it, or an empty string for other types.
std::string type_of(const TestDevice& bench) {
  switch (from_c(bench.device()).driver().physical().properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return "discrete";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return "integrated";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return "virtual";
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return "cpu";
    default:
      return "";
  }
}

const Settings kNoCache = {{"cache", ""}};

#define NEED_A_DEVICE(bench) \
  if (!(bench).is_open()) GTEST_SKIP() << (bench).failure().message

// ---- options

TEST(VulkanInstance, RejectsUnknownOptions) {
  const Failure failure = TestDevice::try_create(Settings{{"colour", "blue"}});
  EXPECT_EQ(failure.code, TENON_INVALID_ARGUMENT);
  EXPECT_TRUE(says(failure, "there is no option 'colour'")) << failure.message;
  EXPECT_TRUE(says(failure, "device, gpu_ways, loader")) << failure.message;
}

TEST(VulkanInstance, RejectsABooleanOptionThatIsNeither0Nor1) {
  const Failure failure = TestDevice::try_create(Settings{{"visible", "perhaps"}});
  EXPECT_EQ(failure.code, TENON_INVALID_ARGUMENT);
  EXPECT_TRUE(says(failure, "'perhaps', but must be 0 or 1")) << failure.message;
}

TEST(VulkanInstance, RejectsARelativeCachePath) {
  EXPECT_EQ(TestDevice::try_create(Settings{{"cache", "here"}}).code, TENON_INVALID_ARGUMENT);
}

TEST(VulkanInstance, IsUnavailableWithoutALoader) {
  const Failure failure = TestDevice::try_create(Settings{{"loader", "/nonexistent"}});
  EXPECT_EQ(failure.code, TENON_UNAVAILABLE);
  EXPECT_TRUE(says(failure, "cannot load the Vulkan loader")) << failure.message;
}

TEST(VulkanInstance, IsUnavailableIfTheLoaderFileIsNotAVulkanLoader) {
  const Failure failure = TestDevice::try_create(Settings{{"loader", "libm.so.6"}});
  EXPECT_EQ(failure.code, TENON_UNAVAILABLE);
  EXPECT_TRUE(says(failure, "libm.so.6 is not a Vulkan loader")) << failure.message;
}

TEST(VulkanInstance, IsUnavailableWithoutADriver) {
  const Drivers none("/nonexistent.json");
  const Failure failure = TestDevice::try_create({});
  EXPECT_EQ(failure.code, TENON_UNAVAILABLE);
  EXPECT_TRUE(says(failure, "no driver")) << failure.message;
}

TEST(VulkanInstance, ErrorForNoMatchingDeviceListsTheDevices) {
  const TestDevice bench(Settings{});
  NEED_A_DEVICE(bench);
  const Failure failure = TestDevice::try_create(Settings{{"device", "abacus"}});
  EXPECT_EQ(failure.code, TENON_INVALID_ARGUMENT);
  EXPECT_TRUE(says(failure, "no device matches 'abacus'; the devices are ")) << failure.message;
  EXPECT_TRUE(says(failure, bench.properties().description.data)) << failure.message;
}

TEST(VulkanInstance, SelectsADeviceByIndexUuidTypeOrPartOfItsName) {
  const TestDevice bench(Settings{});
  NEED_A_DEVICE(bench);
  const tenon_device_properties properties = bench.properties();
  std::string name(properties.description.data, 5);
  for (char& c : name) c = static_cast<char>(std::toupper(c));
  for (const std::string& meant : {std::string("0"), uuid_of(bench), name, type_of(bench)}) {
    const TestDevice named(Settings{{"device", meant}});
    ASSERT_TRUE(named.is_open()) << meant << ": " << named.failure().message;
    EXPECT_EQ(std::string(named.properties().description.data), properties.description.data);
  }
  EXPECT_EQ(TestDevice::try_create(Settings{{"device", "99"}}).code, TENON_INVALID_ARGUMENT);
}

// The driver of the discrete device is listed last, but its device must come before those of the
// tested driver. Opening the discrete device fails.
TEST(VulkanInstance, OrdersDevicesByType) {
  const char* const tested = std::getenv("VK_DRIVER_FILES");
  if (tested == nullptr) GTEST_SKIP() << "VK_DRIVER_FILES names no driver to which one is added";
  const TestDevice bench(Settings{});
  NEED_A_DEVICE(bench);
  if (type_of(bench) != "cpu") GTEST_SKIP() << "the device is no software, but " << type_of(bench);
  const Names software = chosen({}),
              discrete = {"vulkan: Broken Board cannot be opened: VK_ERROR_INITIALIZATION_FAILED"};
  Names all = discrete;
  all.insert(all.end(), software.begin(), software.end());
  const FailingDriver failing;
  const Drivers both(tested + (":" + failing.file()));
  EXPECT_EQ(chosen({}), all);
  EXPECT_EQ(chosen({{"device", "discrete"}}), discrete);
  EXPECT_EQ(chosen({{"device", "0"}}), discrete);
  EXPECT_EQ(chosen({{"device", "broken b"}}), discrete);
  EXPECT_EQ(chosen({{"device", "CPU"}}), software);
  EXPECT_EQ(chosen({{"device", "1"}}), (Names{software[0]}));
  const Failure failure = TestDevice::try_create({{"device", "integrated"}});
  EXPECT_EQ(failure.code, TENON_INVALID_ARGUMENT);
  EXPECT_TRUE(says(failure, "the devices are Broken Board, " + software[0])) << failure.message;
}

TEST(VulkanInstance, ListsTheDevicesOfAllDrivers) {
  const std::string lavapipe = installed({"/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
                                          "/usr/share/vulkan/icd.d/lvp_icd.aarch64.json",
                                          "/usr/share/vulkan/icd.d/lvp_icd.json"}),
                    swiftshader = installed({"/usr/lib/chromium/vk_swiftshader_icd.json"});
  if (lavapipe.empty() || swiftshader.empty()) GTEST_SKIP() << "it needs lavapipe and SwiftShader";
  const Drivers both(lavapipe + ":" + swiftshader);
  const Names all = chosen({});
  ASSERT_EQ(all.size(), 2u);
  const bool is_first = all[0].find("llvmpipe") != std::string::npos;
  const std::string &of_lavapipe = all[is_first ? 0 : 1], &of_swiftshader = all[is_first ? 1 : 0];
  EXPECT_NE(of_lavapipe.find("llvmpipe"), std::string::npos) << of_lavapipe;
  EXPECT_NE(of_swiftshader.find("SwiftShader"), std::string::npos) << of_swiftshader;
  EXPECT_EQ(chosen({{"device", "0"}}), (Names{all[0]}));
  EXPECT_EQ(chosen({{"device", "1"}}), (Names{all[1]}));
  EXPECT_EQ(chosen({{"device", "LLVMpipe"}}), (Names{of_lavapipe}));
  EXPECT_EQ(chosen({{"device", "swiftshader"}}), (Names{of_swiftshader}));
  EXPECT_EQ(chosen({{"device", "cpu"}}), all);
  for (const char* const number : {"0", "1"}) {
    const TestDevice numbered(Settings{{"device", number}, {"cache", ""}});
    ASSERT_TRUE(numbered.is_open()) << numbered.failure().message;
    const std::string name = numbered.properties().description.data;
    EXPECT_EQ(chosen({{"device", uuid_of(numbered)}}), (Names{name}));
  }
}

// ---- devices

TEST(VulkanDevice, ErrorSaysWhyTheDriverCannotOpenTheDevice) {
  const FailingDriver failing;
  const Drivers only(failing.file());
  const TestDevice bench(Settings{});
  EXPECT_EQ(bench.failure().code, TENON_UNAVAILABLE);
  EXPECT_TRUE(
      says(bench.failure(), "Broken Board cannot be opened: VK_ERROR_INITIALIZATION_FAILED"))
      << bench.failure().message;
}

TEST(VulkanDevice, PropertiesDescribeTheDevice) {
  const TestDevice bench(Settings{});
  NEED_A_DEVICE(bench);
  const tenon_device_properties properties = bench.properties();
  EXPECT_GT(properties.description.size, 0u);
  EXPECT_GT(properties.vendor.size, 0u);
  EXPECT_GT(properties.driver.size, 0u);
  EXPECT_GE(properties.memory_bytes, properties.max_buffer_bytes);
  EXPECT_GE(properties.max_buffer_bytes, uint64_t{1} << 20);
  EXPECT_GE(properties.max_operand_bytes, uint64_t{1} << 26);
  EXPECT_NE(properties.features & TENON_FEATURE_HOST_BLOCKING, 0u);
  EXPECT_EQ(properties.features & TENON_FEATURE_SYNCHRONOUS, 0u);
}

TEST(VulkanDevice, MemoryIsNotHostVisibleWithOptionVisibleOff) {
  const TestDevice bench(Settings{{"visible", "0"}});
  NEED_A_DEVICE(bench);
  EXPECT_EQ(bench.properties().features & TENON_FEATURE_HOST_VISIBLE, 0u);
  const Memory memory(bench, 100);
  EXPECT_EQ(TestDevice::calls().map(memory.get()), nullptr);
}

TEST(VulkanDevice, RejectsAnIndexBeyondTheLastDevice) {
  tenon_instance_p* instance = nullptr;
  const Failure created = take(TestDevice::create({}, &instance));
  if (instance == nullptr) GTEST_SKIP() << created.message;
  size_t n = 0;
  EXPECT_SUCCESS(TestDevice::calls().count_devices(instance, &n));
  EXPECT_GE(n, 1u);
  tenon_device_p* device = nullptr;
  EXPECT_EQ(take(TestDevice::calls().open_device(instance, n, &device)).code, TENON_NOT_FOUND);
  EXPECT_EQ(device, nullptr);
  TestDevice::calls().destroy(instance);
}

// A static object is created before the driver's static objects, so it is destroyed after them.
TEST(VulkanDevice, DeviceMayStayOpenUntilTheProcessExits) {
  if (const TestDevice bench(Settings{}); !bench.is_open()) GTEST_SKIP() << bench.failure().message;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end_process = [] {
    static std::unique_ptr<TestDevice> bench;
    static std::unique_ptr<Memory> memory;
    bench = std::make_unique<TestDevice>(Settings{});
    memory = std::make_unique<Memory>(*bench, 4096);
    std::exit(0);
  };
  EXPECT_EXIT(end_process(), ::testing::ExitedWithCode(0), "");
}

TEST(VulkanDevice, ShaderWithMoreOperandsThanTheDeviceCanBindIsRejected) {
  const TestDevice bench(kNoCache);
  NEED_A_DEVICE(bench);
  const uint32_t n = capabilities_of(bench.device()).max_operands + 1;
  PipelineRef pipeline;
  EXPECT_EQ(take(make_pipeline(bench.device(), add_shader(), n, &pipeline)).code,
            TENON_UNIMPLEMENTED);
}

TEST(VulkanDevice, EqualShadersShareOnePipeline) {
  const TestDevice bench(kNoCache);
  NEED_A_DEVICE(bench);
  const std::vector<uint32_t> words = add_shader();
  PipelineRef made[4];
  std::vector<std::thread> threads;
  for (PipelineRef& pipeline : made) {
    threads.emplace_back(
        [&] { EXPECT_SUCCESS(make_pipeline(bench.device(), words, 3, &pipeline)); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const PipelineRef& pipeline : made) EXPECT_EQ(pipeline, made[0]);
}

TEST(VulkanDevice, EvictsUnreferencedPipelines) {
  const TestDevice bench(kNoCache);
  NEED_A_DEVICE(bench);
  const Pipelines& pipelines = from_c(bench.device()).pipelines();
  const auto make = [&](uint32_t number) {
    spirv::Code code(capabilities_of(bench.device()), {.n_operands = 1, .local_size = 64});
    code.operand(0).store(code.invocation_index(), code.u32(number));
    PipelineRef made;
    EXPECT_SUCCESS(make_pipeline(bench.device(), code.finish(), 1, &made));
    return made;
  };
  const PipelineRef first = make(0);
  for (uint32_t i = 1; i < 5 * Pipelines::kMaxUnreferenced; ++i) make(i);
  EXPECT_LE(pipelines.count(), 3 * Pipelines::kMaxUnreferenced);
  EXPECT_EQ(make(0), first);
}

// ---- memory

TEST(VulkanMemory, AlignsBuffersTo64Bytes) {
  const TestDevice bench(kNoCache);
  NEED_A_DEVICE(bench);
  if (!(bench.properties().features & TENON_FEATURE_HOST_VISIBLE)) GTEST_SKIP();
  std::vector<Memory> kept;
  for (const uint64_t size : {1, 3, 64, 65, 1000, 5000000}) {
    kept.emplace_back(bench, size);
    const auto at = reinterpret_cast<uintptr_t>(TestDevice::calls().map(kept.back().get()));
    EXPECT_NE(at, 0u);
    EXPECT_EQ(at % 64, 0u);
  }
}

TEST(VulkanMemory, AllocationLargerThanTheMaximumBufferIsRejected) {
  const TestDevice bench(kNoCache);
  NEED_A_DEVICE(bench);
  const uint64_t most = bench.properties().max_buffer_bytes;
  for (const uint64_t size : {most + 1, uint64_t{1} << 62, ~uint64_t{0}}) {
    tenon_buffer_p* buffer = nullptr;
    const Failure failure = take(TestDevice::calls().allocate(bench.device(), size, &buffer));
    EXPECT_EQ(failure.code, TENON_OUT_OF_MEMORY);
    EXPECT_TRUE(says(failure, std::to_string(size))) << failure.message;
    EXPECT_EQ(buffer, nullptr);
  }
}

TEST(VulkanMemory, CountsAllocatedBytes) {
  const TestDevice bench(kNoCache);
  NEED_A_DEVICE(bench);
  tenon_memory_statistics statistics = {};
  statistics.struct_size = sizeof statistics;
  const auto ask = [&] {
    EXPECT_SUCCESS(TestDevice::calls().memory_statistics(bench.device(), &statistics));
  };
  {
    const Memory a(bench, 100), b(bench, 4096);
    ask();
    EXPECT_EQ(statistics.allocated_bytes, 4196u);
    EXPECT_EQ(statistics.allocations, 2u);
  }
  ask();
  EXPECT_EQ(statistics.allocated_bytes, 0u);
  EXPECT_EQ(statistics.peak_bytes, 4196u);
}

// Each buffer is filled with its own pattern and must keep it while its neighbours are released.
TEST(VulkanMemory, BuffersDoNotOverlapForAnyOrderOfReleases) {
  const TestDevice bench(kNoCache);
  NEED_A_DEVICE(bench);
  const Queue stream(bench);
  std::map<int, std::pair<Memory, uint64_t>> kept;
  uint32_t random = 1;
  for (int i = 0; i < 300; ++i) {
    random = random * 1664525 + 1013904223;
    const uint64_t size = 1 + (random >> 8) % (i % 50 == 0 ? 20000000 : 70000);
    const auto made = kept.emplace(i, std::pair(Memory(bench, size), size)).first;
    stream.fill(made->second.first, 0, size, static_cast<uint64_t>(i), 1);
    if (i % 3 == 2) {
      stream.wait();  // Work in flight must not use released memory.
      const auto goes = std::next(kept.begin(), (random >> 4) % static_cast<long>(kept.size()));
      kept.erase(goes);
    }
  }
  for (const auto& [i, buffer] : kept) {
    const Bytes bytes = stream.bytes(buffer.first, buffer.second);
    ASSERT_EQ(bytes, Bytes(buffer.second, static_cast<uint8_t>(i)));
  }
}

TEST(VulkanMemory, EarlierTestsReleasedAllErrors) { EXPECT_EQ(count_errors(), 0u); }

}  // namespace
}  // namespace tenon_vulkan::testing
