// Where C++ ends: the only try/catch between the core and the C ABI.

#pragma once

#include <tenon/types.h>

#include <exception>
#include <new>

#include "capi/src/handles.h"
#include "core/base/error.h"
#include "core/base/error_object.h"

namespace tenon::capi {

// The error that stands for the exception under way, owned by the caller.
tenon_error* error_of_exception() noexcept;

// Runs `body` and returns what it threw as an error that the caller owns.
template <class Body>
tenon_error* boundary(Body&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (...) {
    return error_of_exception();
  }
}

// The same for calls that compute: inside of the scope, whose source line errors tell.
template <class Body>
tenon_error* boundary_in(tenon_scope* handle, Body&& body) noexcept {
  return boundary([&] {
    Scope& scope = get(handle, "scope");
    const Scope::Enter enter(scope);
    try {
      body(scope);
    } catch (Error& error) {
      error.set_location(scope.location());
      throw;
    }
  });
}

// A location that a callback states for its calls ends with the callback: what is said of the call
// that ran it, and what a trace records of that, is the location of the call.
class KeepLocation {
 public:
  explicit KeepLocation(Scope& scope) : scope_(scope), location_(scope.location()) {}
  KeepLocation(const KeepLocation&) = delete;
  KeepLocation& operator=(const KeepLocation&) = delete;
  ~KeepLocation() { scope_.set_location(std::move(location_)); }

 private:
  Scope& scope_;
  std::string location_;
};

// The same for calls that run callbacks of the user, which may release the last handle of the scope
// or of its context: the call keeps them.
template <class Body>
tenon_error* boundary_with_callbacks(tenon_scope* handle, Body&& body) noexcept {
  return boundary([&] {
    const auto kept = Ref<Scope>::share(&get(handle, "scope"));
    if (tenon_error* error = boundary_in(handle, std::forward<Body>(body))) throw take_error(error);
  });
}

}  // namespace tenon::capi
