// Runs cells in child processes, so that a plugin that crashes or hangs affects only its own cell.
// workers.cc implements this natively, node_workers.cc in WebAssembly.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/run/row.h"

namespace tenon_kit {

// A cell: an index into the plugin's claims and one into all_checks(). If the claim is kDevice or
// kFunctions, the second indexes all_device_checks() or all_function_checks().
inline constexpr size_t kDevice = SIZE_MAX;
inline constexpr size_t kFunctions = SIZE_MAX - 1;
struct Cell {
  size_t claim;
  size_t check;
};

// The default memory limit of a child: twice the memory of the check of 2^31 elements
// (checks/large_tensors.cc). It stops runaway allocations. 0 means no limit, as under sanitizers,
// which map far more memory than they use.
uint64_t default_memory_mib();

// Returns the number of processor cores; 0 if the platform has no processes, as in a browser.
int n_cores();

// Returns the first word of a command that runs this program.
std::string this_program();

// Runs a cell and returns its row. Calls `Tell` with each problem before it runs.
using Tell = std::function<void(const std::string& line)>;
using RunCell = std::function<Row(const Cell&, const Tell&)>;

struct WorkerOptions {
  // Command line of a worker process: this program with its arguments.
  std::vector<std::string> command;
  int jobs = 1;
  double problem_seconds = 120;  // Timeout for each problem of a cell.
  double seconds = 1e9;          // Time limit of the run: no cell starts afterwards.
  uint64_t memory_bytes = 0;     // Limit of a child's private writable memory; 0: no limit.
  // Runs a cell in this process. Used instead of `command` on platforms without processes.
  RunCell run;
};

// Runs cells and calls `done` for each, in order of completion. `blank` returns the row for a cell
// whose process died before it answered.
void run_cells(const WorkerOptions& options, const std::vector<Cell>& cells,
               const std::function<Row(const Cell&)>& blank,
               const std::function<void(const Cell&, const Row&)>& done);

// Runs a command and discards its output. Returns its exit status, or -1 if it crashed or did not
// end in time.
int run_silently(const std::vector<std::string>& command, double seconds);

// Runs the worker's side: answers requests until standard input ends.
int serve_cells(const RunCell& run);

}  // namespace tenon_kit
