// Inter-op parallelism: independent chains of launches that run in parallel (plan_chains.cc).

#pragma once

#include <bitset>

#include "core/trace/plans/launch_plan.h"

namespace tenon {

// Slots begin at multiples of this number of bytes. Replays must have the recorded offsets of slots
// modulo this number.
inline constexpr uint64_t kSlotAlignment = 64;

class LaunchPlan::Chains {
 public:
  // Finds the chains of a plan. Returns NULL if the device runs no tasks or if parallel chains
  // would not save time. Launches of at most `small` elements that may be fused count as taking no
  // time.
  static std::unique_ptr<const Chains> find(const LaunchPlan& program, int64_t small = 0);

  // Maximum number of launches; larger plans have no chains. Launches are identified by index.
  static constexpr size_t kMaxLaunches = 1024;
  using Launches = std::bitset<kMaxLaunches>;

  // Returns the launches that may run in parallel with `launch`.
  const Launches& parallel_to(uint32_t launch) const { return parallel_[launch]; }

  // Runs all launches and returns true if parallel execution was faster in the trial calls. A trial
  // call also runs them, in parallel or serially. In all other calls, and if the scope is profiled,
  // runs nothing and returns false. The caller must then run the launches serially.
  bool run(const LaunchPlan& program, Scope& scope, Frame& frame, size_t commits) const;

 private:
  // A launch, or independent chains.
  struct Step {
    uint32_t launch = kNone;
    std::vector<uint32_t> chains;
    uint32_t last = 0;           // Last launch of the step.
    bool runs_as_tasks = false;  // Whether the chains are tasks; if false, only nested chains are.
  };
  using Chain = std::vector<Step>;
  class Finder;
  class Call;

  std::vector<Chain> chains_;  // The last chain contains the whole plan.
  std::vector<Launches> parallel_;
  // The first kTrials of every kPeriod calls alternate between serial and parallel execution.
  // best_ns_ holds the shortest time of each: [0] serial, [1] parallel.
  static constexpr uint32_t kPeriod = 4096, kTrials = 10;
  mutable std::atomic<uint32_t> n_calls_{0};
  mutable std::atomic<int64_t> best_ns_[2] = {INT64_MAX, INT64_MAX};
};

}  // namespace tenon
