// Implements run_cells() for platforms without child processes, such as WebAssembly. The cells run
// in this process, which ends if a plugin crashes. --shard divides the cells among several runs.

#include <chrono>
#include <stdexcept>

#include "conformance/kit/plugin_log.h"
#include "conformance/run/workers.h"

namespace tenon_kit {

uint64_t default_memory_mib() { return 0; }

void run_cells(const WorkerOptions& options, const std::vector<Cell>& cells,
               const std::function<Row(const Cell&)>&,
               const std::function<void(const Cell&, const Row&)>& done) {
  using Clock = std::chrono::steady_clock;
  if (!options.run)
    throw std::runtime_error(
        "this option needs child processes, which this platform does not support");
  const Clock::time_point begun = Clock::now();
  for (const Cell& cell : cells) {
    if (std::chrono::duration<double>(Clock::now() - begun).count() >= options.seconds) return;
    Row row = options.run(cell, [](const std::string&) {});
    add_plugin_log(row, take_plugin_log());
    done(cell, row);
  }
}

int run_silently(const std::vector<std::string>&, double) {
  throw std::runtime_error("this platform does not support child processes");
}

int serve_cells(const RunCell&) { throw std::runtime_error("--worker needs a parent process"); }

}  // namespace tenon_kit
