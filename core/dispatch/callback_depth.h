// Limits the nesting depth of user callbacks on a thread, so that infinite recursion is an error
// instead of a stack overflow.

#pragma once

#include <cstddef>
#include <string_view>

namespace tenon {

// Counts one callback while it runs.
class CallbackDepth {
 public:
  static constexpr size_t kMax = 200;

  // `what` names the callback in the message: "function f".
  explicit CallbackDepth(std::string_view what);
  ~CallbackDepth();
  CallbackDepth(const CallbackDepth&) = delete;
};

}  // namespace tenon
