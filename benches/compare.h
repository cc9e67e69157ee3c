// Measures the same work in Tenon and in a peer library, and prints medians and their ratios.
//
// A case is a pair of Google benchmarks, registered as "CASE/tenon" and "CASE/PEER". The
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
  double seconds = 0.05;  // Minimum time of a repetition.
  std::string filter;     // A regular expression for benchmark names; empty for all.
  std::string json;       // Writes the results to this file; empty for none.
};

// Parses the command line. `what` is the description that --help prints. Exits after --help, or if
// an argument is invalid.
Options parse(int argc, char** argv, const std::string& what);

// A measured value for which no peer library has a counterpart. It is printed without a ratio.
struct Figure {
  std::string name;
  double value;
  std::string unit;
};

// Runs all registered benchmarks and prints the results. Returns the exit status: 1 if one failed.
int run(const Options& options, const std::vector<std::string>& versions,
        const std::vector<Figure>& figures);

}  // namespace benches
