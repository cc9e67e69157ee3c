#include "core/dispatch/profile_log.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "core/base/error.h"

namespace tenon {
namespace {

// Returns the time of the host's clock in nanoseconds.
uint64_t now() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

// Returns the number of this thread, from 1.
uint32_t thread_number() {
  static constinit std::atomic<uint32_t> n_threads{0};
  static constinit thread_local uint32_t number = 0;
  if (number == 0) number = ++n_threads;
  return number;
}

// ---- inputs as words: a tensor's dtype and sizes, kNoTensor or kScalar

constexpr int64_t kNoTensor = -1, kScalar = -2;

// Encodes the dtype and the sizes of a tensor.
void add_words(SpanWords& words, const TensorType& type) {
  words.push_back(static_cast<int64_t>(type.dtype) | int64_t{type.lists} << 8 |
                  static_cast<int64_t>(type.rank()) << 16);
  for (const Size size : type.shape) words.push_back(size.word());
}

// Encodes the dtype and the sizes of a view. A broadcast axis has size 1, because the kernel reads
// one element of it.
void add_words(SpanWords& words, const tenon_view& view) {
  if (view.strides_class == TENON_STRIDES_ABSENT) {
    words.push_back(kNoTensor);
  } else if (!view.buffer) {
    words.push_back(kScalar);
  } else {
    words.push_back(static_cast<int64_t>(dtype_from_c(view.dtype)) | static_cast<int64_t>(view.rank)
                                                                         << 16);
    for (size_t axis = 0; axis < view.rank; ++axis) {
      words.push_back(view.strides[axis] == 0 ? 1 : view.sizes[axis]);
    }
  }
}

// Formats encoded types, separated by commas.
std::string text_of(const SpanWords& words) {
  std::string text;
  for (size_t i = 0; i < words.size();) {
    if (i > 0) text += ", ";
    const int64_t word = words[i++];
    if (word == kNoTensor || word == kScalar) {
      text += word == kScalar ? "scalar" : "none";
      continue;
    }
    TensorType type;
    type.dtype = static_cast<DType>(word & 0xff);
    type.lists = static_cast<uint8_t>(word >> 8 & 0xff);
    for (int64_t rank = word >> 16; rank > 0; --rank) type.shape.push_back(Size(words[i++]));
    text += to_string(type);
  }
  return text;
}

// ---- the work of a launch

// Number of distinct elements: broadcast axes are not counted.
uint64_t count_elements(const tenon_view& view) {
  uint64_t n = 1;
  for (size_t axis = 0; axis < view.rank; ++axis) {
    if (view.strides[axis] != 0) n *= static_cast<uint64_t>(view.sizes[axis]);
  }
  return n;
}

// Bytes of all operands in device memory.
uint64_t count_bytes(const tenon_launch& launch) {
  uint64_t bytes = 0;
  const auto add = [&](const tenon_view* views, size_t n) {
    for (const tenon_view* view = views; view != views + n; ++view) {
      if (!view->buffer) continue;
      bytes += count_elements(*view) * size_of(dtype_from_c(view->dtype));
    }
  };
  add(launch.inputs, launch.n_inputs);
  add(launch.outputs, launch.n_outputs);
  return bytes;
}

// Number of elements, including repeated ones of broadcast axes.
uint64_t count_all(const tenon_view& view) {
  uint64_t n = 1;
  for (size_t axis = 0; axis < view.rank; ++axis) n *= static_cast<uint64_t>(view.sizes[axis]);
  return n;
}

// Returns the name of a launch's op. For a fused launch, returns its first op, whose inputs are the
// first inputs of the launch.
std::string_view first_op_of(std::string_view name) {
  constexpr std::string_view kFused = "fused(";
  if (!name.starts_with(kFused)) return name;
  name.remove_prefix(kFused.size());
  return name.substr(0, name.find_first_of(" ,)"));
}

// Floating-point operations of a matmul or conv; 0 for other ops.
uint64_t count_flops(std::string_view name, const tenon_launch& launch) {
  const std::string_view op = first_op_of(name);
  const tenon_view* in = launch.inputs;
  const tenon_view& out = launch.outputs[0];
  // 2 flops for each element of the first input and each output column.
  if (op == "matmul" && out.rank >= 2) {
    return 2 * count_all(in[0]) * static_cast<uint64_t>(out.sizes[out.rank - 1]);
  }
  // 2 flops for each output element and each element of its filter.
  if (op == "conv" && in[1].rank >= 1 && in[1].sizes[0] > 0) {
    return 2 * count_all(out) * (count_all(in[1]) / static_cast<uint64_t>(in[1].sizes[0]));
  }
  return 0;
}

}  // namespace

// ---- tracks

ProfileTrack::Open& ProfileTrack::open(SpanKind kind, std::string_view name) {
  Open& made = open_.emplace_back();
  made.kind = kind;
  made.name = name;
  return made;
}

void ProfileTrack::Open::takes(const TensorType& type) { add_words(words, type); }

void ProfileTrack::Open::takes(const TensorImpl* x) {
  if (!x || x->is_scalar_value()) {
    words.push_back(x ? kScalar : kNoTensor);
  } else {
    takes(x->type);
  }
}

void ProfileTrack::Open::takes(const tenon_launch& launch) {
  for (uint32_t i = 0; i < launch.n_inputs; ++i) add_words(words, launch.inputs[i]);
}

void ProfileTrack::start() { open_.back().start = now(); }

// Returns the number of the row to which a span belongs. Adds the row if it is new.
uint32_t ProfileTrack::row_of(Open& span) {
  if (span.row != kNoRow) return span.row;
  uint64_t hash = std::hash<std::string_view>()(span.name);
  hash = detail::mix(hash, static_cast<uint64_t>(span.kind));
  hash = detail::mix(hash, reinterpret_cast<uintptr_t>(span.device));
  for (const int64_t word : span.words) hash = detail::mix(hash, static_cast<uint64_t>(word));
  const auto [first, last] = numbers_.equal_range(hash);
  for (auto at = first; at != last; ++at) {
    const Row& row = rows_[at->second];
    if (row.kind == span.kind && row.name == span.name && row.device == span.device &&
        row.words == span.words) {
      return span.row = at->second;
    }
  }
  span.row = static_cast<uint32_t>(rows_.size());
  rows_.push_back({span.kind, std::string(span.name), span.device, span.words, {}});
  numbers_.emplace(hash, span.row);
  return span.row;
}

uint32_t ProfileTrack::location_of(const std::string& location) {
  if (location.empty()) return 0;
  const auto [at, is_new] =
      location_numbers_.try_emplace(location, static_cast<uint32_t>(locations_.size()));
  if (is_new) locations_.push_back(location);
  return at->second;
}

// Discards the innermost open span.
void ProfileTrack::drop() { open_.pop_back(); }

void ProfileTrack::end(const std::string& location) {
  const uint64_t end = now();
  Open span = std::move(open_.back());
  open_.pop_back();
  const uint64_t length = end - span.start;
  if (!open_.empty()) open_.back().inside += length;
  std::lock_guard guard(mutex_);
  if (is_closed_) return;
  const uint32_t row = row_of(span);
  span.times.host.add(length);
  span.times.own.add(length - std::min(span.inside, length));
  rows_[row].times.add(span.times);
  if (!log_->try_reserve_event()) return;
  events_.push_back(
      {span.start, length, span.times.device.total, row, thread_number(), location_of(location)});
}

// Adds the bytes and the operations of a launch to a span.
void ProfileTrack::count(Open& span, Device& device, const tenon_launch& launch) {
  span.device = &device;
  span.times.bytes += count_bytes(launch);
  span.times.flops += count_flops(span.name, launch);
}

tenon_error* ProfileTrack::launch(Device& device, tenon_stream_p* stream,
                                  const PreparedKernel& kernel, const tenon_launch& launch) {
  const uint64_t start = now();
  tenon_error* error = device.calls().launch(kernel.handle(), stream, &launch);
  const uint64_t time = now() - start;
  if (open_.empty() || error) return error;
  Open& span = open_.back();
  count(span, device, launch);
  span.times.device.add(time);
  span.times.clock = DeviceClock::kLaunch;
  return nullptr;
}

// Reports a finished launch to its track. The times of its marks are read later, because finish()
// may run on a thread of the plugin, where the marks must not be read.
class ProfileTrack::Watch final : public LaunchWatch {
 public:
  Watch(std::shared_ptr<ProfileTrack> track, uint32_t lane, uint32_t row)
      : track_(std::move(track)), lane_(lane), row_(row), enqueued_(now()) {}

