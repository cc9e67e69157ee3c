// Runs independent chains of launches in parallel, on a device that runs tasks.
//
// A launch that is ordered before or after every other launch of a plan is a joint. Between two
// joints, launches that depend on each other form a chain. A chain has joints of its own and may
// contain chains between them. Whether parallel execution is faster is measured: trial calls
// alternate between serial and parallel execution, and later calls use the faster one.

#include "core/trace/plans/plan_chains.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "core/base/error.h"
#include "core/base/error_object.h"
#include "core/device/plugin_library.h"
#include "core/dispatch/launch.h"

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;

// Minimum time that parallel chains must save, because running tasks has a cost.
constexpr int64_t kMinParallelNs = 10'000;
// A launch is short if it takes less than kShortNs or, if that is longer, less than 1 / kShortPart
// of the plan's time.
constexpr int64_t kShortNs = 2'000, kShortPart = 256;

}  // namespace

class LaunchPlan::Chains::Finder {
 public:
  Finder(const LaunchPlan& program, int64_t small, Chains& made)
      : program_(program), small_(small), made_(made) {
    const size_t n = program.launches_.size();
    made_.parallel_.resize(n);
    Members all(n);
    std::iota(all.begin(), all.end(), 0);
    short_ns_ = std::max(kShortNs, cost(all) / kShortPart);
    find_needs();
    defer_short_launches();
    partition(all);
  }

 private:
  using Members = std::vector<uint32_t>;

  static Launches set_of(const Members& members);
  void find_needs();
  void defer_short_launches();
  uint32_t partition(const Members& members);
  void add(const Members& between, Chain& chain);
  std::vector<Members> split_by_dependencies(const Members& members) const;
  int64_t elements(const Launch& launch) const;
  int64_t cost(uint32_t i) const;
  int64_t cost(const Members& members) const;

  const LaunchPlan& program_;
  const int64_t small_;
  Chains& made_;
  int64_t short_ns_ = 0;
  std::vector<Launches> needs_;  // By launch: the launches that must run before it.
  bool found_ = false;           // Whether chains were found that are long enough to run as tasks.
};

// Returns these launches as a bit set.
auto LaunchPlan::Chains::Finder::set_of(const Members& members) -> Launches {
  Launches set;
  for (const uint32_t i : members) set.set(i);
  return set;
}

// Finds the dependencies of each launch: the launches that wrote its operands, and those that use
// the buffers that it overwrites.
void LaunchPlan::Chains::Finder::find_needs() {
  std::vector<uint32_t> writer(program_.buffers_.size(), kNone);
  std::vector<Launches> users(program_.buffers_.size());
  for (uint32_t i = 0; i < program_.launches_.size(); ++i) {
    const Launch& launch = program_.launches_[i];
    Launches& own = needs_.emplace_back();
    const auto wait_for = [&](uint32_t other) {
      if (other != i) own |= needs_[other], own.set(other);
    };
    for (uint32_t k = launch.first_view; k < launch.end_views(); ++k) {
      const uint32_t buffer = program_.shown_[k].buffer;
      if (buffer == kNone) continue;
      if (writer[buffer] != kNone) wait_for(writer[buffer]);
      if (k >= launch.first_output()) {
        for (uint32_t other = 0; other < i; ++other) {
          if (users[buffer][other]) wait_for(other);
        }
        writer[buffer] = i;
        users[buffer].reset();
      }
      users[buffer].set(i);
    }
  }
}

// A short launch without dependencies, such as a fill, could run in parallel with earlier launches,
// so none of them would be ordered before all later launches, and the plan could not be split after
// it. Therefore the short launch is made to depend on every launch on which all of its readers
// depend. Short launches at the start of the plan run before all others.
void LaunchPlan::Chains::Finder::defer_short_launches() {
  const auto n = static_cast<uint32_t>(needs_.size());
  const std::vector<Launches> found = needs_;
  Launches first;
  uint32_t n_first = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const bool is_short = found[i].none() && cost(i) < short_ns_;
    if (is_short) {
      Launches shared;
      bool is_used = false;
      for (uint32_t later = i + 1; later < n; ++later) {
        if (!found[later][i]) continue;
        shared = is_used ? shared & found[later] : found[later];
        is_used = true;
      }
      for (uint32_t k = i; k < n; ++k) shared.reset(k);
      needs_[i] = shared;
    }
    needs_[i] |= first;
    if (is_short && n_first == i) {
      first.set(i);
      ++n_first;
    }
  }
}

