#include "core/dispatch/profiler.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/dispatch/profile_log.h"

namespace tenon {

std::string_view name_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::kOp:
      return "op";
    case SpanKind::kFused:
      return "fused";
    case SpanKind::kFunction:
      return "function";
    case SpanKind::kTracing:
      return "tracing";
    case SpanKind::kCopy:
      return "copy";
  }
  return "";
}

void Times::add(const Times& other) {
  if (other.count == 0) return;
  least = count == 0 ? other.least : std::min(least, other.least);
  most = std::max(most, other.most);
  count += other.count;
  total += other.total;
}

void SpanTimes::add(const SpanTimes& other) {
  host.add(other.host);
  own.add(other.own);
  device.add(other.device);
  bytes += other.bytes;
  flops += other.flops;
  clock = less_exact_clock(clock, other.clock);
}

// Returns the less exact of two clocks.
DeviceClock less_exact_clock(DeviceClock a, DeviceClock b) {
  const bool has_completion = a == DeviceClock::kCompletion || b == DeviceClock::kCompletion;
  return has_completion ? DeviceClock::kCompletion : std::max(a, b);
}

// ---- the handle

Profiler::Profiler(Context& context, uint64_t max_events)
    : Object(Kind::kProfiler),
      context_(Ref<Context>::share(&context)),
      log_(std::make_shared<ProfileLog>(context.next_serial(), max_events)) {}

Ref<Profiler> Profiler::start(Context& context, uint64_t max_events) {
  Ref<Profiler> made = Ref<Profiler>::adopt(new Profiler(context, max_events));
  context.start_profile(made->log_);
  return made;
}

Profiler::~Profiler() {
  if (profile_) return;
  context_->stop_profile(*log_);
  log_->close();
}

void Profiler::stop() {
  std::lock_guard guard(mutex_);
  require_code(!profile_, Code::kFailedPrecondition, "the profiler was already stopped");
  context_->stop_profile(*log_);
  log_->drain();
  profile_ = log_->close();
}

const Profile* Profiler::find_profile() const {
  std::lock_guard guard(mutex_);
  return profile_.get();
}

const Profile& Profiler::profile() const {
  const Profile* found = find_profile();
  require_code(found != nullptr, Code::kFailedPrecondition,
               "the profiler is still running: stop it first");
  return *found;
}

// ---- spans

namespace {

// Returns the device of the first tensor, or the scope's device if there is none.
Device* device_of(Scope& scope, Inputs inputs) {
  for (const TensorImpl* x : inputs) {
    if (x && x->storage) return x->storage->device;
  }
  return &scope.device();
}

}  // namespace

void ProfileSpan::begin_op(Scope& scope, std::string_view op, Inputs inputs) {
  if (scope.traced_cells()) return;
  track_ = scope.profile_track();
  if (!track_) return;
  scope_ = &scope;
  ProfileTrack::Open& span = track_->open(SpanKind::kOp, op);
  span.device = device_of(scope, inputs);
  for (const TensorImpl* x : inputs) span.takes(x);
  track_->start();
}

void ProfileSpan::begin(Scope& scope, SpanKind kind, std::string_view name, TensorSpan inputs) {
  if (scope.traced_cells()) return;
  track_ = scope.profile_track();
  if (!track_) return;
  scope_ = &scope;
  ProfileTrack::Open& span = track_->open(kind, name);
  for (const Tensor& x : inputs) span.takes(x.get());
  track_->start();
}

void ProfileSpan::begin_copy(Scope& scope, std::string_view copy, const TensorType& type,
                             Device& device) {
  track_ = scope.profile_track();
  if (!track_) return;
  scope_ = &scope;
  ProfileTrack::Open& span = track_->open(SpanKind::kCopy, copy);
  span.device = &device;
  span.times.bytes = static_cast<uint64_t>(count(type.shape)) * size_of(type.dtype);
  span.takes(type);
  track_->start();
}

void ProfileSpan::begin_read(Scope& scope, const TensorImpl& x) {
  const bool is_on_device = x.storage && !x.storage->traced && !x.storage->list;
  if (is_on_device) begin_copy(scope, "to_host", x.type, *x.storage->device);
}

void ProfileSpan::begin_launch(Scope& scope, const LaunchSpan& as, const tenon_launch& launch) {
  track_ = scope.profile_track();
  if (!track_) return;
  scope_ = &scope;
  location_ = &as.location;
  ProfileTrack::Open& span = track_->open(as.kind, as.name);
  if (as.inputs.empty()) {
    span.takes(launch);
  } else {
    span.words = SpanWords(as.inputs);
  }
  track_->start();
}

void ProfileSpan::finish() {
  std::exchange(track_, nullptr)->end(location_ ? *location_ : scope_->location());
}

void ProfileSpan::drop() { track_->drop(); }

tenon_error* launch_profiled(Scope& scope, Device& device, const PreparedKernel& kernel,
                             const tenon_launch& launch) {
  tenon_stream_p* stream = scope.stream(device);
  if (const auto track = scope.profile_track()) {
    return track->launch(device, stream, kernel, launch);
  }
  return device.calls().launch(kernel.handle(), stream, &launch);
}

// Encodes the types of inputs, for a span that is recorded later.
std::vector<int64_t> input_words(std::span<const TensorImpl* const> inputs) {
  ProfileTrack::Open span;
  for (const TensorImpl* x : inputs) span.takes(x);
  return {span.words.begin(), span.words.end()};
}

// Returns the watch for a launch about to be enqueued; NULL if nothing is profiled.
std::shared_ptr<LaunchWatch> watch_profiled(Scope& scope, Device& device,
                                            const tenon_launch& launch) {
  if (!scope.is_profiled()) [[likely]]
    return {};
  const auto track = scope.profile_track();
  return track ? track->watch(device, scope.stream_id(device), launch) : nullptr;
}

std::function<void()> profiled_completion_callback(Scope& scope, Device& device) {
  if (!scope.is_profiled()) [[likely]]
    return {};
  const auto track = scope.profile_track();
  return track ? track->when_finished(device, scope.stream_id(device)) : std::function<void()>();
}

}  // namespace tenon
