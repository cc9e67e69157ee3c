// tenon-conformance --exhaustive OP: a unary op at every input of a dtype, in child processes.

#pragma once

#include "conformance/run/all_inputs.h"
#include "conformance/run/claim_run.h"
#include "conformance/run/workers.h"

namespace tenon_kit {

struct ExhaustiveOptions {
  std::string op;
  std::string dtype = "f32";
  std::string profile;
  std::string range;   // A:B: the parts that hold inputs from A to B; empty for all.
  std::string shard;   // I/N of these parts; empty for all.
  std::string json;    // A file that holds what was found so far, for `resume`.
  std::string resume;  // Parts that such a file holds are not run again.
  std::string html;    // A page with the errors over the inputs.
};

// Runs it, tells how far it is, and prints the largest error and where it is. The exit status: 1 if
// a result is beyond its bound.
int run_exhaustive(const Runner& runner, const ExhaustiveOptions& options, WorkerOptions workers);

// The other side: a worker that answers with parts.
int serve_exhaustive(const Runner& runner, const ExhaustiveOptions& options);

}  // namespace tenon_kit
