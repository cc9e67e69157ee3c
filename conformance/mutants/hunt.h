// Runs the kit on mutants: tenon-conformance, as it is, in child processes.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/mutants/mutants.h"
#include "conformance/run/claim_run.h"
#include "conformance/run/workers.h"

namespace tenon_kit {

struct HuntOptions {
  std::string kit;     // The program tenon-conformance.
  std::string plugin;  // The library of the mutants.
  std::string core;    // The libtenon of those of the core.
  uint64_t seed = 1;
  double seconds = 60;          // For one mutant.
  double problem_seconds = 20;  // For one problem of a cell, before it counts as a hang.
};

// Claims by the numbers of the mutants whose places they pass: what is worth running on them.
struct Reach {
  std::map<int, std::vector<size_t>> claims;
};

// A few claims of each op, those first whose dtypes show most, then a few more.
void put_in_order(std::vector<size_t>& claims, const std::vector<Claim>& all);

class Hunt {
 public:
  Hunt(const HuntOptions& options, const Runner& runner);

  // Runs these claims on the plugin without a fault. Calls from several threads are made one part
  // each, and joined by the caller.
  void find_reach(const std::vector<size_t>& claims, const std::string& file, Reach& reach) const;

  Outcome run(const Mutant& mutant, const Reach& reach) const;

 private:
  WorkerOptions worker(const Mutant* mutant, const std::string& reached_file) const;
  std::vector<Cell> cells_of(const Mutant& mutant, const Reach& reach) const;
  std::vector<Cell> cells_of(const Mutant& mutant, size_t claim) const;
  Row blank(const Cell& cell) const;
  bool passes_unmutated(const Mutant& mutant, const Cell& cell) const;

  const HuntOptions& options_;
  const Runner& runner_;
};

}  // namespace tenon_kit
