#include "conformance/mutants/hunt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <stdexcept>

#include "conformance/device/device_check.h"
#include "conformance/functions/function_check.h"

namespace tenon_kit {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kReachedFileBytes =
    16384;  // Size in bytes of a file of reached points; the same as in point.cc.
constexpr uint64_t kMemory = 4ull << 30;

struct Enough {};  // Thrown to stop run_cells early; destructors then end the child processes.

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Reads which mutation points a child process has reached, through a file that both map.
class ReachedFile {
 public:
  explicit ReachedFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, kReachedFileBytes) != 0)
      throw std::runtime_error("cannot write " + path);
    void* const bytes =
        mmap(nullptr, kReachedFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (bytes == MAP_FAILED) throw std::runtime_error("cannot map " + path);
    bytes_ = static_cast<unsigned char*>(bytes);
  }
  ReachedFile(const ReachedFile&) = delete;
  ReachedFile& operator=(const ReachedFile&) = delete;
  ~ReachedFile() { munmap(bytes_, kReachedFileBytes); }

  std::set<int> take() {
    std::set<int> numbers;
    for (size_t i = 0; i < kReachedFileBytes; ++i) {
      if (bytes_[i]) numbers.insert(static_cast<int>(i));
    }
    std::memset(bytes_, 0, kReachedFileBytes);
    return numbers;
  }

 private:
  unsigned char* bytes_;
};

// Whether the status of a cell means that the mutant was caught.
bool is_catching_status(Status status) {
  return status == Status::kFail || status == Status::kCrash || status == Status::kTimeout ||
         status == Status::kLeak;
}

// The rank of a claim among those of its op: claims with the most revealing dtypes come first.
int rank_of(const Claim& claim) {
  const std::vector<std::string> telling = {"f32",     "i32",      "u8",       "f64",
                                            "i8",      "f16",      "i64",      "f32->i32",
                                            "f32->u8", "f64->f16", "f32->bf16"};
  const auto at = std::find(telling.begin(), telling.end(), claim.dtypes);
  return static_cast<int>(at - telling.begin());
}

}  // namespace

void order_by_revealing_dtypes(std::vector<size_t>& claims, const std::vector<Claim>& all) {
  std::map<std::string, std::vector<size_t>> by_op;
  for (const size_t claim : claims) by_op[all[claim].op->name].push_back(claim);
  for (auto& [op, own] : by_op) {
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    std::stable_sort(own.begin(), own.end(),
                     [&](size_t a, size_t b) { return rank_of(all[a]) < rank_of(all[b]); });
  }
  claims.clear();
  for (size_t turn = 0, before = 1; claims.size() != before; turn += 2) {
    before = claims.size();
    for (const auto& [op, own] : by_op) {
      for (size_t i = turn; i < std::min(turn + 2, own.size()); ++i) claims.push_back(own[i]);
    }
    if (turn > 400) break;
  }
  // Puts unclaimed signatures (decompositions) last, because faults show in claimed ones.
  std::stable_partition(claims.begin(), claims.end(),
                        [&](size_t claim) { return all[claim].claimed; });
}

Hunt::Hunt(const HuntOptions& options, const Runner& runner) : options_(options), runner_(runner) {}

// Options of a worker process that runs the kit with one mutant active, or with none if it is NULL.
WorkerOptions Hunt::worker_options(const Mutant* mutant, const std::string& reached_file) const {
  std::vector<std::string> command = {"/usr/bin/env"};
  command.push_back(fmt::format("TENON_MUTANT={}", mutant ? mutant->number : 0));
  if (!reached_file.empty()) command.push_back("TENON_MUTANT_REACHED=" + reached_file);
  if (mutant && mutant->in_core()) command.push_back("LD_PRELOAD=" + options_.core);
  const bool smoke = !mutant || mutant->checks.empty();
  command.insert(command.end(), {options_.kit, "--worker", "--plugin", options_.plugin, "--level",
                                 smoke ? "smoke" : "6", "--seed", fmt::format("{}", options_.seed),
                                 "--shrink", "0"});
  const std::vector<std::string> as_ref = {"asynchronous=0", "visible=1"};
  for (const std::string& option : !mutant || mutant->options.empty() ? as_ref : mutant->options) {
    command.insert(command.end(), {"--option", option});
  }
  return {.command = std::move(command),
          .jobs = 1,
          .problem_seconds = options_.problem_seconds,
          .memory_bytes = kMemory};
}

// Returns the row of a cell that has not run.
Row Hunt::blank_row_of(const Cell& cell) const {
  if (cell.claim == kDevice) return blank_row(all_device_checks()[cell.check]);
  if (cell.claim == kFunctions) return blank_row(all_function_checks()[cell.check]);
  const Claim& claim = runner_.claims()[cell.claim];
  const Check& check = all_checks()[cell.check];
  return {.op = claim.op->name, .dtypes = claim.dtypes, .check = check.name, .level = check.level};
}

