// Checks instances and devices: options, enumeration, and shutdown.

#include <cstring>
#include <filesystem>

#include "conformance/device/device_check.h"
#include "conformance/device/failing_memory.h"
#include "conformance/kit/threads.h"

namespace tenon_kit::device {
namespace {

// Writes data to a buffer of the device and reads them back.
void write_and_read_back(const Bench& bench, uint32_t seed) {
  const Buffer buffer(bench, 1000);
  const Stream stream(bench);
  const Bytes bytes = pseudorandom_bytes(1000, seed);
  stream.write_now(buffer, 0, bytes);
  expect_bytes(stream.read_now(buffer, 0, 1000), bytes, "data that was written and read back");
}

// ---- options

// Checks that `create` rejects the options with an error that names the option `which`.
void expect_refusal(const Plugin& plugin, const InstanceOptions& options, const char* which) {
  tenon_instance_p* instance = nullptr;
  const tenon_instance_options c_options = options.get();
  const Failure failure = expect_failure(plugin.facts->create(&host_table(), &c_options, &instance),
                                         "create with a bad option");
  require(instance == nullptr, "create refused the option {} but returned an instance", which);
  require(failure.code == TENON_INVALID_ARGUMENT || failure.code == TENON_NOT_FOUND,
          "the option {} is refused with code {}, not INVALID_ARGUMENT: {}", which, failure.code,
          failure.message);
  require(failure.message.find(which) != std::string::npos,
          "the option {} is refused with a message that does not name it: {}", which,
          failure.message);
}

// Checks that unknown options are refused with an error that names them.
void test_options(const Subject& subject) {
  const Plugin plugin(subject);
  for (const uint32_t threads : {1u, 2u, 1000u}) {
    const InstanceOptions options(subject, threads);
    const tenon_instance_options c_options = options.get();
    tenon_instance_p* instance = nullptr;
    expect_success(plugin.facts->create(&host_table(), &c_options, &instance), "create");
    plugin.calls.destroy(instance);
  }
  for (const char* value : {"1", ""}) {
    InstanceOptions options(subject);
    options.add("no_such_option", value);
    expect_refusal(plugin, options, "no_such_option");
  }
  InstanceOptions nameless(subject);
  nameless.add("", "");
  expect_refusal(plugin, nameless, "");
  // Which values are valid depends on the plugin, but this one is not valid for any key.
  for (const auto& [key, value] : subject.options) {
    InstanceOptions options(subject);
    options.add(key.c_str(), "\x01no value");
    expect_refusal(plugin, options, key.c_str());
  }
}

// ---- devices

// Checks that exactly the devices that count_devices reports can be opened.
void test_enumeration(const Subject& subject) {
  const Bench bench(subject);
  size_t count = 0;
  expect_success(bench.calls().count_devices(bench.instance(), &count), "count_devices");
  require(count > subject.index,
          "count_devices returns {}, but the device with index {} can be opened", count,
          subject.index);
  const auto again = [&] {
    size_t n = 0;
    expect_success(bench.calls().count_devices(bench.instance(), &n), "count_devices");
    require(n == count, "count_devices first returned {}, and then {}", count, n);
  };
  for (int i = 0; i < 20; ++i) again();
  for (size_t i = 0; i < count; ++i) {
    tenon_device_p* device = nullptr;
    expect_success(bench.calls().open_device(bench.instance(), i, &device), "open_device");
    again();
    bench.calls().close_device(device);
  }
  for (const size_t index : {count, count + 1, SIZE_MAX}) {
    tenon_device_p* device = nullptr;
    expect_failure(bench.calls().open_device(bench.instance(), index, &device),
                   "open_device with an index past the last device");
    require(device == nullptr, "open_device({}) fails but returns a device", index);
  }
}

std::string to_std_string(const tenon_string& text, const char* what) {
  require(text.data != nullptr || text.size == 0,
          "the device's {} is NULL, but the size of this text is not 0", what);
  return text.data ? std::string(text.data, text.size) : "";
}

// Checks that the description of the device is complete, valid and constant.
void test_properties(const Subject& subject) {
  const Bench bench(subject);
  const tenon_device_properties& p = bench.properties();
  const tenon_features provides = bench.plugin().facts->provides;
  require((p.features & ~provides) == 0,
          "the device has the features {:#x}, but the plugin provides only {:#x}", p.features,
          provides);
  require(p.kind >= TENON_DEVICE_CPU && p.kind <= TENON_DEVICE_ACCELERATOR,
          "the device's kind is {}, which is none of the known kinds", p.kind);
  require(!to_std_string(p.description, "description").empty(),
          "the device's description is empty");
  require(!to_std_string(p.vendor, "vendor").empty(), "the device's vendor is empty");
  const std::string driver = to_std_string(p.driver, "driver");
  require(p.memory_bytes == 0 || p.max_buffer_bytes <= p.memory_bytes,
          "max_buffer_bytes is {}, but must not exceed memory_bytes, {}", p.max_buffer_bytes,
          p.memory_bytes);
  require(p.vector_bits % 8 == 0 && p.vector_bits <= 1 << 20,
          "vector_bits is {}, but must be a multiple of 8 and at most 2^20", p.vector_bits);
  require(p.compute_units <= 1 << 24, "compute_units is {}, but must be at most 2^24",
          p.compute_units);
  write_and_read_back(bench, 3);
  tenon_device_properties again = {};
  again.struct_size = sizeof again;
  expect_success(bench.calls().describe_device(bench.device(), &again), "describe_device");
  require(again.kind == p.kind && again.features == p.features &&
              again.memory_bytes == p.memory_bytes &&
              to_std_string(again.description, "description") ==
                  to_std_string(p.description, "description") &&
              std::memcmp(again.uuid, p.uuid, sizeof p.uuid) == 0,
          "the device's description differs between two queries");
}

// ---- shutdown

// Counts the entries of a folder, such as /proc/self/task; 0 if it does not exist.
size_t count_entries(const char* folder) {
  size_t n = 0;
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator(folder, error);
       at != std::filesystem::directory_iterator(); at.increment(error)) {
    ++n;
  }
  return n;
}

// Checks that opening and closing the device many times leaks nothing.
void test_reopen(const Subject& subject) {
  const auto cycle = [&](uint32_t i) {
    const Bench bench(subject);
    write_and_read_back(bench, i);
  };
  for (uint32_t i = 0; i < 20; ++i) cycle(i);
  const size_t threads = count_entries("/proc/self/task"), files = count_entries("/proc/self/fd");
  constexpr uint32_t kCycles = 100;
  const uint64_t left = host_memory_left_by([&] {
    for (uint32_t i = 0; i < kCycles; ++i) cycle(i);
  });
  if (left > kCycles * 16) {
    throw Leak(
        fmt::format("after the device was opened and closed {} times, {} more bytes are allocated",
                    kCycles, left));
  }
  // A thread that has just ended may still be counted.
  if (count_entries("/proc/self/task") > threads + 20) {
    throw Leak(fmt::format("after the device was opened and closed {} times, {} more threads exist",
                           kCycles, count_entries("/proc/self/task") - threads));
  }
  if (count_entries("/proc/self/fd") > files + 5) {
    throw Leak(
        fmt::format("after the device was opened and closed {} times, {} more files are open",
                    kCycles, count_entries("/proc/self/fd") - files));
  }
}

// Checks that several instances work in parallel, on any thread.
void test_instances(const Subject& subject) {
  const Bench first(subject);
  const Buffer kept(first, 4096);
  const Stream stream(first);
  const Bytes bytes = pseudorandom_bytes(4096, 11);
  stream.write_now(kept, 0, bytes);
  {
    const Bench second(subject);
    require(second.instance() != first.instance(), "two instances share one handle");
    require(second.device() != first.device(), "the devices of two instances share one handle");
    write_and_read_back(second, 12);
    write_and_read_back(first, 13);
  }
  expect_bytes(stream.read_now(kept, 0, 4096), bytes,
               "the first instance's data after another instance was closed");
  std::string fault;
  std::mutex mutex;
  std::vector<Thread> threads;
  for (uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      try {
        for (uint32_t k = 0; k < 5; ++k) write_and_read_back(Bench(subject), i * 10 + k);
      } catch (const std::exception& error) {
        std::lock_guard lock(mutex);
        fault = error.what();
      }
    });
  }
  for (Thread& thread : threads) thread.join();
  require(fault.empty(), "with an instance on each of four threads: {}", fault);
}

}  // namespace

std::vector<DeviceCheck> instance_checks() {
  return {
      {"device", "options", 0, "Unknown options are rejected with an error that names them.",
       test_options},
      {"device", "enumeration", 0, "Exactly the devices that count_devices reports can be opened.",
       test_enumeration},
      {"device", "properties", 0, "A device's description is complete, valid and constant.",
       test_properties},
      {"device", "reopen", 0, "Opening and closing a hundred times leaks nothing.", test_reopen},
      {"device", "instances", 0, "Instances work in parallel, on any thread.", test_instances},
  };
}

}  // namespace tenon_kit::device
