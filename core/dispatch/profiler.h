// Where the time of a context goes: while a profiler runs, every op, launch of a program, call of a
// function and copy between host and device is a span. Spans that are alike, by their names, the
// types of their inputs and their device, are one row of a table; each by itself is an event, as
// long as there is room.
//
// Spans of a scope nest as its calls do, and are written to a track of that scope: one thread at a
// time uses it. Where nobody profiles, a call reads one word of its context and nothing else.
//
// A launch on a synchronous device returns when its work is done, so that is its device time. On an
// asynchronous one with a clock a launch is put between two marks, whose times the device tells.
// Without a clock the host is told when a launch has finished: its device time is from there back
// to when the device could begin with it, which is when it was enqueued and what was before it had
// finished.

#pragma once

#include <tenon/plugin.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/kernel_table.h"
#include "core/dispatch/context.h"
#include "core/dispatch/pending_work.h"
#include "core/dispatch/scope.h"
#include "core/tensor/tensor.h"

namespace tenon {

enum class SpanKind : int32_t {
  kOp,        // An op that was called, or launched by a program.
  kFused,     // Ops that a program launches as one.
  kFunction,  // A call of a function.
  kTracing,   // Writing a function down.
  kCopy       // Between host and device, or two devices.
};
std::string_view name_of(SpanKind kind);

// How device times were found: around the call, when the host was told, or by the device itself.
enum class DeviceClock : int32_t { kNone, kLaunch, kCompletion, kDevice };
// Of times that are added up: the least exact of theirs.
DeviceClock common(DeviceClock a, DeviceClock b);

// In nanoseconds.
struct Times {
  uint64_t count = 0, total = 0, least = 0, most = 0;

  void add(uint64_t time) { add(Times{1, time, time, time}); }
  void add(const Times& other);
};

// What there is to say of spans that are alike.
struct SpanTimes {
  Times host;          // From a span's begin to its end.
  Times own;           // The part of that which is of no span inside of it.
  Times device;        // Of launches.
  uint64_t bytes = 0;  // Of operands that launches read and wrote, or of what was copied.
  uint64_t flops = 0;  // Of ops for which that is known.
  DeviceClock clock = DeviceClock::kNone;

  void add(const SpanTimes& other);
};

// What a profiler has found, once it is stopped.
struct Profile {
  struct Row {
    SpanKind kind;
    std::string name, inputs, device;
    SpanTimes times;

    // What is counted once and adds up: device time where something was launched, else the host's
    // own.
    const Times& time() const { return times.device.count ? times.device : times.own; }
  };
  struct Event {
    uint64_t start = 0, length = 0;
    uint64_t device_time = 0;  // Of the launches of a synchronous device.
    uint32_t row = 0;
    uint32_t thread = 0;    // From 1; kLane and a number: what such a device did.
    uint32_t location = 0;  // 0: not known.
  };
  static constexpr uint32_t kLane = uint32_t{1} << 31;

  std::vector<Row> rows;      // Those first that took most time.
  std::vector<Event> events;  // By threads and then by time, outer ones first.
  std::vector<std::string> locations = {""};
  std::vector<std::string> lanes;  // The names of asynchronous devices.
  uint64_t start = 0, length = 0;  // While it ran.
  uint64_t n_dropped = 0;          // Events for which there was no room.

  // For people.
  std::string table() const;
  // A file in the JSON format of Chrome's traces, which Perfetto opens.
  void write_trace(const std::string& path) const;
};

class ProfileLog;

// A handle: what it profiles ends with it.
class Profiler final : public Object, public Pooled<Profiler> {
 public:
  static constexpr uint64_t kMaxEvents = 1'000'000;

  // Every scope of the context, on every thread. Fails if another runs there.
  static Ref<Profiler> start(Context& context, uint64_t max_events = kMaxEvents);
  void release() const {
    if (drop()) delete this;
  }

  // Waits for launches of asynchronous devices that are still under way. Spans that are not at
  // their end, on other threads or around this call, are left out. Fails if it was stopped before.
  void stop();
  // Fails while it runs.
  const Profile& profile() const;
  const Profile* find_profile() const;  // NULL while it runs.

 private:
  Profiler(Context& context, uint64_t max_events);
  ~Profiler();

  Ref<Context> context_;
  std::shared_ptr<ProfileLog> log_;
  mutable std::mutex mutex_;
  std::unique_ptr<const Profile> profile_;
};

// What a launch is called that is a span of its own.
struct LaunchSpan {
  SpanKind kind;
  std::string_view name;
  const std::string& location;
  std::span<const int64_t> inputs;  // As input_words(); empty: as the launch shows them.
};

// A span of the calls of a scope. It counts if it comes to its end(): what fails does not.
class ProfileSpan {
 public:
  // Of an op; nothing where code is only traced.
  ProfileSpan(Scope& scope, std::string_view op, Inputs inputs) {
    if (scope.is_profiled()) [[unlikely]]
      begin_op(scope, op, inputs);
  }
  ProfileSpan(Scope& scope, SpanKind kind, std::string_view name, TensorSpan inputs) {
    if (scope.is_profiled()) [[unlikely]]
      begin(scope, kind, name, inputs);
  }
  // Of a copy of `bytes` to or from a device.
  ProfileSpan(Scope& scope, std::string_view copy, const TensorType& type, Device& device) {
    if (scope.is_profiled()) [[unlikely]]
      begin_copy(scope, copy, type, device);
  }
  // Of reading a tensor that lies on a device.
  ProfileSpan(Scope& scope, const TensorImpl& x) {
    if (scope.is_profiled()) [[unlikely]]
      begin_read(scope, x);
  }
  // Of a launch of a program. Its location lives as long as the span.
  ProfileSpan(Scope& scope, const LaunchSpan& as, const tenon_launch& launch) {
    if (scope.is_profiled()) [[unlikely]]
      begin_launch(scope, as, launch);
  }
  // Names live as long as the span.
  ~ProfileSpan() {
    if (track_) [[unlikely]]
      drop();
  }
  ProfileSpan(const ProfileSpan&) = delete;

  void end() {
    if (track_) [[unlikely]]
      finish();
  }

 private:
  void begin_op(Scope& scope, std::string_view op, Inputs inputs);
  void begin(Scope& scope, SpanKind kind, std::string_view name, TensorSpan inputs);
  void begin_copy(Scope& scope, std::string_view copy, const TensorType& type, Device& device);
  void begin_read(Scope& scope, const TensorImpl& x);
  void begin_launch(Scope& scope, const LaunchSpan& as, const tenon_launch& launch);
  void finish();
  void drop();

  Scope* scope_;
  const std::string* location_ = nullptr;  // NULL: the scope's.
  std::shared_ptr<ProfileTrack> track_;
};

// Launches on a synchronous device, where the scope is profiled: as part of the span under way.
tenon_error* launch_profiled(Scope& scope, Device& device, const PreparedKernel& kernel,
                             const tenon_launch& launch);
// The types of inputs, for a span that tells of them later.
std::vector<int64_t> input_words(std::span<const TensorImpl* const> inputs);
// On an asynchronous one, who watches the launch that is enqueued now; NULL where nobody profiles.
std::shared_ptr<LaunchWatch> watch_profiled(Scope& scope, Device& device,
                                            const tenon_launch& launch);
// What is to run when a copy that is enqueued now has finished, since it may hold up the next
// launch; empty where nobody profiles.
std::function<void()> when_profiled_finishes(Scope& scope, Device& device);

}  // namespace tenon