  void finish() override {
    if (begin && end) {
      track_->log_->add_marked(lane_, {track_, row_, enqueued_, now(), *begin, *end});
    } else {
      track_->add_finished(lane_, row_, enqueued_, now());
    }
  }

 private:
  const std::shared_ptr<ProfileTrack> track_;
  const uint32_t lane_, row_;
  const uint64_t enqueued_;
};

// Returns an object that adds an asynchronous launch to this track when it finishes.
std::shared_ptr<LaunchWatch> ProfileTrack::watch(Device& device, StreamId stream,
                                                 const tenon_launch& launch) {
  const uint32_t lane = log_->lane_of(device, stream);
  log_->read_marks(lane);
  uint32_t row = kNoRow;
  if (!open_.empty()) {
    Open& span = open_.back();
    count(span, device, launch);
    std::lock_guard guard(mutex_);
    if (!is_closed_) row = row_of(span);
  }
  return std::make_shared<Watch>(shared_from_this(), lane, row);
}

std::function<void()> ProfileTrack::when_finished(Device& device, StreamId stream) {
  return [self = shared_from_this(), lane = log_->lane_of(device, stream), enqueued = now()] {
    self->add_finished(lane, kNoRow, enqueued, now());
  };
}

void ProfileTrack::add_finished(uint32_t lane, uint32_t row, uint64_t enqueued, uint64_t finished) {
  const auto [start, end] = log_->assign_interval(lane, enqueued, finished);
  add_device_time(row, DeviceClock::kCompletion, start, end - start, Profile::kLane | lane);
}

void ProfileTrack::add_timed(uint32_t lane, uint32_t row, uint64_t begin, uint64_t end) {
  add_device_time(row, DeviceClock::kDevice, begin, end - begin, Profile::kLane | kByDevice | lane);
}

// Adds the device time of a launch, in nanoseconds, to a row, and records an event for the launch.
void ProfileTrack::add_device_time(uint32_t row, DeviceClock clock, uint64_t start, uint64_t length,
                                   uint32_t thread) {
  std::lock_guard guard(mutex_);
  if (is_closed_ || row == kNoRow) return;
  SpanTimes& times = rows_[row].times;
  times.device.add(length);
  times.clock = less_exact_clock(times.clock, clock);
  if (!log_->try_reserve_event()) return;
  events_.push_back({start, length, 0, row, thread, 0});
}

// ---- merging the tracks

// Merges the rows of all tracks into one table, keyed by their texts.
class ProfileLog::Merger {
 public:
  // shifts[i] is added to times of the device clock of lane i, which yields times of the host's
  // clock.
  Merger(Profile& profile, std::vector<int64_t> shifts)
      : profile_(profile), shifts_(std::move(shifts)) {}

