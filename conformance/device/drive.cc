#include "conformance/device/drive.h"

#include <tenon/introspect.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>

#include "conformance/device/failing_memory.h"
#include "conformance/kit/json.h"
#include "conformance/kit/plugin_log.h"

namespace tenon_kit::device {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);

struct HostState {
  std::mutex mutex;
  std::set<const tenon_error*> live;
  std::vector<FailedLaunch> failed;
};
HostState& state() {
  // Never freed, because a plugin's threads may run until the process exits.
  static auto* const kept = new HostState;
  return *kept;
}

tenon_error* make_error(tenon_code code, tenon_string message) {
  const HostMemoryHolds holds;
  tenon_error* const error = tenon_host_table()->make_error(code, message);
  std::lock_guard lock(state().mutex);
  state().live.insert(error);
  return error;
}

// Removes an error from the list of errors that are not released yet.
void mark_released(const tenon_error* error) {
  std::lock_guard lock(state().mutex);
  state().live.erase(error);
}

void release_error(tenon_error* error) {
  const HostMemoryHolds holds;
  mark_released(error);
  tenon_host_table()->release_error(error);
}

void log(void*, int32_t level, tenon_string message) {
  const HostMemoryHolds holds;
  note_plugin_log(level, message);
}

// The host function launch_failed: records the failed launch for take_failed_launches().
void launch_failed(void* work, uint64_t ticket, tenon_error* error) {
  const HostMemoryHolds holds;
  Failure failure;
  try {
    failure = take_failure(error);
  } catch (const std::exception& fault) {  // Must not propagate into the plugin.
    failure = {TENON_INTERNAL, fault.what()};
  }
  std::lock_guard lock(state().mutex);
  state().failed.push_back({work, ticket, std::move(failure)});
}

