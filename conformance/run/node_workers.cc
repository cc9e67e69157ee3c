// Implements workers.h for WebAssembly. In Node, child processes run the cells, as workers.cc does
// natively. A browser has no processes: the cells run in this one, which ends if a plugin crashes.

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <utility>

#include "conformance/kit/json.h"
#include "conformance/kit/plugin_log.h"
#include "conformance/run/answer_requests.h"
#include "conformance/run/workers.h"

// Functions of node_processes.js.
extern "C" {
// Returns the number of processor cores; 0 if the platform has no processes.
int tenon_kit_cores();
// Starts this program with arguments, a JSON array. `process` is a new number.
void tenon_kit_start(int process, const char* arguments);
// Writes a line to the standard input of a process.
void tenon_kit_send(int process, const char* line);
void tenon_kit_kill(int process);
// Waits for a line of output or for the end of a process. Returns "PROCESS>LINE" or
// "PROCESS!REASON", which the caller frees, or NULL after `milliseconds`.
char* tenon_kit_receive(int milliseconds);
}

namespace tenon_kit {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point time) {
  return std::chrono::duration<double>(Clock::now() - time).count();
}

int n_processes = 0;  // Number of processes that were started.

class Child {
 public:
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { stop(); }

  int process() const { return process_; }
  bool is_busy() const { return busy_; }
  const Cell& cell() const { return cell_; }
  double seconds() const { return seconds_since(begun_); }

  // Sends a cell to the process, which is started first if it is not running.
  void ask(const WorkerOptions& options, const Cell& cell) {
    if (process_ == 0) {
      process_ = ++n_processes;
      const Json arguments =
          std::vector<std::string>(options.command.begin() + 1, options.command.end());
      tenon_kit_start(process_, arguments.dump().c_str());
    }
    cell_ = cell;
    busy_ = true;
    begin_problem("");
    tenon_kit_send(process_, fmt::format("{} {}\n", cell.claim, cell.check).c_str());
  }
  void begin_problem(std::string problem) {
    problem_ = std::move(problem);
    begun_ = Clock::now();
  }
  void end_cell() { busy_ = false; }

  void stop() {
    if (process_ != 0) tenon_kit_kill(process_);
    process_ = 0;
    busy_ = false;
  }

  // Completes the row of the current cell, which the process did not answer.
  Row ended_row(Row row, Status status, std::string message) const {
    row.status = status;
    row.seconds = seconds();
    row.message = std::move(message);
    if (cell_.claim != kDevice) {
      row.line = problem_;
    } else if (!problem_.empty()) {
      // For device checks, the problem is the name of a step.
      row.message = problem_ + ": " + row.message;
    }
    return row;
  }

 private:
  int process_ = 0;
  bool busy_ = false;
  Cell cell_ = {};
  std::string problem_;
  Clock::time_point begun_;
};

void run_here(const WorkerOptions& options, const std::vector<Cell>& cells,
              const std::function<void(const Cell&, const Row&)>& done) {
  if (!options.run) {
    throw std::runtime_error(
        "this option needs child processes, which this platform does not support");
  }
  const Clock::time_point begun = Clock::now();
  for (const Cell& cell : cells) {
    if (seconds_since(begun) >= options.seconds) return;
    Row row = options.run(cell, [](const std::string&) {});
    add_plugin_log(row, take_plugin_log());
    done(cell, row);
  }
}

}  // namespace

uint64_t default_memory_mib() { return 0; }
int n_cores() { return tenon_kit_cores(); }
std::string this_program() { return ""; }  // node_processes.js knows its path.

void run_cells(const WorkerOptions& options, const std::vector<Cell>& cells,
               const std::function<Row(const Cell&)>& blank,
               const std::function<void(const Cell&, const Row&)>& done) {
  if (n_cores() == 0) return run_here(options, cells, done);
  std::vector<Child> children(static_cast<size_t>(options.jobs));
  size_t next = 0, finished = 0;
  const Clock::time_point begun = Clock::now();
  const auto is_over = [&] { return seconds_since(begun) >= options.seconds; };
  while (finished < next || (next < cells.size() && !is_over())) {
    for (Child& child : children) {
      if (!child.is_busy() && next < cells.size() && !is_over()) child.ask(options, cells[next++]);
    }
    const auto finish = [&](Child& child, const Row& row) {
      const Cell cell = child.cell();
      child.end_cell();
      done(cell, row);
      ++finished;
    };
    const std::unique_ptr<char, void (*)(void*)> event(tenon_kit_receive(1000), std::free);
    char* text = nullptr;
    const long process = event ? std::strtol(event.get(), &text, 10) : 0;
    for (Child& child : children) {
      if (event && child.process() == process) {
        if (*text == '!') {
          if (child.is_busy())
            finish(child, child.ended_row(blank(child.cell()), Status::kCrash, text + 1));
          child.stop();
        } else if (text[1] == '@') {
          child.begin_problem(text + 2);
        } else if (text[1] == '=') {
          finish(child, row_from_json(Json::parse(text + 2)));
        }
      } else if (child.is_busy() && child.seconds() > options.problem_seconds) {
        const std::string message = fmt::format("no answer within {} s", options.problem_seconds);
        const Row row = child.ended_row(blank(child.cell()), Status::kTimeout, message);
        finish(child, row);
        child.stop();
      }
    }
  }
}

int run_silently(const std::vector<std::string>&, double) {
  throw std::runtime_error("WebAssembly programs cannot wait for a child process");
}

int serve_cells(const RunCell& run) {
  // Other output of the process does not begin with these characters.
  const auto answer = [](char kind, const std::string& text) {
    std::cout << kind << text << std::endl;
  };
  return answer_requests(run, answer);
}

}  // namespace tenon_kit
