// The spans and events that a profiler records while it runs (profiler.h).
//
// Times of a device's clock are stored unconverted while profiling. When profiling ends, one offset
// per device maps them to the host's clock. The offset satisfies two bounds: no launch began before
// it was enqueued, and none ended after the host was notified.

#pragma once

#include <atomic>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/dispatch/profiler.h"

namespace tenon {

// The input types of a span, encoded as words.
using SpanWords = SmallVector<int64_t, 16>;

// The log of one profiler.
class ProfileLog {
 public:
  class Merger;

  ProfileLog(uint64_t number, uint64_t max_events);

  // Unique; never reused.
  uint64_t number() const { return number_; }
  static std::shared_ptr<ProfileTrack> new_track(const std::shared_ptr<ProfileLog>& self);
  // Reserves space for one more event. Returns false if the maximum number of events is reached.
  bool try_reserve_event();

  // A finished launch between two marks of its device's clock.
  struct Marked {
    std::shared_ptr<ProfileTrack> track;
    uint32_t row;
    uint64_t enqueued, finished;  // Times of the host's clock.
    uint64_t begin, end;          // Numbers of the time marks before and after the launch.
  };

  // Returns the lane that shows the work of a stream of an asynchronous device.
  uint32_t lane_of(Device& device, StreamId stream);
  // Returns the interval in which the device can have executed this work.
  std::pair<uint64_t, uint64_t> assign_interval(uint32_t lane, uint64_t enqueued,
                                                uint64_t finished);
  // Stores a launch until its marks are read, which must not happen on a plugin's thread.
  void add_marked(uint32_t lane, Marked launch);
  // Reads the marks of the stored launches, and adds the launches to their tracks.
  void read_marks(uint32_t lane);
  // Waits until all devices that have a lane have finished their work.
  void drain();

  // Closes all tracks and returns their contents.
  std::unique_ptr<const Profile> close();

 private:
  struct Lane {
    Device* device;
    StreamId stream;
    uint64_t busy_until = 0;
    std::vector<Marked> marked = {};
    // Bounds of the offset from the device's clock to the host's. Valid if has_clock_bounds is
    // true.
    bool has_clock_bounds = false;
    int64_t min_offset = std::numeric_limits<int64_t>::min();
    int64_t max_offset = std::numeric_limits<int64_t>::max();

    int64_t shift() const {
      const uint64_t room = static_cast<uint64_t>(max_offset) - static_cast<uint64_t>(min_offset);
      return has_clock_bounds ? min_offset + static_cast<int64_t>(room) / 2 : 0;
    }
  };

  // Reads the marks of one launch.
  void read_launch_marks(uint32_t lane, const Marked& launch, Device& device, StreamId stream);

  const uint64_t number_;
  const uint64_t start_;
  std::atomic<int64_t> left_;
  std::atomic<uint64_t> n_dropped_{0};
  std::mutex mutex_;  // Last in the lock order.
  bool is_closed_ = false;
  std::vector<std::shared_ptr<ProfileTrack>> tracks_;
  std::vector<Lane> lanes_;
};

// The spans of one scope. The thread that uses the scope opens and ends spans. At the same time,
// threads of devices may report launches.
class ProfileTrack : public std::enable_shared_from_this<ProfileTrack> {
 public:
  static constexpr uint32_t kNoRow = ~uint32_t{0};
  // A flag of Event::thread, set together with Profile::kLane: the start of the event is a time of
  // the device's clock.
  static constexpr uint32_t kByDevice = uint32_t{1} << 30;

  struct Open {
    SpanKind kind = SpanKind::kOp;
    std::string_view name;
    const Device* device = nullptr;
    SpanWords words;
    uint64_t start = 0;
    uint64_t inside = 0;  // Time spent in nested spans.
    SpanTimes times;
    uint32_t row = kNoRow;

    // Adds the type of an input, or the types of all inputs of a launch.
    void takes(const TensorType& type);
    void takes(const TensorImpl* x);
    void takes(const tenon_launch& launch);
  };
  struct Row {
    SpanKind kind;
    std::string name;
    const Device* device;
    SpanWords words;
    SpanTimes times;
  };

  explicit ProfileTrack(std::shared_ptr<ProfileLog> log) : log_(std::move(log)) {}

  uint64_t number() const { return log_->number(); }

  // Opens a nested span for the caller to describe. Its time begins at start().
  Open& open(SpanKind kind, std::string_view name);
  // Sets the start of the innermost open span to the current time.
  void start();
  // Ends the innermost open span and records it.
  void end(const std::string& location);
  // Discards the innermost open span.
  void drop();

  // Launches on a synchronous device, and adds the time to the innermost open span.
  tenon_error* launch(Device& device, tenon_stream_p* stream, const PreparedKernel& kernel,
                      const tenon_launch& launch);
  // Returns an object that adds an asynchronous launch to this track when it finishes.
  std::shared_ptr<LaunchWatch> watch(Device& device, StreamId stream, const tenon_launch& launch);
  std::function<void()> when_finished(Device& device, StreamId stream);

  // Adds a finished launch or, if `row` is kNoRow, other finished work. The times are of the host's
  // clock in add_finished(), and of the device's clock in add_timed().
  void add_finished(uint32_t lane, uint32_t row, uint64_t enqueued, uint64_t finished);
  void add_timed(uint32_t lane, uint32_t row, uint64_t begin, uint64_t end);

  // Moves all contents to `merger`; nothing is recorded afterwards.
  void close(ProfileLog::Merger& merger);

 private:
  class Watch;

  // Adds the bytes and the operations of a launch to a span.
  static void count(Open& span, Device& device, const tenon_launch& launch);
  // Returns the number of the row to which a span belongs. Adds the row if it is new.
  uint32_t row_of(Open& span);
  // Returns the number of a source line; 0 for an empty one.
  uint32_t location_of(const std::string& location);
  // Adds the device time of a launch, in nanoseconds, to a row, and records an event for it.
  void add_device_time(uint32_t row, DeviceClock clock, uint64_t start, uint64_t length,
                       uint32_t thread);

  const std::shared_ptr<ProfileLog> log_;
  std::vector<Open> open_;
  std::mutex mutex_;  // Guards the members below.
  bool is_closed_ = false;
  std::deque<Row> rows_;
  std::unordered_multimap<uint64_t, uint32_t> numbers_;  // Row numbers by the rows' hashes.
  std::vector<Profile::Event> events_;
  std::vector<std::string> locations_ = {""};
  std::unordered_map<std::string, uint32_t> location_numbers_;
};

}  // namespace tenon
