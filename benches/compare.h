// Runs the same work on Tenon and on a peer, interleaved, and prints medians and their ratios.
//
// A case has a name and two Google benchmarks, registered as "CASE/tenon" and "CASE/PEER". All
// repetitions of all benchmarks run in random order, so that other load on the machine affects all
// of them equally. The output ends with a line for each case:
//
//   ratio CASE PEER VALUE      above 1: Tenon is faster, by that factor

#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace benches {

struct Options {
  int repetitions = 15;
  double seconds = 0.05;  // Minimum time of each repetition.
  std::string filter;     // A regular expression for names; empty for all.
  std::string json;       // Writes the results to this file; empty for none.
};

// Parses the command line. Exits for --help and for invalid arguments.
Options parse(int argc, char** argv, const std::string& what);

// A result that is not compared with a peer; printed as it is.
struct Figure {
  std::string name;
  double value;
  std::string unit;
};

// Runs all registered benchmarks. Returns 0, or 1 if one reported an error.
int run(const Options& options, const std::vector<std::string>& versions,
        const std::vector<Figure>& figures);

}  // namespace benches
