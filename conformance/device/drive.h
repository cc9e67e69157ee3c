// Calls the slots of a plugin's table directly, without the core. The checks of levels 0 and 1 use
// it.
//
// The host table is the core's own, except that it records errors and failed launches. A violation
// of the contract throws Fault or Leak. A check that does not apply to the device throws
// Unsupported.

#pragma once

#include <fmt/format.h>
#include <tenon/plugin.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tenon_kit::device {

struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Leak : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws a Fault with a formatted message unless `holds`.
template <class... Args>
void require(bool holds, fmt::format_string<Args...> words, Args&&... args) {
  if (!holds) throw Fault(fmt::format(words, std::forward<Args>(args)...));
}

// The plugin and device under test, and how to open them.
struct Subject {
  tenon_plugin_query query = nullptr;
  std::string file;  // Empty if unknown.
  std::vector<std::pair<std::string, std::string>> options;
  size_t index = 0;      // Index of the device.
  bool thorough = true;  // Whether to use larger sizes and more iterations.
};

using Bytes = std::vector<unsigned char>;
Bytes pseudorandom_bytes(size_t size, uint32_t seed);  // Pseudorandom bytes without short cycles.

// ---- the host ----

const tenon_host& host_table();

// An error that a plugin returned.
struct Failure {
  tenon_code code = TENON_OK;
  std::string message;
};
// Takes ownership of an error. Throws Fault unless all fields are set and make_error of our host
// table made it.
Failure take_failure(tenon_error* error);
// Throws a Fault that names `call` if `error` is not NULL.
void expect_success(tenon_error* error, const char* call);
// Throws a Fault that names `call` if `error` is NULL; else takes ownership of the error.
Failure expect_failure(tenon_error* error, const char* call);
// Number of errors that plugins have not released yet.
size_t n_live_errors();

struct FailedLaunch {
  void* work;
  uint64_t ticket;
  Failure failure;
};
// Returns the calls of launch_failed since the last call of this function.
std::vector<FailedLaunch> take_failed_launches();
// Throws Fault with the first of these failures, of a `what`.
void expect_none_failed(const char* what);

// ---- the plugin ----

// The plugin as its query function describes it, with all functions (slots) of its table.
struct Plugin {
  explicit Plugin(const Subject& subject, const tenon_host& host = host_table());

  const tenon_plugin* facts = nullptr;
  tenon_plugin_calls calls = {};
  tenon_host host = {};

  // Returns entry (line) `i` of the plugin's kernel list.
  const tenon_kernel& kernel_entry(size_t i) const;
};

class Stream;
class Buffer;

// An instance and one of its devices, closed by the destructor.
class Bench {
 public:
  explicit Bench(const Subject& subject, const tenon_host& host = host_table());
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench();

  const Plugin& plugin() const { return plugin_; }
  const tenon_plugin_calls& calls() const { return plugin_.calls; }
  tenon_instance_p* instance() const { return instance_; }
  tenon_device_p* device() const { return device_; }
  const tenon_device_properties& properties() const { return properties_; }
  bool has(tenon_features feature) const { return (properties_.features & feature) == feature; }
  void require_feature(tenon_features feature,
                       const char* name) const;  // Throws Unsupported otherwise.

  // Returns the device's memory statistics.
  tenon_memory_statistics statistics() const;

 private:
  friend class Stream;
  friend class Buffer;

  // Waits for all open streams. A failed check may leave work that uses its buffers, which are
  // about to be released.
  void settle() const;

  Plugin plugin_;
  mutable std::mutex mutex_;
  mutable std::vector<tenon_stream_p*> streams_;  // Open streams.
  tenon_instance_p* instance_ = nullptr;
  tenon_device_p* device_ = nullptr;
  tenon_device_properties properties_ = {};
};

// The subject's instance options, in the C struct that the plugin receives.
class InstanceOptions {
 public:
  explicit InstanceOptions(const Subject& subject, uint32_t threads = 0);
  InstanceOptions(const InstanceOptions&) = delete;
  void add(const char* key, const char* value);
  tenon_instance_options get() const;

 private:
  std::vector<tenon_string> keys_, values_;
  uint32_t threads_;
};

class Buffer {
 public:
  Buffer(const Bench& bench, uint64_t size);
  Buffer(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  tenon_buffer_p* get() const { return handle_; }
  uint64_t size() const { return size_; }

 private:
  const Bench& bench_;
  tenon_buffer_p* handle_ = nullptr;
  uint64_t size_;
};

class Event {
 public:
  Event(const Bench& bench, tenon_event_p* handle) : bench_(bench), handle_(handle) {}
  Event(Event&& other) noexcept
      : bench_(other.bench_), handle_(std::exchange(other.handle_, nullptr)) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();
  tenon_event_p* get() const { return handle_; }

 private:
  const Bench& bench_;
  tenon_event_p* handle_;
};

// A stream, closed by the destructor after its work has finished.
class Stream {
 public:
  explicit Stream(const Bench& bench);
  Stream(Stream&& other) noexcept
      : bench_(other.bench_), handle_(std::exchange(other.handle_, nullptr)) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  tenon_stream_p* get() const { return handle_; }

  // These functions enqueue work. Host memory must stay valid until finish() has returned.
  void write(const Buffer& to, uint64_t offset, const Bytes& from) const;
  void read(const Buffer& from, uint64_t offset, Bytes& to) const;
  void copy(const Buffer& from, uint64_t from_offset, const Buffer& to, uint64_t to_offset,
            uint64_t size) const;
  void fill(const Buffer& to, unsigned char byte) const;  // Fills the whole buffer.
  // Records an event at the current end of the stream.
  Event record() const;
  // Makes later work of this stream wait for the event. Does not block.
  void wait_for(const Event& event) const;

  // Waits for the stream with `notify`, which every device has, and returns the error it reports.
  // Throws Fault after 30 seconds.
  Failure wait_with_notify() const { return wait_with_notify(bench_, handle_); }
  static Failure wait_with_notify(const Bench& bench, tenon_stream_p* stream);
  // Waits for the stream. Throws Fault if its work has failed.
  void finish() const;

  // Copy between the host and a buffer, and wait for the copy.
  Bytes read_now(const Buffer& from, uint64_t offset, uint64_t size) const;
  void write_now(const Buffer& to, uint64_t offset, const Bytes& from) const;

 private:
  const Bench& bench_;
  tenon_stream_p* handle_ = nullptr;
};

// Returns the place at byte `offset` after the host address `at`.
inline tenon_place host_place(const void* at, uint64_t offset = 0) {
  return {nullptr, const_cast<void*>(at), offset, 0};
}
// Returns the place at byte `offset` of a buffer.
inline tenon_place place_in(const Buffer& buffer, uint64_t offset = 0) {
  return {buffer.get(), nullptr, offset, 0};
}

// Throws a Fault that names the first byte in which `got` differs from `want`; `where` describes
// the data.
void expect_bytes(const Bytes& got, const Bytes& want, const std::string& where);

}  // namespace tenon_kit::device
