// What a profiler writes while it runs; see profiler.h.
//
// Times of a device's clock are kept as the device tells them. When all is known they become the
// host's, by one number for each device: no launch began before it was enqueued, and none ended
// after the host was told.

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

// The inputs of a span: their types in words.
using SpanWords = SmallVector<int64_t, 16>;

// Of one profiler.
class ProfileLog {
 public:
  class Merger;

  ProfileLog(uint64_t number, uint64_t max_events);

  // Never used twice.
  uint64_t number() const { return number_; }
  static std::shared_ptr<ProfileTrack> new_track(const std::shared_ptr<ProfileLog>& self);
  // Whether there is room for one more event, which is then taken.
  bool take_event();

  // A launch between two marks of its device's clock, which has finished.
  struct Marked {
    std::shared_ptr<ProfileTrack> track;
    uint32_t row;
    uint64_t enqueued, finished;  // By the host's clock.
    uint64_t begin, end;          // The marks.
  };

  // What an asynchronous device does is a lane of its own.
  uint32_t lane_of(Device& device);
  // Work that was enqueued then had finished: since when the device can have been busy with it.
  std::pair<uint64_t, uint64_t> occupy(uint32_t lane, uint64_t enqueued, uint64_t finished);
  // Keeps a launch until its marks are read, which a plugin's thread does not do.
  void add_marked(uint32_t lane, Marked launch);
  void read_marks(uint32_t lane);
  // Until all of those have finished what they were given.
  void drain();

  // Ends all tracks, and tells what is in them.
  std::unique_ptr<const Profile> close();

 private:
  struct Lane {
    Device* device;
    uint64_t busy_until = 0;
    std::vector<Marked> marked = {};
    // What is between the device's clock and the host's, at least and at most, once it is known.
    bool is_told = false;
    int64_t least_shift = std::numeric_limits<int64_t>::min();
    int64_t most_shift = std::numeric_limits<int64_t>::max();

    int64_t shift() const {
      const uint64_t room = static_cast<uint64_t>(most_shift) - static_cast<uint64_t>(least_shift);
      return is_told ? least_shift + static_cast<int64_t>(room) / 2 : 0;
    }
  };

  void read(uint32_t lane, const Marked& launch, Device& device);

  const uint64_t number_;
  const uint64_t start_;
  std::atomic<int64_t> left_;
  std::atomic<uint64_t> n_dropped_{0};
  std::mutex mutex_;  // Taken last.
  bool is_closed_ = false;
  std::vector<std::shared_ptr<ProfileTrack>> tracks_;
  std::vector<Lane> lanes_;
};

// Of one scope. Its open spans are those of the thread that is inside; a device's thread may tell
// of launches meanwhile.
class ProfileTrack : public std::enable_shared_from_this<ProfileTrack> {
 public:
  static constexpr uint32_t kNoRow = ~uint32_t{0};
  // With Profile::kLane, of an event whose start is by the device's clock.
  static constexpr uint32_t kByDevice = uint32_t{1} << 30;

  struct Open {
    SpanKind kind = SpanKind::kOp;
    std::string_view name;
    const Device* device = nullptr;
    SpanWords words;
    uint64_t start = 0;
    uint64_t inside = 0;  // What spans inside of it took.
    SpanTimes times;
    uint32_t row = kNoRow;

    // One more input, or those of a launch.
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

  // A span inside of the one that is open, for the caller to describe; it begins at start().
  Open& open(SpanKind kind, std::string_view name);
  void start();
  void end(const std::string& location);
  void drop();

  tenon_error* launch(Device& device, tenon_stream_p* stream, const PreparedKernel& kernel,
                      const tenon_launch& launch);
  std::shared_ptr<LaunchWatch> watch(Device& device, const tenon_launch& launch);
  std::function<void()> when_finished(Device& device);

  // A launch, or with kNoRow something else, has finished: as the host sees it, and as the device
  // tells.
  void add_finished(uint32_t lane, uint32_t row, uint64_t enqueued, uint64_t finished);
  void add_timed(uint32_t lane, uint32_t row, uint64_t begin, uint64_t end);

  // Gives all away; nothing is written any more.
  void close(ProfileLog::Merger& merger);

 private:
  class Watch;

  static void count(Open& span, Device& device, const tenon_launch& launch);
  uint32_t row_of(Open& span);
  uint32_t location_of(const std::string& location);
  void add_device_time(uint32_t row, DeviceClock clock, uint64_t start, uint64_t length,
                       uint32_t thread);

  const std::shared_ptr<ProfileLog> log_;
  std::vector<Open> open_;
  std::mutex mutex_;  // Of all below.
  bool is_closed_ = false;
  std::deque<Row> rows_;
  std::unordered_multimap<uint64_t, uint32_t> numbers_;  // Of rows, by their hashes.
  std::vector<Profile::Event> events_;
  std::vector<std::string> locations_ = {""};
  std::unordered_map<std::string, uint32_t> location_numbers_;
};

}  // namespace tenon
