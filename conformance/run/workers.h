// Runs cells in child processes, so that a plugin that crashes or hangs takes its own cell down and
// no more.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/run/row.h"

namespace tenon_kit {

// A cell by its places in the plugin's claims and in all_checks(); or, where the claim is kDevice
// or kFunctions, in all_device_checks() or all_function_checks().
inline constexpr size_t kDevice = SIZE_MAX;
inline constexpr size_t kFunctions = SIZE_MAX - 1;
struct Cell {
  size_t claim;
  size_t check;
};

// What a child may take by default: twice what the check of 2^31 elements does (checks/many.cc),
// and an end to what grows without one. 0, which is no limit, under sanitizers: they map far more
// than they use.
uint64_t default_memory_mib();

struct WorkerOptions {
  std::vector<std::string> command;  // Starts a worker: the program itself, with its arguments.
  int jobs = 1;
  double problem_seconds = 120;  // For each problem of a cell.
  double seconds = 1e9;          // After which no cell is begun.
  uint64_t memory_bytes = 0;     // That a child may write to of its own; 0: no limit.
};

// Calls `done` for each cell, in the order in which they end. `blank` gives the row of a cell whose
// process ended before it could.
void run_cells(const WorkerOptions& options, const std::vector<Cell>& cells,
               const std::function<Row(const Cell&)>& blank,
               const std::function<void(const Cell&, const Row&)>& done);

// Runs a command whose standard output nobody reads. Gives its exit status, or -1 if it crashed or
// did not end in time.
int run_silently(const std::vector<std::string>& command, double seconds);

// The other side: answers cells on the standard input until it ends. `run` gives the row and tells
// of each problem before it is tried.
using Tell = std::function<void(const std::string& line)>;
int serve_cells(const std::function<Row(const Cell&, const Tell&)>& run);

}  // namespace tenon_kit