  void add(const std::deque<ProfileTrack::Row>& rows, const std::vector<Profile::Event>& events,
           const std::vector<std::string>& locations) {
    std::vector<uint32_t> numbers;
    for (const ProfileTrack::Row& row : rows) {
      if (row.device) add_driver(*row.device);
      Profile::Row made = {row.kind, row.name, text_of(row.words),
                           row.device ? row.device->name() : "", row.times};
      const std::string key = made.name + '\n' + made.inputs + '\n' + made.device + '\n' +
                              std::to_string(static_cast<int>(made.kind));
      const auto [at, is_new] =
          numbers_.try_emplace(key, static_cast<uint32_t>(profile_.rows.size()));
      numbers.push_back(at->second);
      if (is_new) {
        profile_.rows.push_back(std::move(made));
      } else {
        profile_.rows[at->second].times.add(row.times);
      }
    }
    const auto first_location = static_cast<uint32_t>(profile_.locations.size());
    profile_.locations.insert(profile_.locations.end(), locations.begin() + 1, locations.end());
    for (Profile::Event event : events) {
      event.row = numbers[event.row];
      if (event.location != 0) event.location += first_location - 1;
      constexpr uint32_t kOnDeviceClock = Profile::kLane | ProfileTrack::kByDevice;
      if ((event.thread & kOnDeviceClock) == kOnDeviceClock) {
        event.thread &= ~ProfileTrack::kByDevice;
        event.start += static_cast<uint64_t>(shifts_[event.thread & ~Profile::kLane]);
      }
      profile_.events.push_back(event);
    }
  }

  void add_driver(const Device& device) {
    if (!devices_.insert(&device).second) return;
    try {
      const tenon_string driver = device.describe().driver;
      if (driver.size > 0) profile_.drivers[device.name()] = {driver.data, driver.size};
    } catch (const Error&) {  // A lost device cannot report its driver. The profile omits it.
    }
  }

  // Sorts rows and events, and makes times relative to the start of the profile.
  void finish() {
    std::vector<uint32_t> order(profile_.rows.size()), places(profile_.rows.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return profile_.rows[a].time().total > profile_.rows[b].time().total;
    });
    std::vector<Profile::Row> rows;
    for (const uint32_t i : order) {
      places[i] = static_cast<uint32_t>(rows.size());
      rows.push_back(std::move(profile_.rows[i]));
    }
    profile_.rows = std::move(rows);
    for (Profile::Event& event : profile_.events) {
      event.row = places[event.row];
      event.start -= std::min(event.start, profile_.start);
    }
    // A span is recorded when it ends, so inner spans precede outer ones. Reverses this order.
    std::reverse(profile_.events.begin(), profile_.events.end());
    std::stable_sort(profile_.events.begin(), profile_.events.end(),
                     [](const Profile::Event& a, const Profile::Event& b) {
                       if (a.thread != b.thread) return a.thread < b.thread;
                       return a.start != b.start ? a.start < b.start : a.length > b.length;
                     });
  }

