// Counts steps of algorithms whose work grows with a graph, a program or a file. Tests compare the
// counts for two inputs of different sizes. This distinguishes linear from quadratic algorithms
// without a clock.
//
// One step is one visit of a node, value, launch, view, buffer or table entry. Each inner loop
// counts its iterations. Code that runs once per call of a program counts no steps.

#pragma once

#include <cstdint>

namespace tenon {

inline constinit thread_local uint64_t work_steps = 0;

inline void count_steps(uint64_t n = 1) { work_steps += n; }

// Number of steps that this thread has counted since the object was constructed.
class WorkSteps {
 public:
  uint64_t count() const { return work_steps - begin_; }

 private:
  uint64_t begin_ = work_steps;
};

}  // namespace tenon