// Returns the cells of one claim to run for a mutant.
std::vector<Cell> Hunt::cells_of(const Mutant& mutant, size_t claim) const {
  std::vector<Cell> cells;
  if (mutant.checks.empty()) {
    for (const size_t check : runner_.checks_of(runner_.claims()[claim])) {
      cells.push_back({claim, check});
    }
    return cells;
  }
  for (const std::string& name : mutant.checks) {
    if (const Check* const check = find_check(name)) {
      cells.push_back({claim, static_cast<size_t>(check - all_checks().data())});
    }
  }
  return cells;
}

// Returns all cells to run for a mutant, starting with those that are most likely to catch it.
std::vector<Cell> Hunt::cells_of(const Mutant& mutant, const Reach& reach) const {
  std::vector<size_t> claims;
  if (const auto found = reach.claims.find(mutant.number); found != reach.claims.end()) {
    claims = found->second;
  } else {
    for (size_t i = 0; i < runner_.claims().size(); ++i) {
      const std::string& op = runner_.claims()[i].op->name;
      const std::vector<std::string>& ops = mutant.ops;
      const bool plain = ops.empty() && (op == "neg" || op == "add" || op == "sum");
      if (plain || std::find(ops.begin(), ops.end(), op) != ops.end()) claims.push_back(i);
    }
  }
  order_by_revealing_dtypes(claims, runner_.claims());
  std::vector<Cell> cells;
  const std::vector<DeviceCheck>& device_checks = all_device_checks();
  for (const std::string& name : mutant.checks) {
    const auto found = std::find_if(device_checks.begin(), device_checks.end(),
                                    [&](const DeviceCheck& check) { return name == check.name; });
    if (found != device_checks.end()) {
      cells.push_back({kDevice, static_cast<size_t>(found - device_checks.begin())});
    } else if (const FunctionCheck* const check = find_function_check(name)) {
      cells.push_back({kFunctions, static_cast<size_t>(check - all_function_checks().data())});
    } else if (!find_check(name)) {
      throw std::runtime_error(mutant.name + ": unknown check " + name);
    }
  }
  for (const size_t claim : claims) {
    for (const Cell& cell : cells_of(mutant, claim)) cells.push_back(cell);
  }
  return cells;
}

void Hunt::find_reach(const std::vector<size_t>& claims, const std::string& file,
                      Reach& reach) const {
  ReachedFile reached(file);
  std::vector<Cell> cells;
  for (const size_t claim : claims) {
    for (const size_t check : runner_.checks_of(runner_.claims()[claim])) {
      cells.push_back({claim, check});
    }
  }
  run_cells(
      worker_options(nullptr, file), cells, [&](const Cell& cell) { return blank_row_of(cell); },
      [&](const Cell& cell, const Row&) {
        for (const int number : reached.take()) {
          std::vector<size_t>& known = reach.claims[number];
          if (known.empty() || known.back() != cell.claim) known.push_back(cell.claim);
        }
      });
}

// Whether the cell passes without the mutation. A check that also fails then does not catch the
// mutant.
bool Hunt::passes_without_mutation(const Mutant& mutant, const Cell& cell) const {
  Mutant none = mutant;
  none.number = 0;
  bool passes = false;
  run_cells(
      worker_options(&none, ""), {cell}, [&](const Cell& own) { return blank_row_of(own); },
      [&](const Cell&, const Row& row) { passes = !is_fault(row.status); });
  return passes;
}

// Runs cells of the kit on a mutant until a claim has caught it or the time limit is exceeded.
Outcome Hunt::run(const Mutant& mutant, const Reach& reach) const {
  Outcome outcome;
  outcome.mutant = &mutant;
  const auto start = Clock::now();
  size_t claim = 0;
  try {
    run_cells(
        worker_options(&mutant, ""), cells_of(mutant, reach),
        [&](const Cell& cell) { return blank_row_of(cell); },
        [&](const Cell& cell, const Row& row) {
          if (outcome.caught && cell.claim != claim) throw Enough();
          ++outcome.cells;
          if (!is_catching_status(row.status)) {
            if (seconds_since(start) > options_.seconds) throw Enough();
            return;
          }
          if (!passes_without_mutation(mutant, cell)) return;
          outcome.checks.push_back(row.check);
          if (outcome.caught) return;
          outcome.caught = true;
          claim = cell.claim;
          outcome.op = row.op;
          outcome.dtypes = row.dtypes;
          outcome.status = name_of(row.status);
          outcome.message = row.message;
          if (mutant.generated || row.status == Status::kTimeout) throw Enough();
        });
  } catch (const Enough&) {
  }
  outcome.seconds = seconds_since(start);
  return outcome;
}

}  // namespace tenon_kit
