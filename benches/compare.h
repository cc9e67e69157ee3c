// Runs the same work on Tenon and on a peer, interleaved, and prints medians and their ratios.
//
// A case has a name and two Google benchmarks, registered as "CASE/tenon" and "CASE/PEER". Every
// repetition of every benchmark is drawn in random order, so that what else the machine does falls
// on all alike. The output ends with a line for each case:
//
//   ratio CASE PEER VALUE      above 1: Tenon is faster, by that factor

#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace benches {

struct Options {
  int repetitions = 15;
  double seconds = 0.05;  // Of each repetition, at least.
  std::string filter;     // A regular expression over the names; empty for all.
  std::string json;       // A file for the figures; empty for none.
};

// Reads the command line; ends the program for --help and for what it does not know.
Options parse(int argc, char** argv, const std::string& what);

// A figure that is not a pair: printed and written as it is.
struct Figure {
  std::string name;
  double value;
  std::string unit;
};

// Runs what is registered. Gives 0, or 1 if a benchmark reported an error.
int run(const Options& options, const std::vector<std::string>& versions,
        const std::vector<Figure>& figures);

}  // namespace benches
