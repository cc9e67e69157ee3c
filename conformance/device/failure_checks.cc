// Checks failures: errors are complete, and injected failures have no lasting effect.

#include <atomic>
#include <functional>

#include "conformance/device/device_check.h"
#include "conformance/device/failing_memory.h"

namespace tenon_kit::device {
namespace {

// Checks errors for invalid calls. expect_failure() checks that each error is complete and made by
// the host's make_error.
void test_errors(const Subject& subject) {
  const Bench bench(subject);
  const tenon_plugin_calls& calls = bench.calls();
  InstanceOptions options(subject);
  options.add("no_such_option", "1");
  const tenon_instance_options c_options = options.get();
  for (int i = 0; i < 10; ++i) {
    tenon_instance_p* instance = nullptr;
    expect_failure(bench.plugin().facts->create(&host_table(), &c_options, &instance), "create");
    tenon_device_p* device = nullptr;
    expect_failure(calls.open_device(bench.instance(), SIZE_MAX, &device), "open_device(SIZE_MAX)");
    tenon_buffer_p* buffer = nullptr;
    const Failure failure =
        expect_failure(calls.allocate(bench.device(), ~uint64_t{0}, &buffer), "allocate(2^64 - 1)");
    require(failure.message.find('\n') == std::string::npos, "a message has more than one line: {}",
            failure.message);
    require(!instance && !device && !buffer, "a failed call returned an object");
  }
}

// ---- failing host allocations

struct Attempt {
  bool reached = false;
  bool succeeded = false;
};

// Runs one call with its n-th allocation failing.
Attempt call_with_failing_allocation(const char* name, uint64_t n,
                                     const std::function<tenon_error*()>& call) {
  tenon_error* error = nullptr;
  bool threw = false;
  fail_host_memory_at(n);
  try {
    error = call();
  } catch (...) {
    threw = true;
  }
  const bool reached = fail_host_memory_at(0);
  require(!threw, "{} threw when allocation {} of the host's memory failed", name, n);
  if (error) take_failure(error);
  require(reached || !error, "{} failed, although no failure was injected", name);
  return {reached, !error};
}

// Repeats a call. In the n-th run, its n-th allocation fails. Stops when a run makes fewer than n
// allocations and succeeds. `end` undoes a successful call.
void fail_each_allocation(const char* name, const std::function<tenon_error*()>& call,
                          const std::function<void()>& end) {
  for (uint64_t n = 1; n <= 500; ++n) {
    const Attempt a = call_with_failing_allocation(name, n, call);
    if (a.succeeded) end();
    if (!a.reached) return;
  }
}

// Returns the value of the variable `handle` and sets the variable to NULL.
template <class T>
T* take_handle(T*& handle) {
  return std::exchange(handle, nullptr);
}

// Runs fail_each_allocation() for each kind of call of the plugin.
void fail_allocations_of_all_calls(const Subject& subject) {
  const Bench bench(subject);
  const tenon_plugin_calls& calls = bench.calls();
  const InstanceOptions options(subject);
  const tenon_instance_options c_options = options.get();
  tenon_instance_p* instance = nullptr;
  fail_each_allocation(
      "create", [&] { return bench.plugin().facts->create(&host_table(), &c_options, &instance); },
      [&] { calls.destroy(take_handle(instance)); });
  tenon_device_p* device = nullptr;
  fail_each_allocation(
      "open_device", [&] { return calls.open_device(bench.instance(), subject.index, &device); },
      [&] { calls.close_device(take_handle(device)); });
  tenon_stream_p* opened = nullptr;
  fail_each_allocation(
      "open_stream", [&] { return calls.open_stream(bench.device(), &opened); },
      [&] { calls.close_stream(take_handle(opened)); });
  tenon_buffer_p* buffer = nullptr;
  fail_each_allocation(
      "allocate", [&] { return calls.allocate(bench.device(), 1000, &buffer); },
      [&] { calls.release(take_handle(buffer)); });

  const Stream stream(bench);
  const Buffer data(bench, 1000);
  const Bytes bytes = pseudorandom_bytes(1000, 1);
  const tenon_copy_region copy = {host_place(bytes.data()), place_in(data), 1000, 0};
  fail_each_allocation(
      "copy", [&] { return calls.copy(stream.get(), &copy); }, [&] { stream.finish(); });
  const tenon_fill_region fill = {data.get(), 0, 1000, 7, 1, 0};
  fail_each_allocation(
      "fill", [&] { return calls.fill(stream.get(), &fill); }, [&] { stream.finish(); });
  tenon_event_p* event = nullptr;
  fail_each_allocation(
      "record_event", [&] { return calls.record_event(stream.get(), &event); },
      [&] { calls.release_event(take_handle(event)); });
  {
    const Event recorded = stream.record();
    fail_each_allocation(
        "wait_event", [&] { return calls.wait_event(stream.get(), recorded.get()); },
        [&] { stream.finish(); });
  }
  std::atomic<int> destroyed{0};
  const tenon_done_callback done = {
      .function = [](void*, const tenon_error*) {},
      .payload = &destroyed,
      .destroy = [](void* payload) { ++*static_cast<std::atomic<int>*>(payload); },
  };
  int asked = 0;
  fail_each_allocation(
      "notify",
      [&] {
        ++asked;
        return calls.notify(stream.get(), done);
      },
      [&] { stream.finish(); });
  stream.finish();
  require(destroyed == asked,
          "of {} callbacks passed to notify with injected failures, {} were destroyed", asked,
          destroyed.load());
  // Checks that the device still works.
  stream.write_now(data, 0, bytes);
  expect_bytes(stream.read_now(data, 0, 1000), bytes,
               "data read back after allocations of host memory had failed");
}

// Checks that a call fails, and leaks nothing, if an allocation of host memory fails in it.
void test_host_memory(const Subject& subject) {
  if (!can_fail_host_memory()) throw Unsupported("this build of the kit cannot make malloc fail");
  fail_allocations_of_all_calls(subject);
  const uint64_t left = host_memory_left_by([&] {
    for (int i = 0; i < 5; ++i) fail_allocations_of_all_calls(subject);
  });
  if (left > 5 * 16) {
    throw Leak(fmt::format(
        "after each call was run five times with failing allocations, {} bytes are still allocated",
        left));
  }
}

}  // namespace

std::vector<DeviceCheck> failure_checks() {
  return {
      {"failures", "complete_errors", 0,
       "An error has a code and a message, and belongs to the caller.", test_errors},
      {"failures", "host_memory", 1,
       "If an allocation of host memory fails, the call fails, and nothing leaks.",
       test_host_memory},
  };
}

}  // namespace tenon_kit::device
