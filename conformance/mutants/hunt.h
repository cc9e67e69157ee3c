// Runs the unmodified kit, tenon-conformance, on mutants in child processes.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/mutants/mutants.h"
#include "conformance/run/claim_run.h"
#include "conformance/run/workers.h"

namespace tenon_kit {

struct HuntOptions {
  std::string kit;     // Path of tenon-conformance.
  std::string plugin;  // Library of the mutated plugin.
  std::string core;    // libtenon with the mutants of the core.
  uint64_t seed = 1;
  double seconds = 60;  // Time limit for a mutant.
  double problem_seconds =
      20;  // Time limit for a problem of a cell; beyond it, the problem counts as a hang.
};

// For each mutant, the claims that reach its mutation point and are worth running.
struct Reach {
  std::map<int, std::vector<size_t>> claims;
};

// Orders claims for a run: first the two of each op with the most revealing dtypes, then the next
// two of each op, and so on.
void order_by_revealing_dtypes(std::vector<size_t>& claims, const std::vector<Claim>& all);

class Hunt {
 public:
  Hunt(const HuntOptions& options, const Runner& runner);

  // Runs these claims without a mutation and records which mutation points they reach. To use
  // several threads, the caller calls this for parts of the claims and merges the results.
  void find_reach(const std::vector<size_t>& claims, const std::string& file, Reach& reach) const;

  // Runs cells of the kit on a mutant until a claim has caught it or the time limit is exceeded.
  Outcome run(const Mutant& mutant, const Reach& reach) const;

 private:
  WorkerOptions worker_options(const Mutant* mutant, const std::string& reached_file) const;
  // Returns all cells to run for a mutant, starting with those that are most likely to catch it.
  std::vector<Cell> cells_of(const Mutant& mutant, const Reach& reach) const;
  // Returns the cells of one claim to run for a mutant.
  std::vector<Cell> cells_of(const Mutant& mutant, size_t claim) const;
  Row blank_row_of(const Cell& cell) const;
  bool passes_without_mutation(const Mutant& mutant, const Cell& cell) const;

  const HuntOptions& options_;
  const Runner& runner_;
};

}  // namespace tenon_kit
