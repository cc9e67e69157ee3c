// Shared helpers of the plugin's tests: a host that records reports, a device that is opened with
// options, and a small kernel.

#pragma once

#include <gtest/gtest.h>
#include <tenon/plugin.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "plugins/vulkan/encoder.h"

TENON_EXTERN_C tenon_error* tenon_plugin_query_v1_vulkan(const tenon_host* host,
                                                         const tenon_plugin** out_plugin);

namespace tenon_vulkan {
struct DeviceFunctions;
}

namespace tenon_vulkan::testing {

using Bytes = std::vector<uint8_t>;
using Words = std::vector<uint32_t>;
using Settings = std::map<std::string, std::string>;

struct Failure {
  tenon_code code = TENON_OK;
  std::string message;
};

// Returns the contents of an error and releases it.
Failure take(tenon_error* error);
#define EXPECT_SUCCESS(call)                                              \
  do {                                                                    \
    const Failure failure_of_call = take(call);                           \
    EXPECT_EQ(failure_of_call.code, TENON_OK) << failure_of_call.message; \
  } while (false)

// The failed launches that the plugin reported to the host, by ticket, and the lines that it
// logged.
struct HostReports {
  std::mutex mutex;
  std::map<uint64_t, Failure> failed;
  std::vector<std::string> log;
};
HostReports& heard();
size_t count_errors();  // Number of errors that are not released yet.

// A plugin instance and its first device.
class TestDevice {
 public:
  explicit TestDevice(const Settings& settings);
  TestDevice(const TestDevice&) = delete;
  TestDevice& operator=(const TestDevice&) = delete;
  ~TestDevice();

  static const tenon_plugin& plugin();
  static const tenon_plugin_calls& calls() { return *plugin().calls; }
  // Returns the result of create(). If an instance was created, destroys it.
  static Failure try_create(const Settings& settings);
  static tenon_error* create(const Settings& settings, tenon_instance_p** out_instance);

  bool is_open() const { return device_ != nullptr; }
  const Failure& failure() const { return failure_; }
  tenon_device_p* device() const { return device_; }
  tenon_device_properties properties() const;

 private:
  Failure failure_;
  tenon_instance_p* instance_ = nullptr;
  tenon_device_p* device_ = nullptr;
};

// Returns the driver's function table, whose entries a test may replace.
DeviceFunctions& functions_of(const TestDevice& bench);

// A test that fails on tear-down if an error was not released, or if anything was logged, for
// example by the validation layer. The test must close its devices.
class ExpectsNoReportsTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
};

// An ExpectsNoReportsTest with one device, which is opened with the settings of the test.
class OnDriver : public ExpectsNoReportsTest, public ::testing::WithParamInterface<Settings> {
 protected:
  void SetUp() override;
  void TearDown() override;
  const TestDevice& bench() const { return *bench_; }
  void close() { bench_.reset(); }
  DeviceFunctions& functions() const { return functions_of(*bench_); }
  static const tenon_plugin_calls& calls() { return TestDevice::calls(); }

 private:
  std::unique_ptr<TestDevice> bench_;
};

// A test with one device that counts, in n_dispatches, the dispatches that the driver receives.
extern std::atomic<int> n_dispatches;
class CountsDispatches : public OnDriver {
 protected:
  void SetUp() override;
};

// During the lifetime of an object of this class, the driver fails to create command pools.
class NoCommandPools {
 public:
  explicit NoCommandPools(DeviceFunctions& functions);
  NoCommandPools(const NoCommandPools&) = delete;
  NoCommandPools& operator=(const NoCommandPools&) = delete;
  ~NoCommandPools();
  static int n_refused();

 private:
  DeviceFunctions& functions_;
};

// Returns the name suffix of a test with these settings.
std::string name_of_settings(const ::testing::TestParamInfo<Settings>& info);

// An empty temporary folder that exists while a test runs.
class Folder {
 public:
  explicit Folder(const char* name);
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class Memory {
 public:
  Memory(const TestDevice& bench, uint64_t size);
  explicit Memory(tenon_buffer_p* handle) : handle_(handle) {}
  Memory(Memory&& from) noexcept : handle_(std::exchange(from.handle_, nullptr)) {}
  ~Memory();
  tenon_buffer_p* get() const { return handle_; }

 private:
  tenon_buffer_p* handle_ = nullptr;
};

class Queue {
 public:
  explicit Queue(const TestDevice& bench);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue();
  tenon_stream_p* get() const { return handle_; }

  void write(const Memory& to, uint64_t offset, const void* data, uint64_t size) const;
  void read(const Memory& from, uint64_t offset, void* data, uint64_t size) const;
  void copy(const Memory& from, uint64_t from_offset, const Memory& to, uint64_t to_offset,
            uint64_t size) const;
  void fill(const Memory& to, uint64_t offset, uint64_t size, uint64_t pattern,
            uint32_t pattern_size) const;
  void wait() const;
  // Calls wait() and returns the contents of the memory.
  Bytes bytes(const Memory& from, uint64_t size) const;
  Words words(const Memory& from, size_t n) const;
  void write(const Memory& to, const Words& words) const;

 private:
  tenon_stream_p* handle_ = nullptr;
};

// A prepared kernel of the plugin. The first entry for the op in kernels.def prepares it.
class PreparedKernel {
 public:
  PreparedKernel(const TestDevice& bench, uint32_t op, const void* attrs,
                 std::span<const tenon_operand> inputs, const tenon_operand& output);
  // Prepares the kernel of a loop program.
  PreparedKernel(const TestDevice& bench, const tenon_loop_request& request);
  PreparedKernel(const PreparedKernel&) = delete;
  PreparedKernel& operator=(const PreparedKernel&) = delete;
  ~PreparedKernel();
  tenon_kernel_p* handle() const { return handle_; }

  static const tenon_kernel* line_of(uint32_t op);

 private:
  tenon_kernel_p* handle_ = nullptr;
};

// A kernel that computes out[i] = a[i] + b[i] for words, or a[i] + b[0] if `b` has one element.
// `products`: the number of multiplications that its dispatches declare.
class AddKernel final : public Kernel {
 public:
  explicit AddKernel(tenon_device_p* device, uint64_t products = 0);
  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override;
  tenon_kernel_p* handle() { return tenon_sdk::to_c(this); }

 private:
  const uint64_t products_;
  PipelineRef pipeline_;
};

// A launch of an AddKernel. Each operand may be passed by value.
class AddLaunch {
 public:
  struct Place {
    const Memory* memory;
    uint64_t offset;  // Byte offset.
    int64_t n;
    const uint32_t* value = nullptr;
  };
  AddLaunch(const Place& a, const Place& b, const Place& out);
  tenon_launch& get() { return launch_; }

 private:
  int64_t sizes_[3];
  int64_t stride_ = 1;
  tenon_view views_[3];
  tenon_launch launch_;
};

std::vector<uint32_t> add_shader();

}  // namespace tenon_vulkan::testing
