// Wraps the functions of a plugin's table (slots) that are written in C++: an exception becomes a
// returned error, and a callback passed to a failing call is destroyed.

#pragma once

#include <tenon/plugin.h>

#include <exception>
#include <new>
#include <type_traits>

#include "plugins/sdk/host.h"

namespace tenon_sdk {

// `Plugin` has static overloads host_of(handle), which return the host of an instance, a device or
// a stream, and a static message `no_memory`, which needs no allocation.
template <class Plugin>
class Guard {
 public:
  // The wrapped function for the table; nullptr if the plugin lacks the function.
  template <auto slot>
  static constexpr auto of() {
    if constexpr (std::is_same_v<decltype(slot), const std::nullptr_t> ||
                  std::is_same_v<decltype(slot), std::nullptr_t>) {
      return nullptr;
    } else {
      return Guarded<slot>::call;
    }
  }

 private:
  // Slots that return no error do not throw.
  template <auto slot>
  struct Guarded {
    static constexpr auto call = slot;
  };
  template <class... Parameters, tenon_error* (*slot)(Parameters...)>
  struct Guarded<slot> {
    static tenon_error* call(Parameters... parameters) {
      tenon_error* error;
      try {
        return slot(parameters...);
      } catch (const std::bad_alloc&) {
        error = host_among(parameters...).error(TENON_OUT_OF_MEMORY, Plugin::no_memory);
      } catch (const std::exception& failure) {
        error = host_among(parameters...).error(TENON_INTERNAL, failure.what());
      }
      (end(parameters), ...);
      return error;
    }
  };

  // The host of the first handle for which host_of is defined.
  template <class First, class... Rest>
  static const Host& host_among(First first, Rest... rest) {
    if constexpr (requires { Plugin::host_of(first); }) {
      return Plugin::host_of(first);
    } else {
      return host_among(rest...);
    }
  }

  template <class Argument>
  static void end(const Argument&) {}
  static void end(const tenon_done_callback& done) {
    if (done.destroy) done.destroy(done.payload);
  }
};

}  // namespace tenon_sdk
