// Converts exceptions to errors. Exceptions of the core are caught only here and do not cross the C
// ABI.

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

// Runs `body`. Returns NULL, or an error for the caller to own if `body` throws.
template <class Body>
tenon_error* boundary(Body&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (...) {
    return error_of_exception();
  }
}

// Like boundary(), for calls that take a scope: makes it the current scope while `body` runs, and
// adds the scope's source location to errors.
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

// Saves the scope's source location and restores it after a callback. Later errors and traces of
// the call that ran the callback must not report a location that the callback has set.
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
// Prevents inlining in WebAssembly builds. If Clang 14 inlines a function with a try block into a
// function that throws, the exception terminates the program.
#define TENON_APART __attribute__((noinline))
#else
#define TENON_APART
#endif

// Like boundary_in(), but never inlined in WebAssembly builds.
template <class Body>
TENON_APART tenon_error* boundary_apart(tenon_scope* handle, Body& body) noexcept {
  return boundary_in(handle, body);
}

// Like boundary_in(), for calls that run user callbacks. Keeps the scope and its context alive
// during the call, because a callback may release the last handle of either.
template <class Body>
tenon_error* boundary_with_callbacks(tenon_scope* handle, Body&& body) noexcept {
  return boundary([&] {
    const auto kept = Ref<Scope>::share(&get(handle, "scope"));
    if (tenon_error* error = boundary_apart(handle, body)) throw take_error(error);
  });
}

}  // namespace tenon::capi
