// Scopes: calls run in the thread's current scope. A ScopeGuard changes the current scope.
//
// By default, each thread has its own scope in the shared context.

#pragma once

#include <tenon/context.hpp>
#include <tenon/stream.hpp>

namespace tenon {

class Scope {
 public:
  // Creates a scope on the device with this name. An empty name selects the CPU, which is opened on
  // first use.
  explicit Scope(const Context& context = Context::shared(), std::string_view device = {},
                 SourceLocation at = here())
      : handle_(detail::make<Shared>(at, [&](tenon_scope** out) {
          return tenon_scope_create(context.get(), detail::c_text(device), out);
        })) {}

  // Adds a reference to an object that the caller keeps.
  static Scope share(tenon_scope* scope) { return Scope(Shared::share(scope)); }

  // Sets the current device, which holds new tensors and runs calls without tensors.
  void set_device(std::string_view name, SourceLocation at = here()) const {
    check(tenon_scope_set_device(get(), detail::c_text(name)), at);
  }

  // Returns the current device of the scope.
  Device device() const {
    tenon_device* device = nullptr;
    check(tenon_scope_get_device(get(), &device));
    return Device::adopt(device);
  }

  // Makes later calls on the stream's device run on the stream.
  void set_stream(const Stream& stream, SourceLocation at = here()) const {
    check(tenon_scope_set_stream(get(), stream.get()), at);
  }
  // Makes later calls run on the default streams of all devices.
  void reset_streams(SourceLocation at = here()) const {
    check(tenon_scope_set_stream(get(), nullptr), at);
  }
  // Returns the stream on which calls run on the current device.
  Stream stream(SourceLocation at = here()) const {
    tenon_stream* stream = nullptr;
    check(tenon_scope_get_stream(get(), &stream), at);
    return Stream::adopt(stream);
  }

  // Blocks until all work that was started in the scope has finished.
  void wait(SourceLocation at = here()) const { check(tenon_scope_wait(get()), at); }

  // Sets the source location that errors of the following calls report, for example "train.cc:12".
  // An empty text restores the lines of the calls. A location that is set inside a function's
  // lambda applies until the lambda returns.
  void set_location(std::string_view location) const;

  // Cancels the scope's running calls: they throw Code::kCancelled when they next check for
  // cancellation. Any thread may call cancel().
  void cancel() const { tenon_scope_cancel(get()); }

  tenon_scope* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_scope, tenon_scope_retain, tenon_scope_release>;
  explicit Scope(Shared handle) : handle_(std::move(handle)) {}

  Shared handle_;
};

namespace detail {

// The thread's current scope. All members have constant initial values, so thread-local accesses
// need no initialisation check.
struct Current {
  tenon_scope* scope = nullptr;    // NULL before the thread's first call and while it traces.
  tenon_scope* traced = nullptr;   // The scope of the trace while a function is traced.
  bool has_user_location = false;  // Whether the traced lambda called set_location().
};
inline constinit thread_local Current current = {};

// Stores the line of the call in the scope that is traced. Traced ops keep it, so that later errors
// of the trace report it. Returns the scope.
inline tenon_scope* traced_scope(SourceLocation at) {
  if (!current.has_user_location) {
    if (const std::string location = at.str(); !location.empty()) {
      check(tenon_scope_set_location(current.traced, c_text(location)), at);
    }
  }
  return current.traced;
}

// Returns the scope in which the thread is tracing, or else the thread's own scope.
inline tenon_scope* find_scope(SourceLocation at) {
  if (current.traced) return traced_scope(at);
  static thread_local const Scope own;
  return current.scope = own.get();
}

}  // namespace detail

// Returns the thread's current scope. `at` is the line of the call, which traced ops store.
inline tenon_scope* current_scope(SourceLocation at = here()) {
  return detail::current.scope ? detail::current.scope : detail::find_scope(at);
}

inline void Scope::set_location(std::string_view location) const {
  if (detail::current.traced == get()) detail::current.has_user_location = !location.empty();
  check(tenon_scope_set_location(get(), detail::c_text(location)));
}

// Makes a scope the current one of this thread, until the guard is destroyed.
class ScopeGuard {
 public:
  explicit ScopeGuard(Scope scope)
      : scope_(std::move(scope)), before_(std::exchange(detail::current, of(scope_.get()))) {}
  // Makes `scope`, which a callback received, the current scope of this thread.
  explicit ScopeGuard(tenon_scope* scope) : ScopeGuard(Scope::share(scope)) {}
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;
  ~ScopeGuard() { detail::current = before_; }

 private:
  // Returns the state of a thread whose current scope is `scope`.
  static detail::Current of(tenon_scope* scope) {
    if (!tenon_scope_is_tracing(scope)) return {.scope = scope};
    return {
        .traced = scope,
        .has_user_location = detail::current.traced == scope && detail::current.has_user_location};
  }

  Scope scope_;
  detail::Current before_;
};

// Sets the device of the current scope, until the guard is destroyed.
class DeviceGuard {
 public:
  explicit DeviceGuard(std::string_view name, SourceLocation at = here())
      : scope_(Scope::share(current_scope(at))), before_(scope_.device()) {
    scope_.set_device(name, at);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  // Restores the previous device. This cannot fail, because devices stay open.
  ~DeviceGuard() {
    tenon_error_release(tenon_scope_set_device(scope_.get(), detail::c_text(before_.name())));
  }

 private:
  Scope scope_;
  Device before_;
};

inline Device current_device() { return Scope::share(current_scope()).device(); }

// Finds a device by name in the context of the current scope.
inline Device find_device(std::string_view name, SourceLocation at = here()) {
  tenon_device* device = nullptr;
  check(tenon_context_find_device(tenon_scope_context(current_scope(at)), detail::c_text(name),
                                  &device),
        at);
  return Device::adopt(device);
}

}  // namespace tenon