 private:
  Profile& profile_;
  const std::vector<int64_t> shifts_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::set<const Device*> devices_;  // Devices whose drivers were recorded.
};

void ProfileTrack::close(ProfileLog::Merger& merger) {
  std::lock_guard guard(mutex_);
  is_closed_ = true;
  merger.add(rows_, events_, locations_);
  rows_.clear();
  numbers_.clear();
  events_ = {};
}

// ---- logs

std::shared_ptr<ProfileTrack> ProfileLog::new_track(const std::shared_ptr<ProfileLog>& self) {
  std::lock_guard guard(self->mutex_);
  self->tracks_.push_back(std::make_shared<ProfileTrack>(self));
  return self->tracks_.back();
}

bool ProfileLog::try_reserve_event() {
  if (left_.load(std::memory_order_relaxed) > 0 &&
      left_.fetch_sub(1, std::memory_order_relaxed) > 0) {
    return true;
  }
  n_dropped_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

// Returns the lane that shows the work of a stream of an asynchronous device.
uint32_t ProfileLog::lane_of(Device& device, StreamId stream) {
  std::lock_guard guard(mutex_);
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].device == &device && lanes_[i].stream == stream) return i;
  }
  lanes_.push_back({&device, stream});
  return static_cast<uint32_t>(lanes_.size() - 1);
}

// Returns the interval in which the device can have executed this work.
std::pair<uint64_t, uint64_t> ProfileLog::assign_interval(uint32_t lane, uint64_t enqueued,
                                                          uint64_t finished) {
  std::lock_guard guard(mutex_);
  uint64_t& busy_until = lanes_[lane].busy_until;
  const uint64_t start = std::max(enqueued, busy_until);
  busy_until = std::max(finished, start);
  return {start, busy_until};
}

// Stores a launch until its time marks are read.
void ProfileLog::add_marked(uint32_t lane, Marked launch) {
  std::lock_guard guard(mutex_);
  if (!is_closed_) lanes_[lane].marked.push_back(std::move(launch));
}

void ProfileLog::read_marks(uint32_t lane) {
  std::vector<Marked> launches;
  Device* device;
  StreamId stream;
  {
    std::lock_guard guard(mutex_);
    launches.swap(lanes_[lane].marked);
    device = lanes_[lane].device;
    stream = lanes_[lane].stream;
  }
  for (const Marked& launch : launches) read_launch_marks(lane, launch, *device, stream);
}

void ProfileLog::read_launch_marks(uint32_t lane, const Marked& launch, Device& device,
                                   StreamId stream) {
  const std::optional<uint64_t> begin = device.queue().read_time(stream, launch.begin);
  const std::optional<uint64_t> end = device.queue().read_time(stream, launch.end);
  if (!begin || !end || *end < *begin) {
    return launch.track->add_finished(lane, launch.row, launch.enqueued, launch.finished);
  }
  {
    std::lock_guard guard(mutex_);
    Lane& at = lanes_[lane];
    at.has_clock_bounds = true;
    at.min_offset = std::max(at.min_offset, static_cast<int64_t>(launch.enqueued - *begin));
    at.max_offset = std::min(at.max_offset, static_cast<int64_t>(launch.finished - *end));
  }
  launch.track->add_timed(lane, launch.row, *begin, *end);
}

void ProfileLog::drain() {
  std::vector<Device*> devices;
  {
    std::lock_guard guard(mutex_);
    for (const Lane& lane : lanes_) devices.push_back(lane.device);
  }
  for (uint32_t lane = 0; lane < devices.size(); ++lane) {
    if (devices[lane]->can_wait()) devices[lane]->drain();
    read_marks(lane);
  }
}

std::unique_ptr<const Profile> ProfileLog::close() {
  auto profile = std::make_unique<Profile>();
  profile->start = start_;
  profile->length = now() - start_;
  std::vector<int64_t> shifts;
  std::vector<std::shared_ptr<ProfileTrack>> tracks;
  {
    std::lock_guard guard(mutex_);
    is_closed_ = true;
    tracks.swap(tracks_);
    for (Lane& lane : lanes_) {
      std::string name = lane.device->name();
      if (lane.stream != 0) name += format(" stream {}", {uint32_t{lane.stream}});
      profile->lanes.push_back(std::move(name));
      shifts.push_back(lane.shift());
      lane.marked.clear();
    }
  }
  Merger merger(*profile, std::move(shifts));
  for (const auto& track : tracks) track->close(merger);
  merger.finish();
  profile->n_dropped = n_dropped_.load(std::memory_order_relaxed);
  return profile;
}

ProfileLog::ProfileLog(uint64_t number, uint64_t max_events)
    : number_(number),
      start_(now()),
      left_(static_cast<int64_t>(std::min(max_events, uint64_t{1} << 40))) {}

}  // namespace tenon
