// Limits the nesting depth of user callbacks on a thread, so that infinite recursion is an error
// instead of a stack overflow.

#pragma once

#include <cstddef>
#include <string_view>

namespace tenon {

// Counts one callback while it runs.
class Nesting {
 public:
  static constexpr size_t kMax = 200;

  // `what` names the callback in the message: "function f".
  explicit Nesting(std::string_view what);
  ~Nesting();
  Nesting(const Nesting&) = delete;
};

}  // namespace tenon
