// Converts exceptions to errors: the only try/catch between the core and the C ABI.

#pragma once

#include <tenon/types.h>

#include <exception>
#include <new>

#include "capi/src/handles.h"
#include "core/base/error.h"
#include "core/base/error_object.h"

namespace tenon::capi {

// Converts the current exception to an error that the caller owns.
tenon_error* error_of_exception() noexcept;

// Runs `body` and returns any exception as an error that the caller owns.
template <class Body>
tenon_error* boundary(Body&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (...) {
    return error_of_exception();
  }
}

// Like boundary(), for calls that compute: also enters the scope and adds its source location to
// errors.
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

// Restores the scope's location after a callback. A location that the callback sets must not appear
// in errors or traces of the call that ran the callback.
class RestoreLocation {
 public:
  explicit RestoreLocation(Scope& scope) : scope_(scope), location_(scope.location()) {}
  RestoreLocation(const RestoreLocation&) = delete;
  RestoreLocation& operator=(const RestoreLocation&) = delete;
  ~RestoreLocation() { scope_.set_location(std::move(location_)); }

 private:
  Scope& scope_;
  std::string location_;
};

#if defined(__EMSCRIPTEN__)
// For WebAssembly, Clang 14 miscompiles a throw in a function into which it inlined another
// function's try block: the exception ends the program.
#define TENON_APART __attribute__((noinline))
#else
#define TENON_APART
#endif

template <class Body>
TENON_APART tenon_error* boundary_apart(tenon_scope* handle, Body& body) noexcept {
  return boundary_in(handle, body);
}

// Like boundary_in(), for calls that run user callbacks. A callback may release the last handle of
// the scope or of its context, so this keeps both alive during the call.
template <class Body>
tenon_error* boundary_with_callbacks(tenon_scope* handle, Body&& body) noexcept {
  return boundary([&] {
    const auto kept = Ref<Scope>::share(&get(handle, "scope"));
    if (tenon_error* error = boundary_apart(handle, body)) throw take_error(error);
  });
}

}  // namespace tenon::capi
