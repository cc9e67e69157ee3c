// Measures where a context spends its time. While a profiler runs, every op, launch of a launch
// plan, function call and copy between host and device is a span. Spans with the same name, input
// types and device share one row of a table. Each span is also stored as an event, up to a maximum
// number of events.
//
// The spans of a scope are nested like its calls. They are recorded in a track of the scope, which
// is used by one thread at a time. Without a profiler, a call only reads one word of its context.
//
// A launch on a synchronous device returns when its work is done, so its duration is its device
// time. On an asynchronous device with a clock, a time mark is enqueued before and after each
// launch, and the device reports the times of both. Without a clock, the host is notified when a
// launch has finished. Its device time then starts when the launch was enqueued and all earlier
// work had finished.

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
  kCopy       // A copy between host and device, or between two devices.
};
std::string_view name_of(SpanKind kind);

// How device times were measured. kLaunch: by the host, around a synchronous launch. kCompletion:
// by the host, when it was notified. kDevice: by the device's clock.
enum class DeviceClock : int32_t { kNone, kLaunch, kCompletion, kDevice };
// Returns the less exact of two clocks. Used for the sum of their times.
DeviceClock less_exact_clock(DeviceClock a, DeviceClock b);

// Statistics of durations, in nanoseconds.
struct Times {
  uint64_t count = 0, total = 0, least = 0, most = 0;

  void add(uint64_t time) { add(Times{1, time, time, time}); }
  void add(const Times& other);
};

// Accumulated times of the spans in one row.
struct SpanTimes {
  Times host;          // Durations of the spans.
  Times own;           // Durations without nested spans.
  Times device;        // Device times of launches.
  uint64_t bytes = 0;  // Bytes of the operands of launches, or of copied data.
  uint64_t flops = 0;  // Floating-point operations of matmul and conv; other ops add 0.
  DeviceClock clock = DeviceClock::kNone;

  void add(const SpanTimes& other);
};

// The result of a profiler, available once it is stopped.
struct Profile {
  struct Row {
    SpanKind kind;
    std::string name, inputs, device;
    SpanTimes times;

    // Times that do not include nested spans twice: the device times if the row has launches,
    // otherwise the host times outside nested spans.
    const Times& time() const { return times.device.count ? times.device : times.own; }
  };
  struct Event {
    uint64_t start = 0, length = 0;
    uint64_t device_time = 0;  // Device time of the launches of a synchronous device.
    uint32_t row = 0;
    // Thread number from 1, or kLane + n for lane n of an asynchronous device.
    uint32_t thread = 0;
    uint32_t location = 0;  // 0: unknown.
  };
  static constexpr uint32_t kLane = uint32_t{1} << 31;

  std::vector<Row> rows;      // Sorted by total time, descending.
  std::vector<Event> events;  // Sorted by thread, then by time; outer events first.
  std::vector<std::string> locations = {""};
  std::vector<std::string> lanes;  // The names of asynchronous devices.
  // Drivers or libraries of the devices in the rows, keyed by device name.
  std::map<std::string, std::string> drivers;
  uint64_t start = 0, length = 0;  // Start and duration of profiling, in nanoseconds.
  uint64_t n_dropped = 0;          // Number of events beyond the maximum.

  // Formats the rows as a table.
  std::string table() const;
  // Writes a file in Chrome's JSON trace format, which Perfetto opens.
  void write_trace(const std::string& path) const;
};

class ProfileLog;

// The handle of a profiler. Releasing it ends profiling.
class Profiler final : public Object, public Pooled<Profiler> {
 public:
  static constexpr uint64_t kMaxEvents = 1'000'000;

  // Profiles every scope of the context, on every thread. Fails if the context is already being
  // profiled.
  static Ref<Profiler> start(Context& context, uint64_t max_events = kMaxEvents);
  void release() const {
    if (drop()) delete this;
  }

  // Waits for launches on asynchronous devices that are still in progress. The profile omits spans
  // that are still open, on other threads or around this call. Fails if the profiler was already
  // stopped.
  void stop();
  // Returns the result. Fails while the profiler runs.
  const Profile& profile() const;
  const Profile* find_profile() const;  // Returns NULL while the profiler runs.

 private:
  Profiler(Context& context, uint64_t max_events);
  ~Profiler();

  Ref<Context> context_;
  std::shared_ptr<ProfileLog> log_;
  mutable std::mutex mutex_;
  std::unique_ptr<const Profile> profile_;
};

// Describes a launch that is recorded as a span of its own.
struct LaunchSpan {
  SpanKind kind;
  std::string_view name;
  const std::string& location;
  std::span<const int64_t> inputs;  // From input_words(); empty: take them from the launch.
};

// Records the execution of one call as a span. A span without end() is dropped, so failed calls are
// not recorded.
class ProfileSpan {
 public:
  // The span of an op call. Not recorded while code is traced.
  ProfileSpan(Scope& scope, std::string_view op, Inputs inputs) {
    if (scope.is_profiled()) [[unlikely]]
      begin_op(scope, op, inputs);
  }
  ProfileSpan(Scope& scope, SpanKind kind, std::string_view name, TensorSpan inputs) {
    if (scope.is_profiled()) [[unlikely]]
      begin(scope, kind, name, inputs);
  }
  // The span of a copy of a tensor to or from a device.
  ProfileSpan(Scope& scope, std::string_view copy, const TensorType& type, Device& device) {
    if (scope.is_profiled()) [[unlikely]]
      begin_copy(scope, copy, type, device);
  }
  // The span of a read of a tensor from a device.
  ProfileSpan(Scope& scope, const TensorImpl& x) {
    if (scope.is_profiled()) [[unlikely]]
      begin_read(scope, x);
  }
  // The span of a launch in a launch plan. The location must outlive the span.
  ProfileSpan(Scope& scope, const LaunchSpan& as, const tenon_launch& launch) {
    if (scope.is_profiled()) [[unlikely]]
      begin_launch(scope, as, launch);
  }
  // Drops a span without end(). Names passed to the constructor must stay valid until here.
  ~ProfileSpan() {
    if (track_) [[unlikely]]
      drop();
  }
  ProfileSpan(const ProfileSpan&) = delete;

  // Ends the span and records it.
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
  // Records the span.
  void finish();
  // Discards the span.
  void drop();

  Scope* scope_;
  const std::string* location_ = nullptr;  // NULL: the location of the scope.
  std::shared_ptr<ProfileTrack> track_;
};

// Launches on a synchronous device and adds the device time to the open span.
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
std::function<void()> profiled_completion_callback(Scope& scope, Device& device);

}  // namespace tenon