// Whether the text is valid UTF-8; the JSON writer rejects other text.
bool is_utf8(const std::string& text) {
  try {
    (void)Json(text).dump();
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

}  // namespace

Bytes pseudorandom_bytes(size_t size, uint32_t seed) {
  Bytes bytes(size);
  uint32_t x = seed * 2654435761u + 1;
  for (unsigned char& byte : bytes) {
    x = x * 1664525u + 1013904223u;
    byte = static_cast<unsigned char>(x >> 24);
  }
  return bytes;
}

// ---- the host

const tenon_host& host_table() {
  static const tenon_host table = [] {
    tenon_host own = *tenon_host_table();
    own.make_error = make_error;
    own.release_error = release_error;
    own.log = log;
    own.launch_failed = launch_failed;
    return own;
  }();
  return table;
}

Failure take_failure(tenon_error* error) {
  {
    std::lock_guard lock(state().mutex);
    if (!state().live.contains(error)) {
      throw Fault(
          "the plugin returned an error that the host's make_error did not make, or that was "
          "already released");
    }
  }
  const tenon_string text = tenon_host_table()->error_message(error);
  Failure failure = {tenon_host_table()->error_code(error), std::string(text.data, text.size)};
  release_error(error);
  require(failure.code > TENON_OK && failure.code <= TENON_INTERNAL,
          "an error has the unknown code {}: {}", failure.code, failure.message);
  require(!failure.message.empty(), "an error of code {} has no message", failure.code);
  require(is_utf8(failure.message), "the message of an error of code {} is not UTF-8",
          failure.code);
  return failure;
}

void expect_success(tenon_error* error, const char* call) {
  if (error) throw Fault(fmt::format("{} failed: {}", call, take_failure(error).message));
}

Failure expect_failure(tenon_error* error, const char* call) {
  require(error != nullptr, "{} succeeded, but must fail", call);
  return take_failure(error);
}

size_t n_live_errors() {
  std::lock_guard lock(state().mutex);
  return state().live.size();
}

std::vector<FailedLaunch> take_failed_launches() {
  std::lock_guard lock(state().mutex);
  return std::exchange(state().failed, {});
}

void expect_none_failed(const char* what) {
  const std::vector<FailedLaunch> failed = take_failed_launches();
  if (!failed.empty()) throw Fault(fmt::format("a {} failed: {}", what, failed[0].failure.message));
}

// ---- the plugin

Plugin::Plugin(const Subject& subject, const tenon_host& given) : host(given) {
  expect_success(subject.query(&given, &facts), "the query function");
  require(facts != nullptr, "the query function returned neither a plugin nor an error");
  require(facts->create && facts->calls,
          "tenon_plugin.create or tenon_plugin.calls is NULL; both are required");
  std::memcpy(&calls, facts->calls, std::min<size_t>(facts->calls->struct_size, sizeof calls));
}

const tenon_kernel& Plugin::kernel_entry(size_t i) const {
  const auto* first = reinterpret_cast<const char*>(facts->kernels);
  return *reinterpret_cast<const tenon_kernel*>(first + i * facts->kernel_size);
}

InstanceOptions::InstanceOptions(const Subject& subject, uint32_t threads) : threads_(threads) {
  for (const auto& [key, value] : subject.options) add(key.c_str(), value.c_str());
}

void InstanceOptions::add(const char* key, const char* value) {
  keys_.push_back(tenon_str(key));
  values_.push_back(tenon_str(value));
}

tenon_instance_options InstanceOptions::get() const {
  return {sizeof(tenon_instance_options),
          threads_,
          nullptr,
          keys_.data(),
          values_.data(),
          keys_.size()};
}

Bench::Bench(const Subject& subject, const tenon_host& host) : plugin_(subject, host) {
  const InstanceOptions options(subject);
  const tenon_instance_options c_options = options.get();
  expect_success(plugin_.facts->create(&host, &c_options, &instance_), "create");
  require(instance_ != nullptr, "create returned neither an instance nor an error");
  try {
    expect_success(calls().open_device(instance_, subject.index, &device_), "open_device");
    require(device_ != nullptr, "open_device returned neither a device nor an error");
    properties_.struct_size = sizeof properties_;
    expect_success(calls().describe_device(device_, &properties_), "describe_device");
  } catch (...) {
    if (device_) calls().close_device(device_);
    calls().destroy(instance_);
    throw;
  }
}

Bench::~Bench() {
  calls().close_device(device_);
  calls().destroy(instance_);
}

void Bench::require_feature(tenon_features feature, const char* name) const {
  if (!has(feature))
    throw Unsupported(fmt::format("the device does not claim the feature {}", name));
}

tenon_memory_statistics Bench::statistics() const {
  tenon_memory_statistics statistics = {};
  statistics.struct_size = sizeof statistics;
  expect_success(calls().memory_statistics(device_, &statistics), "memory_statistics");
  return statistics;
}

// Waits for all open streams, and ignores errors of their work.
void Bench::settle() const {
  std::vector<tenon_stream_p*> open;
  {
    std::lock_guard lock(mutex_);
    open = std::exchange(streams_, {});
  }
  for (tenon_stream_p* stream : open) {
    try {
      Stream::wait_with_notify(*this, stream);
    } catch (const std::exception&) {
      // Only the first fault is reported.
    }
  }
}

Buffer::Buffer(const Bench& bench, uint64_t size) : bench_(bench), size_(size) {
  expect_success(bench.calls().allocate(bench.device(), size, &handle_), "allocate");
  require(handle_ != nullptr, "allocate returned neither a buffer nor an error");
}
Buffer::Buffer(Buffer&& other) noexcept
    : bench_(other.bench_), handle_(std::exchange(other.handle_, nullptr)), size_(other.size_) {}
Buffer::~Buffer() {
  if (!handle_) return;
  if (std::uncaught_exceptions() > 0) bench_.settle();
  bench_.calls().release(handle_);
}

Event::~Event() {
  if (handle_) bench_.calls().release_event(handle_);
}

Stream::Stream(const Bench& bench) : bench_(bench) {
  expect_success(bench.calls().open_stream(bench.device(), &handle_), "open_stream");
  require(handle_ != nullptr, "open_stream returned neither a stream nor an error");
  std::lock_guard lock(bench.mutex_);
  bench.streams_.push_back(handle_);
}

Stream::~Stream() {
  if (!handle_) return;
  try {
    wait_with_notify();
  } catch (const std::exception&) {
    // Ignored here: the running check has already reported the fault, or the next check will.
  }
  {
    std::lock_guard lock(bench_.mutex_);
    std::erase(bench_.streams_, handle_);
  }
  bench_.calls().close_stream(handle_);
}

void Stream::write(const Buffer& to, uint64_t offset, const Bytes& from) const {
  const tenon_copy_region region = {host_place(from.data()), place_in(to, offset), from.size(), 0};
  expect_success(bench_.calls().copy(handle_, &region), "copy to the device");
}

void Stream::read(const Buffer& from, uint64_t offset, Bytes& to) const {
  const tenon_copy_region region = {place_in(from, offset), host_place(to.data()), to.size(), 0};
  expect_success(bench_.calls().copy(handle_, &region), "copy to the host");
}

void Stream::copy(const Buffer& from, uint64_t from_offset, const Buffer& to, uint64_t to_offset,
                  uint64_t size) const {
  const tenon_copy_region region = {place_in(from, from_offset), place_in(to, to_offset), size, 0};
  expect_success(bench_.calls().copy(handle_, &region), "copy on the device");
}

void Stream::fill(const Buffer& to, unsigned char byte) const {
  const tenon_fill_region region = {to.get(), 0, to.size(), byte, 1, 0};
  expect_success(bench_.calls().fill(handle_, &region), "fill");
}

// Records an event at the current end of the stream.
Event Stream::record() const {
  tenon_event_p* event = nullptr;
  expect_success(bench_.calls().record_event(handle_, &event), "record_event");
  require(event != nullptr, "record_event returned neither an event nor an error");
  return Event(bench_, event);
}

void Stream::wait_for(const Event& event) const {
  expect_success(bench_.calls().wait_event(handle_, event.get()), "wait_event");
}

// Waits at most 30 seconds for the callback of `notify` and returns the error that it received.
Failure Stream::wait_with_notify(const Bench& bench, tenon_stream_p* stream) {
  // Shared, because the answer may arrive after the timeout.
  struct Answer {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    bool destroyed = false;
    Failure failure;
  };
  const auto answer = std::make_shared<Answer>();
  const tenon_done_callback done = {
      .function =
          [](void* payload, const tenon_error* error) {
            const HostMemoryHolds holds;
            Answer& self = **static_cast<std::shared_ptr<Answer>*>(payload);
            std::lock_guard lock(self.mutex);
            self.done = true;
            if (error) {
              const tenon_string text = tenon_host_table()->error_message(error);
              self.failure = {tenon_host_table()->error_code(error),
                              std::string(text.data, text.size)};
            }
            self.changed.notify_all();
          },
      .payload = new std::shared_ptr<Answer>(answer),
      .destroy =
          [](void* payload) {
            const HostMemoryHolds holds;
            auto* const owner = static_cast<std::shared_ptr<Answer>*>(payload);
            const std::shared_ptr<Answer> self = *owner;
            delete owner;
            std::lock_guard lock(self->mutex);
            self->destroyed = true;
            self->changed.notify_all();
          },
  };
  expect_success(bench.calls().notify(stream, done), "notify");
  std::unique_lock lock(answer->mutex);
  answer->changed.wait_for(lock, kPatience, [&] { return answer->done && answer->destroyed; });
  require(answer->done, "notify did not call back within {} s", kPatience.count());
  require(answer->destroyed, "notify called back but did not destroy its callback");
  return answer->failure;
}

// Waits for the stream. Throws Fault if its work has failed.
void Stream::finish() const {
  const Failure failure = wait_with_notify();
  require(failure.code == TENON_OK, "the work of a stream failed: {}", failure.message);
}

Bytes Stream::read_now(const Buffer& from, uint64_t offset, uint64_t size) const {
  Bytes bytes(size, 0xee);
  read(from, offset, bytes);
  finish();
  return bytes;
}

void Stream::write_now(const Buffer& to, uint64_t offset, const Bytes& from) const {
  write(to, offset, from);
  finish();
}

void expect_bytes(const Bytes& got, const Bytes& want, const std::string& where) {
  const auto [a, b] = std::mismatch(got.begin(), got.end(), want.begin(), want.end());
  if (a == got.end() && b == want.end()) return;
  throw Fault(fmt::format("{}: byte {} of {} is {:#04x}, not {:#04x}", where, a - got.begin(),
                          want.size(), a == got.end() ? 0 : *a, b == want.end() ? 0 : *b));
}

}  // namespace tenon_kit::device
