#include "core/dispatch/scope.h"

#include <mutex>

#include "core/base/error.h"
#include "core/dispatch/composites.h"
#include "core/dispatch/profile_log.h"

namespace tenon {
namespace {

constinit thread_local Scope* current = nullptr;

// An address that is unique to this thread.
constinit thread_local char thread_mark = 0;

}  // namespace

Scope& current_scope() { return *current; }
Scope* find_current_scope() { return current; }

Scope::Scope(Context& context, Device* device)
    : Object(Kind::kScope),
      context_(context),
      is_default_(false),
      device_(device),
      kernels_(std::make_unique<std::array<CachedKernel, kCached>>()),
      repeated_(std::make_unique<RepeatedCalls>()) {
  context_.retain();
}

Scope::Scope(Context& context, Default)
    : Object(Kind::kScope),
      context_(context),
      is_default_(true),
      device_(nullptr),
      kernels_(std::make_unique<std::array<CachedKernel, kCached>>()),
      repeated_(std::make_unique<RepeatedCalls>()) {}

Scope::~Scope() {
  pending_.clear();
  reset_streams();
  repeated_.reset();
  kernels_.reset();
  composite_programs_.reset();  // Its kernels belong to devices, which the context closes.
  for (const auto& [device, stream] : streams_) device->calls().close_stream(stream);
  if (!is_default_) context_.release();
}

Device& Scope::device() {
  if (!device_) [[unlikely]]
    device_ = &context_.device("cpu");
  return *device_;
}

void Scope::push(Interpreter& interpreter) {
  interpreter.is_on_scope_ = true;
  interpreter.outer_ = innermost_;
  innermost_ = &interpreter;
  // While a Below exists, only calls inside it reach the new interpreter. The stack that begins at
  // top_ does not change.
  if (below_ == 0) top_ = innermost_;
}

// Marks the interpreters that are nested inside `until` as no longer on the stack.
void Scope::mark_off_scope(const Interpreter* until) {
  for (Interpreter* i = innermost_; i != until; i = i->outer_) i->is_on_scope_ = false;
}

// Removes an interpreter from any position of the stack. Returns true if the removal is deferred.
bool Scope::remove(Interpreter& interpreter) {
  interpreter.is_on_scope_ = false;
  Interpreter** at = &top_;
  while (*at && *at != &interpreter) at = &(*at)->outer_;
  // While a call runs inside a Below, the chain must stay intact, so unlinking is deferred until
  // the call ends. The same holds for a chain that an Apart hides.
  if (below_ > 0 || (!*at && traces_ > 0)) {
    interpreter.retain();
    interpreter.next_removed_ = std::exchange(removed_, &interpreter);
    return true;
  }
  if (*at) *at = interpreter.outer_;
  innermost_ = top_;
  return false;
}

Scope::Apart::Apart(Scope& scope)
    : scope_(scope),
      top_(std::exchange(scope.top_, nullptr)),
      innermost_(std::exchange(scope.innermost_, nullptr)),
      tracer_(std::exchange(scope.tracer_, nullptr)),
      cells_(std::exchange(scope.traced_cells_, nullptr)),
      value_errors_(std::exchange(scope.value_errors_, nullptr)),
      below_(std::exchange(scope.below_, 0)) {
  ++scope.traces_;
}

Scope::Apart::~Apart() {
  scope_.mark_off_scope(nullptr);
  scope_.top_ = top_;
  scope_.innermost_ = innermost_;
  scope_.tracer_ = tracer_;
  scope_.traced_cells_ = cells_;
  scope_.value_errors_ = value_errors_;
  scope_.below_ = below_;
  --scope_.traces_;
  if (below_ == 0 && scope_.removed_) scope_.unlink_removed();
}

Scope::Traced::Traced(Scope& scope, Interpreter& tracer, TracedCells& cells) : apart_(scope) {
  scope.top_ = scope.innermost_ = scope.tracer_ = &tracer;
  scope.traced_cells_ = &cells;
  tracer.outer_ = nullptr;
}

Scope::Recorded::Recorded(Scope& scope, LaunchRecorder& recorder)
    : scope_(scope), repeated_(std::exchange(scope.repeated_, std::make_unique<RepeatedCalls>())) {
  scope.recorder_ = &recorder;
}

Scope::Recorded::~Recorded() {
  scope_.repeated_ = std::move(repeated_);
  scope_.recorder_ = nullptr;
}

std::shared_ptr<ProfileTrack> Scope::profile_track() {
  const uint64_t log = context_.profiled();
  if (log == 0) return nullptr;
  if (!profile_track_ || profile_track_->number() != log) {
    profile_track_ = context_.new_profile_track();
  }
  return profile_track_;
}

// Removes an interpreter whose last handle was released. Returns true if the removal is deferred.
bool Scope::remove_released(Interpreter& interpreter) {
  interpreter.revive();
  const bool deferred = remove(interpreter);
  if (deferred) interpreter.release();
  return deferred;
}

Scope::Enter::Enter(Scope& scope) : scope_(scope), outer_(current) {
  const void* user = scope.user_.load(std::memory_order_relaxed);
  outermost_ = user == nullptr;
  if (outermost_) {
    scope.user_.store(&thread_mark, std::memory_order_relaxed);
    scope.seen_cancels_ = scope.cancels_.load(std::memory_order_relaxed) + scope.context_.cancels();
  } else {
    require_code(user == &thread_mark, Code::kFailedPrecondition,
                 "the scope is in use on another thread: give each thread a scope of its own");
  }
  current = &scope;
}

Scope::Enter::~Enter() {
  if (outermost_) scope_.user_.store(nullptr, std::memory_order_relaxed);
  current = outer_;
}

// Unlinks the interpreters whose removal was deferred.
void Scope::unlink_removed() {
  Interpreter* next = std::exchange(removed_, nullptr);
  while (Interpreter* const interpreter = next) {
    next = std::exchange(interpreter->next_removed_, nullptr);
    remove(*interpreter);
    interpreter->release();
  }
}

// Throws a value error of a launch, or defers it if a function is in progress.
void Scope::report_value_error(Error error) {
  if (!value_errors_) throw error;
  if (!value_errors_->first_) value_errors_->first_ = std::move(error);
}

void Scope::ValueErrors::raise() {
  if (!first_) return;
  if (!outer_) throw *first_;
  if (!outer_->first_) outer_->first_ = std::move(first_);
}

void Scope::fail_cancelled() { fail(Code::kCancelled, "cancelled"); }

tenon_stream_p* Scope::stream(Device& device) {
  for (const auto& [known, stream] : streams_) {
    if (known == &device) return stream;
  }
  auto& added = streams_.emplace_back(&device, nullptr);
  try {
    added.second = device.open_stream();
  } catch (...) {
    streams_.pop_back();
    throw;
  }
  return added.second;
}

// Returns this scope's work in progress on an asynchronous device.
PendingWork& Scope::pending(Device& device) {
  const StreamId stream = stream_id(device);
  for (const auto& work : pending_) {
    if (&work->device() == &device && work->stream() == stream) return *work;
  }
  pending_.push_back(std::make_unique<PendingWork>(device, stream, context_.next_serial()));
  return *pending_.back();
}

void Scope::set_stream(Device& device, StreamId stream) {
  if (device.synchronous()) return;
  if (stream != WorkQueue::kDefaultStream) device.queue().share_stream(stream);
  for (auto& [bound, bound_stream] : bound_streams_) {
    if (bound != &device) continue;
    const StreamId before = std::exchange(bound_stream, stream);
    if (before != WorkQueue::kDefaultStream) device.queue().release_stream(before);
    return;
  }
  bound_streams_.push_back({&device, stream});
}

void Scope::reset_streams() {
  for (const auto& [device, stream] : bound_streams_) {
    if (stream != WorkQueue::kDefaultStream) device->queue().release_stream(stream);
  }
  bound_streams_.clear();
}

void Scope::wait() {
  for (const auto& work : pending_) work->wait();
}

void Scope::wait(PendingWork::Done done) {
  // When the last device has finished, calls `done` with the first error of any device.
  struct Shared {
    std::mutex mutex;
    size_t left;
    std::shared_ptr<const ErrorInfo> error;
    PendingWork::Done done;
  };
  const auto shared = std::make_shared<Shared>();
  shared->left = pending_.size() + 1;
  shared->done = std::move(done);
  const auto one_less = [shared](const ErrorInfo* error) {
    std::unique_lock lock(shared->mutex);
    if (error && !shared->error) shared->error = std::make_shared<ErrorInfo>(*error);
    if (--shared->left > 0) return;
    lock.unlock();
    shared->done(shared->error.get());
  };
  for (const auto& work : pending_) {
    try {
      work->wait(one_less);
    } catch (const Error& error) {
      one_less(&error.info());
    }
  }
  one_less(nullptr);
}

CompositePlans& Scope::composite_plans() {
  if (!composite_programs_) composite_programs_ = new_composite_plans(context_);
  return *composite_programs_;
}

const PreparedKernel* Scope::find_kernel(Device& device, const OpDef& op, const KernelKey& key,
                                         std::span<const OperandInfo> inputs,
                                         std::span<const TensorType> outputs) {
  const uint64_t hash = key.hash();
  CachedKernel& slot = (*kernels_)[hash % kCached];
  if (slot.hash == hash && slot.device == &device && slot.key.op == key.op &&
      slot.key.words == key.words && slot.key.attrs == key.attrs) [[likely]] {
    return slot.kernel.get();
  }
  const std::string_view custom = op.id >> 31 ? std::string_view(op.name) : std::string_view();
  CachedKernel found = {hash, &device, key, OwnedAttrs(key.attrs),
                        device.kernels().find(key, custom, inputs, outputs)};
  found.key.attrs = found.attrs.view();
  slot = std::move(found);
  return slot.kernel.get();
}

}  // namespace tenon
