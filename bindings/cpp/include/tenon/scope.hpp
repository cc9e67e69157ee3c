// Where calls happen: each thread has a current scope, and a guard makes another one current.
//
// A thread that says nothing computes in a scope of its own in the shared context.

#pragma once

#include <tenon/context.hpp>

namespace tenon {

class Scope {
 public:
  // On a device by name; empty for the CPU, which is opened when it is first needed.
  explicit Scope(const Context& context = Context::shared(), std::string_view device = {},
                 SourceLocation at = here())
      : handle_(detail::make<Shared>(at, [&](tenon_scope** out) {
          return tenon_scope_create(context.get(), detail::c_text(device), out);
        })) {}

  static Scope share(tenon_scope* scope) { return Scope(Shared::share(scope)); }

  void set_device(std::string_view name, SourceLocation at = here()) const {
    check(tenon_scope_set_device(get(), detail::c_text(name)), at);
  }

  Device device() const {
    tenon_device* device = nullptr;
    check(tenon_scope_get_device(get(), &device));
    return Device::adopt(device);
  }

  // Until all work that was started in it has finished.
  void wait(SourceLocation at = here()) const { check(tenon_scope_wait(get()), at); }

  // States the source line of the calls to come, such as "train.cc:12", instead of their own, for
  // Error::location(); an empty text ends that. In the code of a function it holds until that ends.
  void set_location(std::string_view location) const;

  // From any thread: its calls under way throw Code::kCancelled at their next check.
  void cancel() const { tenon_scope_cancel(get()); }

  tenon_scope* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_scope, tenon_scope_retain, tenon_scope_release>;
  explicit Scope(Shared handle) : handle_(std::move(handle)) {}

  Shared handle_;
};

namespace detail {

// The thread's current scope. Plain values, so that reading them costs no initialisation.
struct Current {
  tenon_scope* scope = nullptr;   // NULL until the thread computes, and while it traces.
  tenon_scope* traced = nullptr;  // The current scope while the code of a function is traced.
  bool is_stated = false;         // Whether that code stated a location of its own.
};
inline constinit thread_local Current current = {};

// Recorded ops keep the location of their scope, so that errors of later calls name it.
inline tenon_scope* traced_scope(SourceLocation at) {
  if (!current.is_stated) {
    if (const std::string location = at.str(); !location.empty()) {
      check(tenon_scope_set_location(current.traced, c_text(location)), at);
    }
  }
  return current.traced;
}

inline tenon_scope* find_scope(SourceLocation at) {
  if (current.traced) return traced_scope(at);
  static thread_local const Scope own;
  return current.scope = own.get();
}

}  // namespace detail

inline tenon_scope* current_scope(SourceLocation at = here()) {
  return detail::current.scope ? detail::current.scope : detail::find_scope(at);
}

inline void Scope::set_location(std::string_view location) const {
  if (detail::current.traced == get()) detail::current.is_stated = !location.empty();
  check(tenon_scope_set_location(get(), detail::c_text(location)));
}

// Makes a scope the thread's current one until the guard ends.
class ScopeGuard {
 public:
  explicit ScopeGuard(Scope scope)
      : scope_(std::move(scope)), before_(std::exchange(detail::current, of(scope_.get()))) {}
  // For a callback, in the scope that it received.
  explicit ScopeGuard(tenon_scope* scope) : ScopeGuard(Scope::share(scope)) {}
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;
  ~ScopeGuard() { detail::current = before_; }

 private:
  static detail::Current of(tenon_scope* scope) {
    if (!tenon_scope_is_tracing(scope)) return {.scope = scope};
    return {.traced = scope,
            .is_stated = detail::current.traced == scope && detail::current.is_stated};
  }

  Scope scope_;
  detail::Current before_;
};

// Sets the device of the current scope until the guard ends.
class DeviceGuard {
 public:
  explicit DeviceGuard(std::string_view name, SourceLocation at = here())
      : scope_(Scope::share(current_scope(at))), before_(scope_.device()) {
    scope_.set_device(name, at);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  // A device that was open stays open, so setting it again does not fail.
  ~DeviceGuard() {
    tenon_error_release(tenon_scope_set_device(scope_.get(), detail::c_text(before_.name())));
  }

 private:
  Scope scope_;
  Device before_;
};

inline Device current_device() { return Scope::share(current_scope()).device(); }

// By name, in the context of the current scope.
inline Device find_device(std::string_view name, SourceLocation at = here()) {
  tenon_device* device = nullptr;
  check(tenon_context_find_device(tenon_scope_context(current_scope(at)), detail::c_text(name),
                                  &device),
        at);
  return Device::adopt(device);
}

}  // namespace tenon