// Splits launches into sets that do not depend on each other. Sets too short to run as tasks are
// merged into one.
auto LaunchPlan::Chains::Finder::split_by_dependencies(const Members& members) const
    -> std::vector<Members> {
  std::vector<Members> parts;
  for (const uint32_t i : members) {
    Members own = {i};
    std::erase_if(parts, [&](const Members& other) {
      const bool is_own =
          std::any_of(other.begin(), other.end(), [&](uint32_t k) { return needs_[i][k]; });
      if (is_own) own.insert(own.end(), other.begin(), other.end());
      return is_own;
    });
    std::sort(own.begin(), own.end());
    parts.push_back(std::move(own));
  }
  Members shorts;
  std::erase_if(parts, [&](const Members& each) {
    const bool is_short = cost(each) < short_ns_;
    if (is_short) shorts.insert(shorts.end(), each.begin(), each.end());
    return is_short;
  });
  std::sort(shorts.begin(), shorts.end());
  if (!shorts.empty()) parts.push_back(std::move(shorts));
  return parts;
}

// Returns the number of elements of the first input or the first output, whichever is larger.
int64_t LaunchPlan::Chains::Finder::elements(const Launch& launch) const {
  const auto count = [](const tenon_view& x) {
    return std::accumulate(x.sizes, x.sizes + x.rank, int64_t{1}, std::multiplies<>());
  };
  return std::max(count(program_.views_[launch.first_view]),
                  count(program_.views_[launch.first_output()]));
}

// Returns the duration of a launch in nanoseconds; 0 for a small one that may be fused.
int64_t LaunchPlan::Chains::Finder::cost(uint32_t i) const {
  const Launch& launch = program_.launches_[i];
  const bool is_small = launch.kernel->loop_line() && elements(launch) <= small_;
  return is_small ? 0 : launch.duration_ns;
}

int64_t LaunchPlan::Chains::Finder::cost(const Members& members) const {
  int64_t sum = 0;
  for (const uint32_t i : members) sum += cost(i);
  return sum;
}

// Adds a step for the launches in `between` to `chain`. If they form several chains that are worth
// running in parallel, the step holds these chains.
void LaunchPlan::Chains::Finder::add(const Members& between, Chain& chain) {
  const std::vector<Members> parts = split_by_dependencies(between);
  int64_t all = 0, longest = 0;
  for (const Members& each : parts) {
    all += cost(each);
    longest = std::max(longest, cost(each));
  }
  Step step = {.last = between.back(), .runs_as_tasks = all - longest >= kMinParallelNs};
  const size_t n_chains = made_.chains_.size();
  const bool had_found = std::exchange(found_, step.runs_as_tasks);
  if (parts.size() > 1) {
    for (const Members& each : parts) step.chains.push_back(partition(each));
  }
  if (!found_) {
    made_.chains_.resize(n_chains);
    for (const uint32_t i : between) chain.push_back({.launch = i, .last = i});
    found_ = had_found;
    return;
  }
  const Launches together = set_of(between);
  for (const Members& each : parts) {
    for (const uint32_t i : each) made_.parallel_[i] |= together & ~set_of(each);
  }
  chain.push_back(std::move(step));
}

// Makes a chain of these launches. Splits it into steps at each launch that is ordered before or
// after every other launch of the chain. Returns the index of the chain.
uint32_t LaunchPlan::Chains::Finder::partition(const Members& members) {
  Chain chain;
  const Launches all = set_of(members);
  Members between;
  for (size_t at = 0; at < members.size(); ++at) {
    const uint32_t i = members[at];
    const bool is_joint =
        (needs_[i] & all).count() == at &&
        std::all_of(members.begin() + static_cast<std::ptrdiff_t>(at) + 1, members.end(),
                    [&](uint32_t later) { return needs_[later][i]; });
    if (!is_joint) {
      between.push_back(i);
      continue;
    }
    if (!between.empty()) add(std::exchange(between, {}), chain);
    chain.push_back({.launch = i, .last = i});
  }
  if (!between.empty()) add(between, chain);
  made_.chains_.push_back(std::move(chain));
  return static_cast<uint32_t>(made_.chains_.size() - 1);
}

std::unique_ptr<const LaunchPlan::Chains> LaunchPlan::Chains::find(const LaunchPlan& program,
                                                                   int64_t small) {
  const Device& device = program.device_;
  const bool can_run = device.synchronous() && device.host_visible() &&
                       device.calls().run_tasks != run_sequentially &&
                       device.properties().compute_units > 1;
  int64_t duration_ns = 0;
  for (const Launch& launch : program.launches_) duration_ns += launch.duration_ns;
  if (!can_run || duration_ns < kMinParallelNs || program.launches_.size() > kMaxLaunches)
    return nullptr;
  auto made = std::make_unique<Chains>();
  Finder(program, small, *made);
  return made->chains_.size() > 1 ? std::move(made) : nullptr;
}

// ---- running

class LaunchPlan::Chains::Call {
 public:
  Call(const Chains& chains, const LaunchPlan& program, Scope& scope, Frame& frame, size_t commits)
      : chains_(chains),
        program_(program),
        scope_(scope),
        frame_(frame),
        commits_(commits),
        stream_(scope.stream(program.device_)) {}

