// Runs calls from several threads at once, and with a failure injected at each possible point.

#include <chrono>
#include <exception>
#include <mutex>

#include "conformance/checks/check.h"
#include "conformance/kit/guard.h"
#include "conformance/kit/threads.h"

namespace tenon_kit {
namespace {

std::vector<Problem> two_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = valid_problems(claim, 2, env.seed, env.oracle);
  if (problems.size() > 2) problems.erase(problems.begin(), problems.end() - 2);
  return problems;
}

// Each thread uses its own scope in one context; all threads must get the same bits.
Finding test_threads(const Environment& env, const Problem& problem) {
  const std::vector<Result> want = env.device.run(problem);
  std::mutex mutex;
  std::string fault;
  const auto work = [&] {
    try {
      const Session own = env.device.with_own_scope();
      // Short calls rarely overlap, so each thread repeats them for 20 ms.
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
      for (int i = 0; i < 8 || std::chrono::steady_clock::now() < end; ++i) {
        const std::string found = bit_difference(own.run(problem), want);
        if (found.empty()) continue;
        std::lock_guard lock(mutex);
        fault = "while other threads run, " + found;
      }
    } catch (const std::exception& error) {
      std::lock_guard lock(mutex);
      fault = error.what();
    }
  };
  std::vector<Thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (Thread& thread : threads) thread.join();
  return fault.empty() ? Finding() : Finding::fault(fault);
}

// Checks launches in which an allocation of host memory fails. Each must either report an error or
// give the right result.
Finding test_failing_memory(const Environment& env, const Problem& problem,
                            const std::vector<Result>& want) {
  for (uint64_t n = 1; n <= 40; ++n) {
    std::vector<Result> got = want;
    guard::fail_memory_at(n);
    guard::start_observing(Poison::kPattern);
    try {
      got = env.device.run(problem);
    } catch (const tenon::Error&) {
      // The failure was reported.
    }
    guard::stop_observing();
    const bool reached = guard::fail_memory_at(0);
    if (const std::string fault = bit_difference(got, want); !fault.empty()) {
      return Finding::fault(
          "allocation " + std::to_string(n) +
          " of host memory in a launch failed, but this was not reported: " + fault);
    }
    if (!reached) break;
  }
  return {};
}

// Checks that a failed call reports an error and leaks nothing, and that the next call gives the
// right result.
Finding test_failures(const Environment& env, const Problem& problem) {
  const std::vector<Result> want = env.device.run(problem);
  const tenon::Device device = env.device.scope().device();
  for (const guard::Call call : {guard::Call::kLaunch, guard::Call::kAllocate}) {
    for (uint64_t n = 1; n <= 3; ++n) {
      device.trim();  // Forces a new allocation.
      guard::inject_failure(call, n);
      bool failed = false;
      try {
        env.device.run(problem);
      } catch (const tenon::Error&) {
        failed = true;
      }
      const bool reached = guard::n_calls(call) >= n;
      guard::inject_failure(call, 0);
      // The core retries a failed allocation after a trim, which may succeed.
      if (call == guard::Call::kLaunch && reached && !failed) {
        return Finding::fault("launch " + std::to_string(n) + " failed, but no error was reported");
      }
      if (const std::string fault = bit_difference(env.device.run(problem), want); !fault.empty()) {
        return Finding::fault("after a failed call, " + fault);
      }
    }
  }
  return test_failing_memory(env, problem, want);
}

bool is_thorough_run(const Environment& env, const Claim&) { return env.thorough; }

}  // namespace

std::vector<Check> stress_checks() {
  return {
      {"threads", 6, "Four threads in four scopes get the same bits.", is_thorough_run,
       two_problems, test_threads},
      {"failures", 6, "A failed launch or allocation is reported, and the next call is right.",
       is_thorough_run, two_problems, test_failures},
  };
}

}  // namespace tenon_kit
