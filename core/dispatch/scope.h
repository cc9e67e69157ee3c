// A scope: where calls happen. It holds the current device, the stack of interpreters, and what
// makes repeated calls cheap. One thread at a time uses it; nothing in it is locked.

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
#include "core/dispatch/repeat.h"

namespace tenon {

class CompositePrograms;
class LaunchRecorder;
class ProfileTrack;
class TracedCells;

class Scope final : public Object, public Pooled<Scope> {
 public:
  // NULL for the device: "cpu", looked up when it is first needed.
  explicit Scope(Context& context, Device* device = nullptr);
  ~Scope();

  // A handle to a context's default scope, which the context owns, keeps the context.
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

  // While it lives, the current device is another: constants of a formula lie where its inputs do.
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

  // The user's source line, for messages; empty for none.
  void set_location(std::string location) { location_ = std::move(location); }
  const std::string& location() const { return location_; }

  // While it lives, the line is another, unless that is empty.
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
  Interpreter* innermost() const { return innermost_; }
  // What cells hold for the code of this scope, if it is under trace.
  TracedCells* traced_cells() const { return traced_cells_; }
  void push(Interpreter& interpreter);
  // Takes it off wherever it stands. True if that waits until calls under way are done.
  bool remove(Interpreter& interpreter);
  // The same for one whose last handle is gone. True if calls are under way below it: it is then
  // destroyed when they are done.
  bool remove_last(Interpreter& interpreter);

  // While it lives, calls go to the interpreters outside of `interpreter`, and to what is pushed
  // meanwhile.
  class Below {
   public:
    Below(Scope& scope, const Interpreter& interpreter) : Below(scope, interpreter.outer_) {}
    ~Below() {
      if (scope_.innermost_ != from_) [[unlikely]]
        scope_.leave_behind(from_);
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

  // While it lives, no tape records but those that are pushed meanwhile.
  class Unrecorded : private Below {
   public:
    explicit Unrecorded(Scope& scope) : Below(scope, scope.tracer_) {}
  };

  // Keeps what launches find wrong with values, such as an index out of range: while it lives, that
  // does not stop the calls of the scope. A function runs to its end and stores its states first.
  class ValueErrors {
   public:
    explicit ValueErrors(Scope& scope)
        : scope_(scope), outer_(std::exchange(scope.value_errors_, this)) {}
    ~ValueErrors() { scope_.value_errors_ = outer_; }
    ValueErrors(const ValueErrors&) = delete;

    bool any() const { return first_.has_value(); }
    // Throws the first error, if there is one; hands it on to a function further out.
    void raise();

   private:
    friend class Scope;
    Scope& scope_;
    ValueErrors* outer_;
    std::optional<Error> first_;
  };
  // Throws what a launch found wrong with a value, or keeps it for the function under way.
  void report_value_error(Error error);
  // Whether value errors are kept; whether there is one.
  bool keeps_value_errors() const { return value_errors_ != nullptr; }
  bool has_value_error() const { return value_errors_ && value_errors_->any(); }

  // While it lives, calls reach what is pushed meanwhile, and nothing further out: code of the host
  // runs as it would by itself.
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

  // While it lives, code is under trace: calls go to `tracer` and to what is pushed meanwhile, and
  // no further out.
  class Traced {
   public:
    Traced(Scope& scope, Interpreter& tracer, TracedCells& cells);
    Traced(const Traced&) = delete;

   private:
    Apart apart_;
  };

  // Who writes down the launches of the scope; NULL for nobody.
  LaunchRecorder* recorder() const { return recorder_; }

  // While it lives, that is `recorder`, and no call is known to repeat an earlier one.
  class Recorded {
   public:
    Recorded(Scope& scope, LaunchRecorder& recorder);
    ~Recorded();
    Recorded(const Recorded&) = delete;

   private:
    Scope& scope_;
    std::unique_ptr<RepeatedCalls> repeated_;
  };

  // Whether somebody wants to know what calls take (core/dispatch/profiler.h).
  bool is_profiled() const { return context_.profiled() != 0; }
  // Where that is written; NULL if nobody wants to know it any more.
  std::shared_ptr<ProfileTrack> profile_track();

  // ---- entry ----
  // Every call of the C ABI that computes holds one: it makes the scope current on this thread, and
  // refuses a second thread.
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

  void cancel() { cancels_.fetch_add(1, std::memory_order_relaxed); }
  // Throws CANCELLED if somebody cancelled the scope or its context since the outermost entry.
  void check_cancelled() const {
    if (is_cancelled()) [[unlikely]]
      fail_cancelled();
  }
  bool is_cancelled() const {
    return seen_cancels_ != cancels_.load(std::memory_order_relaxed) + context_.cancels();
  }

  // ---- devices ----
  // This scope's stream of a synchronous device.
  tenon_stream_p* stream(Device& device);
  // What this scope has under way on an asynchronous device.
  PendingWork& pending(Device& device);
  // Blocks until all that the scope enqueued has finished, and throws its first error that nobody
  // was told of.
  void wait();
  // The same without blocking; the error, or NULL, goes to `done`, on any thread.
  void wait(PendingWork::Done done);
  tenon_error_record& error_record() { return record_; }

  // ---- kernels ----
  // Prepared kernels that this scope used, found without a lock.
  const PreparedKernel* find_kernel(Device& device, const OpDef& op, const KernelKey& key,
                                    std::span<const OperandInfo> inputs,
                                    std::span<const TensorType> outputs);

  RepeatedCalls& repeated() { return *repeated_; }
  // What composites became that ran here before.
  CompositePrograms& composite_programs();

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
  void unlink_removed();
  // Takes off what was pushed further in than `until` and not removed.
  void leave_behind(const Interpreter* until);

  friend class Context;
  struct Default {};
  Scope(Context& context, Default);  // Does not keep the context, which owns it.

  Context& context_;
  bool is_default_;
  Device* device_;
  std::string location_;
  Interpreter* top_ = nullptr;        // The stack, innermost first.
  Interpreter* innermost_ = nullptr;  // Where calls go now: top_, or further out below one.
  Interpreter* tracer_ = nullptr;     // The outermost that calls reach, if code is under trace.
  TracedCells* traced_cells_ = nullptr;
  ValueErrors* value_errors_ = nullptr;
  LaunchRecorder* recorder_ = nullptr;
  std::shared_ptr<ProfileTrack> profile_track_;
  int below_ = 0;
  int traces_ = 0;
  Interpreter* removed_ = nullptr;          // A list, so that releasing a tape allocates nothing.
  std::atomic<const void*> user_{nullptr};  // The thread that is inside, if one is.
  std::atomic<uint64_t> cancels_{0};
  uint64_t seen_cancels_ = 0;
  SmallVector<std::pair<Device*, tenon_stream_p*>, 4> streams_;
  tenon_error_record record_ = {};
  SmallVector<std::unique_ptr<PendingWork>, 1> pending_;
  std::unique_ptr<std::array<CachedKernel, kCached>> kernels_;
  std::unique_ptr<RepeatedCalls> repeated_;
  std::unique_ptr<CompositePrograms> composite_programs_;  // Once there is one.
};

// The scope of the call under way on this thread. There always is one where the core computes.
Scope& current_scope();
// NULL where there is none.
Scope* find_current_scope();

}  // namespace tenon
