// Where calls happen: each thread has a current scope, and a guard makes another one current.
//
// A thread that says nothing computes in a scope of its own in the shared context.

#pragma once

#include <tenon/context.hpp>

namespace tenon {

class Scope {
 public:
  // On a device by name; empty for the CPU, which is opened when it is first needed.
  explicit Scope(const Context& context = Context::shared(), std::string_view device = {})
      : handle_(detail::make<Shared>([&](tenon_scope** out) {
          return tenon_scope_create(context.get(), detail::c_text(device), out);
        })) {}

  static Scope share(tenon_scope* scope) { return Scope(Shared::share(scope)); }

  void set_device(std::string_view name) const {
    check(tenon_scope_set_device(get(), detail::c_text(name)));
  }

  Device device() const {
    tenon_device* device = nullptr;
    check(tenon_scope_get_device(get(), &device));
    return Device::adopt(device);
  }

  // Until all work that was started in it has finished.
  void wait() const { check(tenon_scope_wait(get())); }

  // The source line of the calls to come, such as "train.cc:12", for Error::location().
  void set_location(std::string_view location) const {
    check(tenon_scope_set_location(get(), detail::c_text(location)));
  }

  // From any thread: its calls under way throw Code::kCancelled at their next check.
  void cancel() const { tenon_scope_cancel(get()); }

  tenon_scope* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_scope, tenon_scope_retain, tenon_scope_release>;
  explicit Scope(Shared handle) : handle_(std::move(handle)) {}

  Shared handle_;
};

namespace detail {

// NULL until the thread computes. A plain pointer, so that reading it costs no initialisation.
inline constinit thread_local tenon_scope* current = nullptr;

inline tenon_scope* use_own_scope() {
  static thread_local const Scope own;
  return current = own.get();
}

}  // namespace detail

inline tenon_scope* current_scope() {
  return detail::current ? detail::current : detail::use_own_scope();
}

// Makes a scope the thread's current one until the guard ends.
class ScopeGuard {
 public:
  explicit ScopeGuard(Scope scope)
      : scope_(std::move(scope)), before_(std::exchange(detail::current, scope_.get())) {}
  // For a callback, in the scope that it received.
  explicit ScopeGuard(tenon_scope* scope) : ScopeGuard(Scope::share(scope)) {}
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;
  ~ScopeGuard() { detail::current = before_; }

 private:
  Scope scope_;
  tenon_scope* before_;
};

// Sets the device of the current scope until the guard ends.
class DeviceGuard {
 public:
  explicit DeviceGuard(std::string_view name)
      : scope_(Scope::share(current_scope())), before_(scope_.device()) {
    scope_.set_device(name);
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
inline Device find_device(std::string_view name) {
  tenon_device* device = nullptr;
  check(tenon_context_find_device(tenon_scope_context(current_scope()), detail::c_text(name),
                                  &device));
  return Device::adopt(device);
}

}  // namespace tenon
