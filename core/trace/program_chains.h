// Launches of a program that run side by side (program_chains.cc).

#pragma once

#include <bitset>

#include "core/trace/program.h"

namespace tenon {

class Program::Chains {
 public:
  // NULL: the device runs no tasks, or there are none that would be worth it. Launches that may be
  // part of a loop cost nothing if they have at most `small` elements.
  static std::unique_ptr<const Chains> find(const Program& program, int64_t small = 0);

  // Launches, by their numbers. A program of more has no chains.
  static constexpr size_t kMost = 1024;
  using Launches = std::bitset<kMost>;

  // Those that may run while a launch does.
  const Launches& beside(uint32_t launch) const { return beside_[launch]; }

  // Runs the launches, or leaves that to the caller, where that is what has been faster.
  bool run(const Program& program, Scope& scope, Frame& frame, size_t commits) const;

 private:
  // A launch, or chains that do not need each other.
  struct Step {
    uint32_t launch = kNone;
    std::vector<uint32_t> chains;
    uint32_t last = 0;        // Launch of it.
    bool hands_over = false;  // Else only chains within these are worth it.
  };
  using Chain = std::vector<Step>;
  class Finder;
  class Call;

  std::vector<Chain> chains_;  // The last is the program.
  std::vector<Launches> beside_;
  // Of so many calls the first are trials. How long those took at best, one way and the other.
  static constexpr uint32_t kPeriod = 4096, kTrials = 10;
  mutable std::atomic<uint32_t> n_calls_{0};
  mutable std::atomic<int64_t> best_ns_[2] = {INT64_MAX, INT64_MAX};
};

}  // namespace tenon
