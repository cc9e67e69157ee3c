// A scope is the environment of calls: the current device, the stack of interpreters, and the
// caches that make repeated calls cheap. One thread at a time uses it, so it needs no locks.

#pragma once

#include <tenon/plugin.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/device/device.h"
#include "core/dispatch/context.h"
#include "core/dispatch/interpreter.h"
#include "core/dispatch/pending_work.h"
#include "core/dispatch/repeated_calls.h"

namespace tenon {

class CompositePlans;
class LaunchRecorder;
class ProfileTrack;
class TracedCells;

class Scope final : public Object, public Pooled<Scope> {
 public:
  // If `device` is NULL, the scope uses "cpu", looked up on first use.
  explicit Scope(Context& context, Device* device = nullptr);
  ~Scope();

  // A context owns its default scope, so a handle to that scope retains the context.
  void retain() const { is_default_ ? context_.retain() : Object::retain(); }
  void release() const {
    if (is_default_) {
      context_.release();
    } else if (drop()) {
      delete this;
    }
  }

  Context& context() const { return context_; }
  Device& device();
  void set_device(Device& device) { device_ = &device; }

  // While an OnDevice exists, `device` is the current device. Decompositions and derivatives use it
  // to create constants on the device of their inputs.
  class OnDevice {
   public:
    OnDevice(Scope& scope, Device& device)
        : scope_(scope), saved_(std::exchange(scope.device_, &device)) {}
    ~OnDevice() { scope_.device_ = saved_; }
    OnDevice(const OnDevice&) = delete;

   private:
    Scope& scope_;
    Device* saved_;
  };

  // The user's source line for error messages; empty if unknown.
  void set_location(std::string location) { location_ = std::move(location); }
  const std::string& location() const { return location_; }

  // While an AtLine exists, `location` is the source line of the scope, unless `location` is empty.
  class AtLine {
   public:
    AtLine(Scope& scope, const std::string& location) : scope_(scope), other_(!location.empty()) {
      if (other_) saved_ = std::exchange(scope.location_, location);
    }
    ~AtLine() {
      if (other_) scope_.location_ = std::move(saved_);
    }
    AtLine(const AtLine&) = delete;

   private:
    Scope& scope_;
    bool other_;
    std::string saved_;
  };

  // ---- interpreters ----
  // The interpreter that receives calls; NULL if calls run eagerly.
  Interpreter* innermost() const { return innermost_; }
  // The values of cells while tracing; NULL if the scope is not tracing.
  TracedCells* traced_cells() const { return traced_cells_; }
  // Makes an interpreter the innermost one.
  void push(Interpreter& interpreter);
  // Removes an interpreter from any position of the stack. Returns true if the removal is deferred
  // until the calls in progress end.
  bool remove(Interpreter& interpreter);
  // Removes an interpreter whose last handle was released. Returns true if the removal is deferred
  // because calls are in progress inside the interpreter. It is destroyed when these calls end.
  bool remove_released(Interpreter& interpreter);

  // While a Below exists, calls bypass `interpreter` and the interpreters inside it. They reach
  // outer interpreters and those that are pushed later.
  class Below {
   public:
    Below(Scope& scope, const Interpreter& interpreter) : Below(scope, interpreter.outer_) {}
    ~Below() {
      if (scope_.innermost_ != from_) [[unlikely]]
        scope_.mark_off_scope(from_);
      scope_.innermost_ = saved_;
      if (--scope_.below_ == 0 && scope_.removed_) scope_.unlink_removed();
    }
    Below(const Below&) = delete;

   protected:
    Below(Scope& scope, Interpreter* from) : scope_(scope), saved_(scope.innermost_), from_(from) {
      scope.innermost_ = from;
      ++scope.below_;
    }

   private:
    Scope& scope_;
    Interpreter *saved_, *from_;
  };

  // While an Unrecorded exists, only tapes that are pushed later record calls.
  class Unrecorded : private Below {
   public:
    explicit Unrecorded(Scope& scope) : Below(scope, scope.tracer_) {}
  };

  // Defers value errors, such as an index out of range. While a ValueErrors exists, a value error
  // does not stop the calls of the scope. A function runs to its end and stores its states before
  // the error is thrown.
  class ValueErrors {
   public:
    explicit ValueErrors(Scope& scope)
        : scope_(scope), outer_(std::exchange(scope.value_errors_, this)) {}
    ~ValueErrors() { scope_.value_errors_ = outer_; }
    ValueErrors(const ValueErrors&) = delete;

    bool any() const { return first_.has_value(); }
    // Throws the first error, if there is one, or passes it to an enclosing ValueErrors.
    void raise();

   private:
    friend class Scope;
    Scope& scope_;
    ValueErrors* outer_;
    std::optional<Error> first_;
  };
  // Throws a value error of a launch, or defers it if a function is in progress.
  void report_value_error(Error error);
  // defers_value_errors() returns whether value errors are deferred. has_value_error() returns
  // whether there is a deferred one.
  bool defers_value_errors() const { return value_errors_ != nullptr; }
  bool has_value_error() const { return value_errors_ && value_errors_->any(); }

  // While an Apart exists, calls reach only interpreters that are pushed later. Host code thus runs
  // as if no function, tape or trace were active.
  class Apart {
   public:
    explicit Apart(Scope& scope);
    ~Apart();
    Apart(const Apart&) = delete;

   private:
    Scope& scope_;
    Interpreter *top_, *innermost_, *tracer_;
    TracedCells* cells_;
    ValueErrors* value_errors_;
    int below_;
  };

