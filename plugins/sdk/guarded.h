// Slots of a plugin written in C++: an exception becomes an error of the slot instead of leaving
// the plugin, and a callback that a failing call received is destroyed.

#pragma once

#include <tenon/plugin.h>

#include <exception>
#include <new>
#include <type_traits>

#include "plugins/sdk/host.h"

namespace tenon_sdk {

// `Plugin` has static overloads host_of(handle), which return the host of an instance, a device or
// a stream, and the message `no_memory`, for which nothing is allocated.
template <class Plugin>
class Guard {
 public:
  // The slot as the table holds it; nullptr for one that the plugin lacks.
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
  // Slots that return no error throw nothing.
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

  // The host of the first handle that has one.
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
