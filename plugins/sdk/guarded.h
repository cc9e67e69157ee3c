// Wraps the functions (slots) of a plugin's table that are written in C++. An exception becomes a
// returned error. If a call fails, the callback passed to it is destroyed.

#pragma once

#include <tenon/plugin.h>

#include <exception>
#include <new>
#include <type_traits>

#include "plugins/sdk/host.h"

namespace tenon_sdk {

// `Plugin` must have static overloads host_of(handle), which return the host of an instance, a
// device or a stream. It must also have a static `no_memory`, an error message that needs no
// allocation.
template <class Plugin>
class Guard {
 public:
  // Returns the wrapped function for the table; nullptr if `slot` is nullptr.
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
  // Functions that do not return an error must not throw, and are not wrapped.
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
      (destroy_argument(parameters), ...);
      return error;
    }
  };

  // Returns the host of the first argument for which Plugin::host_of is defined.
  template <class First, class... Rest>
  static const Host& host_among(First first, Rest... rest) {
    if constexpr (requires { Plugin::host_of(first); }) {
      return Plugin::host_of(first);
    } else {
      return host_among(rest...);
    }
  }

  // Called for each argument of a failed call: destroys a callback. Other arguments need no action.
  template <class Argument>
  static void destroy_argument(const Argument&) {}
  static void destroy_argument(const tenon_done_callback& done) {
    if (done.destroy) done.destroy(done.payload);
  }
};

}  // namespace tenon_sdk
