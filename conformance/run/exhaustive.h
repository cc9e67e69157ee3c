// Implements tenon-conformance --exhaustive OP: tests a unary op at every input of a dtype, in
// child processes.

#pragma once

#include "conformance/run/all_inputs.h"
#include "conformance/run/claim_run.h"
#include "conformance/run/workers.h"

namespace tenon_kit {

struct ExhaustiveOptions {
  std::string op;
  std::string dtype = "f32";
  std::string profile;
  std::string range;   // A:B selects the parts that contain inputs from A to B; empty for all.
  std::string shard;   // I/N selects a shard of these parts; empty for all.
  std::string json;    // File in which to store the results so far, for `resume`.
  std::string resume;  // File with results of an earlier run; its parts are skipped.
  std::string html;    // File for a page with the errors over the inputs.
};

// Runs the test, shows progress, and prints the largest error and its input. Returns the exit
// status: 1 if a result is beyond its bound.
int run_exhaustive(const Runner& runner, const ExhaustiveOptions& options, WorkerOptions workers);

// Runs as a worker process that answers requests for parts.
int serve_exhaustive(const Runner& runner, const ExhaustiveOptions& options);

}  // namespace tenon_kit