  void run() {
    run(chains_.chains_.back(), 0);
    if (wrong_ != kNone && wrong_ <= failed_) {
      scope_.error_record() = record_;
      program_.fail(scope_, program_.launches_[wrong_], nullptr);
    }
    if (failed_ != kNone) program_.fail(scope_, program_.launches_[failed_], error_);
    if (is_cancelled_) scope_.check_cancelled();
  }

 private:
  // Runs a chain. `last` is the last launch of all chains that run in parallel with it. If `last`
  // is at or after launch `commits_`, the chain cannot be cancelled.
  void run(const Chain& chain, uint32_t last);
  void run_chains(const Step& step, uint32_t last);
  void launch(uint32_t i, tenon_error_record& record);
  void fail(uint32_t i, tenon_error* error);
  void note_value_error(uint32_t i, const tenon_error_record& record);

  const Chains& chains_;
  const LaunchPlan& program_;
  Scope& scope_;
  Frame& frame_;
  const size_t commits_;
  tenon_stream_p* const stream_;
  std::atomic<bool> is_cancelled_{false};
  // The first launch, in plan order, that failed. All launches before it still run. Value errors
  // count as failures unless the scope keeps them.
  std::atomic<uint32_t> failed_{kNone};
  std::mutex mutex_;
  tenon_error* error_ = nullptr;
  uint32_t wrong_ = kNone;  // The first launch, in plan order, with a value error.
  tenon_error_record record_ = {};
};

void LaunchPlan::Chains::Call::run(const Chain& chain, uint32_t last) {
  tenon_error_record record = {};
  for (const Step& step : chain) {
    if (step.launch == kNone) {
      run_chains(step, std::max(last, step.last));
    } else if (step.launch < failed_) {
      launch(step.launch, record);
    }
    if (std::max(last, step.last) >= commits_ || !scope_.is_cancelled()) continue;
    is_cancelled_ = true;
    return;
  }
}

void LaunchPlan::Chains::Call::run_chains(const Step& step, uint32_t last) {
  struct Chosen {
    Call& call;
    const Step& step;
    uint32_t last;
  } chosen = {*this, step, last};
  const tenon_tasks tasks = {
      .run =
          [](void* payload, size_t i) {
            const Chosen& chosen = *static_cast<Chosen*>(payload);
            chosen.call.run(chosen.call.chains_.chains_[chosen.step.chains[i]], chosen.last);
          },
      .payload = &chosen,
      .n = step.chains.size()};
  const auto run_tasks = step.runs_as_tasks ? program_.device_.calls().run_tasks : run_sequentially;
  run_tasks(stream_, &tasks);
}

void LaunchPlan::Chains::Call::launch(uint32_t i, tenon_error_record& record) {
  const Launch& each = program_.launches_[i];
  tenon_launch& arguments = frame_.launches[i];
  arguments.record = &record;
  if (each.workspace_bytes) arguments.workspace = frame_.views[each.end_outputs()];
  tenon_error* const error =
      program_.device_.calls().launch(each.kernel->handle(), stream_, &arguments);
  if (error) [[unlikely]] {
    record = {};
    fail(i, error);
  } else if (record.state != 0) [[unlikely]] {
    note_value_error(i, std::exchange(record, {}));
  }
}

void LaunchPlan::Chains::Call::fail(uint32_t i, tenon_error* error) {
  const std::lock_guard lock(mutex_);
  if (i < failed_) {
    std::swap(error, error_);
    failed_ = i;
  }
  if (error) release_error(error);
}

void LaunchPlan::Chains::Call::note_value_error(uint32_t i, const tenon_error_record& record) {
  const std::lock_guard lock(mutex_);
  if (i >= wrong_) return;
  wrong_ = i;
  record_ = record;
  if (!scope_.defers_value_errors() && i < failed_) {
    failed_ = i;
    if (error_) release_error(std::exchange(error_, nullptr));
  }
}

bool LaunchPlan::Chains::run(const LaunchPlan& program, Scope& scope, Frame& frame,
                             size_t commits) const {
  if (scope.is_profiled()) return false;
  const uint32_t number = n_calls_++ % kPeriod;
  const bool is_trial = number < kTrials;
  if (number == 0) best_ns_[0] = best_ns_[1] = INT64_MAX;
  const bool together =
      is_trial ? number % 2 != 0 : best_ns_[1] < best_ns_[0] && best_ns_[0] != INT64_MAX;
  if (!is_trial && !together) return false;
  const Clock::time_point began = Clock::now();
  if (together) {
    Call(*this, program, scope, frame, commits).run();
  } else {
    program.launch_serially(scope, frame, commits);
  }
  if (is_trial) {
    const int64_t took = std::chrono::nanoseconds(Clock::now() - began).count();
    std::atomic<int64_t>& best = best_ns_[together];
    best = std::min<int64_t>(best, took);
  }
  return true;
}

}  // namespace tenon