  // While a Traced exists, calls are traced: they go to `tracer` and to interpreters that are
  // pushed later, but not to outer ones.
  class Traced {
   public:
    Traced(Scope& scope, Interpreter& tracer, TracedCells& cells);
    Traced(const Traced&) = delete;

   private:
    Apart apart_;
  };

  // The recorder of the scope's launches; NULL if none is active.
  LaunchRecorder* recorder() const { return recorder_; }

  // While a Recorded exists, `recorder` records the launches of the scope. The cache of repeated
  // calls is replaced by an empty one.
  class Recorded {
   public:
    Recorded(Scope& scope, LaunchRecorder& recorder);
    ~Recorded();
    Recorded(const Recorded&) = delete;

   private:
    Scope& scope_;
    std::unique_ptr<RepeatedCalls> repeated_;
  };

  // Whether a profiler is active (core/dispatch/profiler.h).
  bool is_profiled() const { return context_.profiled() != 0; }
  // The track that records spans; NULL if profiling has ended.
  std::shared_ptr<ProfileTrack> profile_track();

  // ---- entry ----
  // Every C ABI call that computes holds an Enter. It makes the scope current on this thread, and
  // rejects a second thread.
  class Enter {
   public:
    explicit Enter(Scope& scope);
    ~Enter();
    Enter(const Enter&) = delete;

   private:
    Scope& scope_;
    Scope* outer_;
    bool outermost_;
  };

  // Makes the calls in progress fail with CANCELLED.
  void cancel() { cancels_.fetch_add(1, std::memory_order_relaxed); }
  // Throws CANCELLED if the scope or its context was cancelled since the outermost entry.
  void check_cancelled() const {
    if (is_cancelled()) [[unlikely]]
      fail_cancelled();
  }
  bool is_cancelled() const {
    return seen_cancels_ != cancels_.load(std::memory_order_relaxed) + context_.cancels();
  }

  // ---- devices ----
  // This scope's stream on a synchronous device.
  tenon_stream_p* stream(Device& device);
  // The stream on which calls of this scope run on a device.
  StreamId stream_id(const Device& device) const {
    for (const auto& [bound, stream] : bound_streams_) {
      if (bound == &device) return stream;
    }
    return WorkQueue::kDefaultStream;
  }
  // Makes later calls on an asynchronous device run on this stream.
  void set_stream(Device& device, StreamId stream);
  // Makes later calls run on the default streams of all devices.
  void reset_streams();
  // This scope's work in progress on its stream of an asynchronous device.
  PendingWork& pending(Device& device);
  // Blocks until all work that the scope enqueued has finished. Throws its first error that was not
  // reported before.
  void wait();
  // Does not block: when the work has finished, passes its error, or NULL, to `done` on any thread.
  void wait(PendingWork::Done done);
  // Launches on synchronous devices report value errors in this record.
  tenon_error_record& error_record() { return record_; }

  // ---- kernels ----
  // Finds a kernel in the scope's own cache of prepared kernels, without a lock.
  const PreparedKernel* find_kernel(Device& device, const OpDef& op, const KernelKey& key,
                                    std::span<const OperandInfo> inputs,
                                    std::span<const TensorType> outputs);

  // The fast path for repeated calls.
  RepeatedCalls& repeated() { return *repeated_; }
  // The cached launches of composite ops that ran in this scope.
  CompositePlans& composite_plans();

 private:
  static constexpr size_t kCached = 512;
  struct CachedKernel {
    uint64_t hash = 0;
    const Device* device = nullptr;
    KernelKey key;
    OwnedAttrs attrs;
    Ref<const PreparedKernel> kernel;
  };

  [[noreturn]] static void fail_cancelled();
  // Unlinks the interpreters whose removal was deferred.
  void unlink_removed();
  // Marks the interpreters inside `until`, which were pushed but not removed, as no longer on the
  // stack.
  void mark_off_scope(const Interpreter* until);

  friend class Context;
  struct Default {};
  // Creates the default scope, which does not retain the context, because the context owns it.
  Scope(Context& context, Default);

  Context& context_;
  bool is_default_;
  Device* device_;
  std::string location_;
  Interpreter* top_ = nullptr;  // The stack, innermost first.
  // The interpreter that receives calls: top_ or, while a Below exists, an outer one.
  Interpreter* innermost_ = nullptr;
  // While tracing, the outermost interpreter that calls reach; otherwise NULL.
  Interpreter* tracer_ = nullptr;
  TracedCells* traced_cells_ = nullptr;
  ValueErrors* value_errors_ = nullptr;
  LaunchRecorder* recorder_ = nullptr;
  std::shared_ptr<ProfileTrack> profile_track_;
  int below_ = 0;
  int traces_ = 0;
  // The interpreters to be unlinked: an intrusive list, so that releasing a tape does not allocate.
  Interpreter* removed_ = nullptr;
  std::atomic<const void*> user_{nullptr};  // The thread inside the scope, if any.
  std::atomic<uint64_t> cancels_{0};
  uint64_t seen_cancels_ = 0;
  SmallVector<std::pair<Device*, tenon_stream_p*>, 4> streams_;
  tenon_error_record record_ = {};
  SmallVector<std::unique_ptr<PendingWork>, 1> pending_;
  // The streams of asynchronous devices other than their default streams.
  SmallVector<std::pair<Device*, StreamId>, 1> bound_streams_;
  std::unique_ptr<std::array<CachedKernel, kCached>> kernels_;
  std::unique_ptr<RepeatedCalls> repeated_;
  std::unique_ptr<CompositePlans> composite_programs_;  // Created on first use.
};

// Returns the scope of the call in progress on this thread. Requires that there is one.
Scope& current_scope();
// Returns the scope of the call in progress on this thread, or NULL.
Scope* find_current_scope();

}  // namespace tenon
