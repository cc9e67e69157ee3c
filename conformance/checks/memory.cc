// Memory: layouts of inputs, donated inputs, writes outside outputs, reads of uninitialised
// outputs, and leaks.

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "conformance/checks/check.h"
#include "conformance/device/failing_memory.h"
#include "conformance/kit/guard.h"

namespace tenon_kit {
namespace {

// Whether the claim's op takes inputs.
bool has_tensors(const Environment&, const Claim& claim) { return !claim.inputs.empty(); }

std::vector<Problem> few_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = valid_problems(claim, env.thorough ? 6 : 2, env.seed, env.oracle);
  if (!env.thorough && problems.size() > 6) problems.resize(6);
  return problems;
}

// ---- layouts: one input at a time in each layout, then all inputs in it

// Whether the operand can have `layout`, a layout other than the dense one.
bool can_have_layout(const Operand& x, Layout layout) {
  if (x.absent || x.scalar || x.shape.empty() || count_of(x.shape) == 0) return false;
  return layout != Layout::kTransposed || x.shape.size() > 1;
}

std::vector<Problem> layout_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems;
  for (Problem& own : few_problems(env, claim)) {
    own.expected.clear();
    for (const Layout layout : kLayouts) {
      if (layout == Layout::kDense) continue;
      Problem all = own;
      for (Operand& x : all.inputs) {
        if (!x.absent && !x.scalar) x.layout = layout;
      }
      problems.push_back(std::move(all));
      if (!env.thorough || own.inputs.size() < 2) continue;
      for (size_t i = 0; i < own.inputs.size(); ++i) {
        if (!can_have_layout(own.inputs[i], layout)) continue;
        problems.push_back(own);
        problems.back().inputs[i].layout = layout;
      }
    }
  }
  return problems;
}

// Checks that the result does not depend on input layouts: it has the same bits as with dense
// inputs.
Finding test_layout(const Environment& env, const Problem& problem) {
  Problem dense = problem;
  for (Operand& x : dense.inputs) {
    if (is_tensor(x)) x = explicit_operand(x);
  }
  const std::vector<Result> got = env.device.run(problem), want = env.device.run(dense);
  if (env.profile == Profile::kRelaxed) return judge_values(env, problem, got);
  if (const std::string fault = bit_difference(got, want); !fault.empty()) {
    return Finding::fault("the result differs from that of dense inputs: " + fault);
  }
  return {};
}

// ---- donation

std::vector<Problem> donation_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = few_problems(env, claim);
  std::erase_if(problems, [](const Problem& p) {
    return p.inputs.empty() || p.inputs[0].absent || p.inputs[0].scalar;
  });
  return problems;
}

// Checks that donating inputs does not change the results.
Finding test_donation(const Environment& env, const Problem& problem) {
  const std::vector<Result> want = env.device.run(problem);
  const size_t n = problem.inputs.size();
  // Donates each input alone, then all inputs at once.
  for (size_t i = 0; i <= n; ++i) {
    const std::vector<tenon::Tensor> inputs = env.device.make(problem.inputs);
    bool is_donated = false;
    for (size_t k = 0; k < n; ++k) {
      if ((k != i && i < n) || problem.inputs[k].absent || problem.inputs[k].scalar) continue;
      inputs[k].donate();
      is_donated = true;
    }
    if (!is_donated) continue;
    if (const std::string f = bit_difference(env.device.run(problem, inputs), want); !f.empty()) {
      const std::string which = i < n ? "input " + std::to_string(i) : "all inputs";
      return Finding::fault("with " + which + " donated, " + f);
    }
  }
  return {};
}

// ---- writes that the guard detects

// A size that devices cannot handle with one block: blocks have at most 1024 threads or elements.
constexpr int64_t kPastBlocks = 1025;

std::vector<Problem> guarded_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = few_problems(env, claim);
  std::optional<Problem> past;
  if (!claim.op->elementwise) {
    past = generate_for(claim, {.size = kPastBlocks, .turn = 1}, env.seed, env.oracle);
  } else if (!problems.empty() &&
             std::all_of(problems.back().inputs.begin(), problems.back().inputs.end(),
                         [](const Operand& x) { return is_tensor(x) && count_of(x.shape) > 0; })) {
    past = problems.back();
    for (Operand& x : past->inputs) resize_operand(x, {kPastBlocks});
    past->name.clear();
    past->expected.clear();
  }
  if (past) problems.push_back(std::move(*past));
  return problems;
}

constexpr const char* kUnlaunched = "no kernel was launched, so the guard could check nothing";

// Runs the problem while the guard observes its launches, and returns the results. Stores the
// faults that the guard has found in `faults`.
std::vector<Result> run_guarded(const Environment& env, const Problem& problem, Poison poison,
                                std::vector<std::string>& faults) {
  guard::take_faults();
  guard::start_observing(poison);
  std::vector<Result> results;
  try {
    results = env.device.run(problem);
  } catch (...) {
    guard::stop_observing();
    throw;
  }
  guard::stop_observing();
  faults = guard::take_faults();
  return results;
}

