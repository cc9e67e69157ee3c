// Counts the steps of code whose work grows with a graph, a program or a file. A test compares the
// counts of two inputs of different size, which tells linear code from quadratic code without a
// clock.
//
// One step is one visit of a node, a value, a launch, a view, a buffer or an entry of a table. Each
// inner loop counts its iterations; code that runs once per call of a program counts nothing.

#pragma once

#include <cstdint>

namespace tenon {

inline constinit thread_local uint64_t work_steps = 0;

inline void count_steps(uint64_t n = 1) { work_steps += n; }

// The steps of this thread from here on.
class WorkSteps {
 public:
  uint64_t count() const { return work_steps - begin_; }

 private:
  uint64_t begin_ = work_steps;
};

}  // namespace tenon
