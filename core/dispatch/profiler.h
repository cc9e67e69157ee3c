// Measures where a context spends its time. While a profiler runs, every op, launch of a launch
// plan, function call and copy between host and device is a span. Spans with the same name, input
// types and device share one row of a table. Each span is also an event, as long as there is room.
//
// Spans of a scope nest as its calls do. They are recorded in a track of that scope, which one
// thread at a time uses. If nothing is profiled, a call reads one word of its context and nothing
// else.
//
// A launch on a synchronous device returns when its work is done, so its duration is its device
// time. On an asynchronous device with a clock, each launch is put between two marks whose times
// the device reports. Without a clock, the host is notified when a launch has finished. Its device
// time then starts when the launch was enqueued and all earlier work had finished.

#pragma once

#include <tenon/plugin.h>

#include <functional>
#include <map>
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
  kOp,        // An op that was called, or launched by a launch plan.
  kFused,     // Ops that a launch plan runs as one fused launch.
  kFunction,  // A call of a function.
  kTracing,   // Tracing a function.
  kCopy       // Between host and device, or two devices.
};
std::string_view name_of(SpanKind kind);

// How device times were measured: around the call, by the notification, or by the device's clock.
enum class DeviceClock : int32_t { kNone, kLaunch, kCompletion, kDevice };
// The clock of summed times: the least exact of both.
DeviceClock common(DeviceClock a, DeviceClock b);

// In nanoseconds.
struct Times {
  uint64_t count = 0, total = 0, least = 0, most = 0;

  void add(uint64_t time) { add(Times{1, time, time, time}); }
  void add(const Times& other);
};

// Accumulated times of the spans in one row.
struct SpanTimes {
  Times host;          // From the span's begin to its end.
  Times own;           // The part of that outside nested spans.
  Times device;        // Of launches.
  uint64_t bytes = 0;  // Operands that launches read and wrote, or data copied.
  uint64_t flops = 0;  // Of ops for which the count is known.
  DeviceClock clock = DeviceClock::kNone;

  void add(const SpanTimes& other);
};

// The result of a profiler, available once it is stopped.
struct Profile {
  struct Row {
    SpanKind kind;
    std::string name, inputs, device;
    SpanTimes times;

    // The time that counts each moment once: device time if something was launched, else the host's
    // own time.
    const Times& time() const { return times.device.count ? times.device : times.own; }
  };
  struct Event {
    uint64_t start = 0, length = 0;
    uint64_t device_time = 0;  // Of the launches of a synchronous device.
    uint32_t row = 0;
    uint32_t thread = 0;    // From 1; kLane + n: lane n of an asynchronous device.
    uint32_t location = 0;  // 0: unknown.
  };
  static constexpr uint32_t kLane = uint32_t{1} << 31;

  std::vector<Row> rows;      // By total time, descending.
  std::vector<Event> events;  // By thread, then by time; outer events first.
  std::vector<std::string> locations = {""};
  std::vector<std::string> lanes;  // The names of asynchronous devices.
  // The drivers or libraries of the devices in the rows, by the devices' names.
  std::map<std::string, std::string> drivers;
  uint64_t start = 0, length = 0;  // While it ran.
  uint64_t n_dropped = 0;          // Events that did not fit.

  // A table as readable text.
  std::string table() const;
  // Writes a file in Chrome's JSON trace format, which Perfetto opens.
  void write_trace(const std::string& path) const;
};

class ProfileLog;

// A handle. Releasing it ends the profiling.
class Profiler final : public Object, public Pooled<Profiler> {
 public:
  static constexpr uint64_t kMaxEvents = 1'000'000;

  // Profiles every scope of the context, on every thread. Fails if another profiler is running
  // there.
  static Ref<Profiler> start(Context& context, uint64_t max_events = kMaxEvents);
  void release() const {
    if (drop()) delete this;
  }

  // Waits for launches on asynchronous devices that are still in progress. Open spans, on other
  // threads or around this call, are left out. Fails if the profiler was already stopped.
  void stop();
  // Fails while the profiler runs.
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

// Describes a launch that is a span of its own.
struct LaunchSpan {
  SpanKind kind;
  std::string_view name;
  const std::string& location;
  std::span<const int64_t> inputs;  // From input_words(); empty: take them from the launch.
};

// A span of a scope's calls. It counts only if end() is called, so failed calls do not count.
class ProfileSpan {
 public:
  // A call of an op. Not recorded while code is traced.
  ProfileSpan(Scope& scope, std::string_view op, Inputs inputs) {
    if (scope.is_profiled()) [[unlikely]]
      begin_op(scope, op, inputs);
  }
  ProfileSpan(Scope& scope, SpanKind kind, std::string_view name, TensorSpan inputs) {
    if (scope.is_profiled()) [[unlikely]]
      begin(scope, kind, name, inputs);
  }
  // A copy of `bytes` to or from a device.
  ProfileSpan(Scope& scope, std::string_view copy, const TensorType& type, Device& device) {
    if (scope.is_profiled()) [[unlikely]]
      begin_copy(scope, copy, type, device);
  }
  // Reading a tensor from a device.
  ProfileSpan(Scope& scope, const TensorImpl& x) {
    if (scope.is_profiled()) [[unlikely]]
      begin_read(scope, x);
  }
  // A launch of a launch plan. The location must outlive the span.
  ProfileSpan(Scope& scope, const LaunchSpan& as, const tenon_launch& launch) {
    if (scope.is_profiled()) [[unlikely]]
      begin_launch(scope, as, launch);
  }
  // Names must outlive the span.
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

// Launches on a synchronous device in a profiled scope, as part of the open span.
tenon_error* launch_profiled(Scope& scope, Device& device, const PreparedKernel& kernel,
                             const tenon_launch& launch);
// Encodes the types of inputs, for a span that is recorded later.
std::vector<int64_t> input_words(std::span<const TensorImpl* const> inputs);
// Returns the watch for a launch about to be enqueued on an asynchronous device; NULL if nothing is
// profiled.
std::shared_ptr<LaunchWatch> watch_profiled(Scope& scope, Device& device,
                                            const tenon_launch& launch);
// Returns the callback to run when a copy about to be enqueued has finished, since the copy may
// delay the next launch. Empty if nothing is profiled.
std::function<void()> when_profiled_finishes(Scope& scope, Device& device);

}  // namespace tenon
