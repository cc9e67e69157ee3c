// Bounds how deep the user's callbacks nest on a thread: one that calls itself without end is an
// error instead of a stack overflow.

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