// Checks that kernels write nothing outside their outputs and do not change inputs.
Finding test_guards(const Environment& env, const Problem& problem) {
  std::vector<std::string> faults;
  run_guarded(env, problem, Poison::kPattern, faults);
  if (!faults.empty()) return Finding::fault(faults[0]);
  if (guard::n_watched() == 0) return {.impossible = kUnlaunched};
  return {};
}

// Checks that results do not depend on the previous contents of output memory.
Finding test_poison(const Environment& env, const Problem& problem) {
  std::vector<std::string> faults;
  const std::vector<Result> a = run_guarded(env, problem, Poison::kOnes, faults);
  const std::vector<Result> b = run_guarded(env, problem, Poison::kZeros, faults);
  const std::string fault = bit_difference(a, b);
  if (!fault.empty())
    return Finding::fault("the result depends on the previous contents of an output: " + fault);
  if (guard::n_watched() == 0) return {.impossible = kUnlaunched};
  return {};
}

// ---- leaks

// Number of allocated bytes, after other threads have released the memory of finished calls.
size_t settled_memory_in_use() {
  size_t held = device::host_memory_in_use();
  for (int i = 0, still = 0; i < 100 && still < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    const size_t now = device::host_memory_in_use();
    still = now == held ? still + 1 : 0;
    held = now;
  }
  return held;
}

// Returns a lower bound of the bytes that each call leaks on an asynchronous device. At the same
// time other threads allocate and release objects. Therefore a leak counts only if each of kCalls
// calls leaks at least kSmallest bytes, which exceeds this noise.
size_t leak_of_asynchronous(const std::function<void()>& call) {
  constexpr size_t kCalls = 48, kSmallest = 16;  // kSmallest: size of malloc's smallest block.
  size_t least = SIZE_MAX;
  for (int window = 0; window < 6 && least >= kCalls * kSmallest; ++window) {
    const size_t held = settled_memory_in_use();
    for (size_t i = 0; i < kCalls; ++i) call();
    const size_t now = settled_memory_in_use();
    least = std::min(least, now > held ? now - held : 0);
  }
  return least < kCalls * kSmallest ? 0 : least / kCalls;
}

// Number of bytes that each call leaks on a synchronous device.
size_t leak_of_synchronous(const std::function<void()>& call) {
  size_t least = SIZE_MAX;
  for (int i = 0; i < 200 && least > 0; ++i) {
    const size_t held = device::host_memory_in_use();
    call();
    const size_t now = device::host_memory_in_use();
    least = std::min(least, now > held ? now - held : 0);
  }
  return least;
}

// Checks that calls leak neither buffers nor host memory.
Finding test_leaks(const Environment& env, const Problem& problem) {
  const auto buffers_after = [&] {
    env.device.run(problem);
    const tenon::Device device = env.device.scope().device();
    device.trim();
    return guard::balance().buffers;
  };
  buffers_after();  // The first call creates kernels and caches, which stay.
  const int64_t before = buffers_after();
  for (int i = 0; i < 3; ++i) buffers_after();
  const int64_t after = buffers_after();
  const auto leak = [](std::string text) {
    Finding finding = Finding::fault(std::move(text));
    finding.leaked = true;
    return finding;
  };
  if (after > before) {
    return leak(std::to_string(after - before) +
                " buffers were allocated in four calls and not released");
  }
  // Caches, including those of the C library, grow only for the first calls; a leak grows with each
  // call.
  const bool is_synchronous = (env.features & TENON_FEATURE_SYNCHRONOUS) != 0;
  const size_t bytes =
      is_synchronous ? leak_of_synchronous(buffers_after) : leak_of_asynchronous(buffers_after);
  return bytes == 0 ? Finding()
                    : leak("each call leaks at least " + std::to_string(bytes) + " bytes");
}

std::vector<Problem> one_problem(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = few_problems(env, claim);
  if (problems.size() > 1) problems.resize(1);
  return problems;
}

}  // namespace

std::vector<Check> memory_checks() {
  return {
      {"layouts", 2,
       "Transposed, strided, reversed, broadcast and offset inputs give bitwise the same results "
       "as dense ones.",
       has_tensors, layout_problems, test_layout},
      {"donation", 2, "Donating an input does not change the result.", has_tensors,
       donation_problems, test_donation},
      {"guards", 2, "Kernels write nothing outside their outputs; inputs stay unchanged.", always,
       guarded_problems, test_guards},
      {"poison", 2, "Every element of an output is written.", always, few_problems, test_poison},
      {"leaks", 2, "Calls leak no buffers.", always, one_problem, test_leaks},
  };
}

}  // namespace tenon_kit
