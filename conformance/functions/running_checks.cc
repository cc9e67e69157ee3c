// Checks functions over several calls: repeated, cancelled and failing calls, and calls from
// several threads.

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "conformance/functions/draw_program.h"
#include "conformance/functions/tracing.h"
#include "conformance/kit/guard.h"
#include "conformance/kit/threads.h"

namespace tenon_kit::functions {
namespace {

using tenon::Tensor;

struct Form {
  const char* name;
  Tensors (*code)(const Tensor& x, const Tensor& n);
};

Tensors elementwise_chain(const Tensor& x, const Tensor&) {
  const Tensor y = tanh(x * 0.5f + 1.f) - x;
  return {y * y, maximum(x, y)};
}
Tensors reductions(const Tensor& x, const Tensor&) {
  const Tensor m = sum(x, {.axes = {1}, .keepdims = true});
  return {x - m, matmul(x, x, {.transpose_b = true})};
}
Tensors call_while_loop(const Tensor& x, const Tensor& n) {
  return {tenon::while_loop([&](const Tensor& i, const Tensor&) { return less(i, n); },
                            [&](const Tensor& i, const Tensor& y) {
                              return std::array{i + 1, y * 0.75f + x};
                            },
                            n - n, x)[1]};
}
Tensors compute_gradient(const Tensor& x, const Tensor&) {
  const tenon::Tape tape;
  tape.watch(x);
  const Tensor loss = sum(square(tanh(x) * x));
  return {loss, tape.gradient(loss, x)};
}
constexpr Form kForms[] = {{"a chain", elementwise_chain},
                           {"reductions", reductions},
                           {"a loop", call_while_loop},
                           {"a gradient", compute_gradient}};

tenon::Function make_function(const Form& form) {
  return as_function([&form](std::span<const Tensor> in) { return form.code(in[0], in[1]); },
                     form.name);
}
Tensors make_inputs(const Session& session, uint64_t seed, int64_t trips = 5) {
  return {session.make(uniform_operand(TENON_FLOAT32, {4, 5}, seed)),
          session.make(explicit_operand(TENON_INT64, {}, {Real(trips)}))};
}

// Calls run(form) for each form for which the device has kernels. Returns the number of these
// forms.
uint64_t for_each_form(const std::function<void(const Form&)>& run) {
  uint64_t cases = 0;
  std::string refusal;
  for (const Form& form : kForms) {
    try {
      run(form);
      ++cases;
    } catch (const tenon::Error& error) {
      if (error.code() != tenon::Code::kUnimplemented) {
        throw std::runtime_error(fmt::format("{}: a call failed: {}", form.name, error.message()));
      }
      refusal = error.message();
    }
  }
  if (cases == 0)
    throw Unsupported("the check needs a signature that the plugin does not claim: " + refusal);
  return cases;
}

// ---- repeated calls

// Checks that repeated calls of a function prepare no kernels and allocate no additional memory.
uint64_t test_repeated_calls(const Bench& bench) {
  const tenon::ScopeGuard in = on_device(bench);
  const tenon::Device device = bench.env.device.scope().device();
  return for_each_form([&](const Form& form) {
    const tenon::Function traced = make_function(form);
    const Tensors inputs = make_inputs(bench.env.device, 1);
    const auto call = [&] {
      traced(inputs);
      bench.env.device.scope().wait();
    };
    for (int i = 0; i < 8; ++i) call();
    guard::inject_failure(guard::Call::kPrepare, 0);
    guard::inject_failure(guard::Call::kAllocate, 0);
    const uint64_t recordings = guard::n_recordings();
    const tenon_memory_info before = device.memory();
    for (int i = 0; i < 100; ++i) call();
    const tenon_memory_info after = device.memory();
    const auto require_none = [&](uint64_t n, const char* what) {
      if (n == 0) return;
      throw std::runtime_error(
          fmt::format("{}: in a hundred repeated calls, {} {}", form.name, n, what));
    };
    require_none(guard::n_calls(guard::Call::kPrepare),
                 "kernels were prepared, but repeated calls must reuse them");
    require_none(guard::n_calls(guard::Call::kAllocate),
                 "buffers were allocated, but repeated calls must reuse them");
    require_none(guard::n_recordings() - recordings,
                 "recordings were made, but repeated calls must replay them");
    require_none(after.live_bytes - before.live_bytes, "more bytes of tensors are in use");
    require_none(after.held_bytes - before.held_bytes, "more bytes of device memory are held");
  });
}

// ---- cancelled and failing calls

// Checks that a loop in a function can be cancelled, and that the next call is correct.
uint64_t test_cancelled(const Bench& bench) {
  if (!kHasThreads)
    throw Unsupported("the platform has no threads, so no thread can cancel a call");
  const tenon::ScopeGuard in = on_device(bench);
  const Session& device = bench.env.device;
  const tenon::Function traced = make_function(kForms[2]);
  const Results want =
      read_all(bench, call_while_loop(make_inputs(device, 1)[0], make_inputs(device, 1)[1]));
  for (int call = 0; call < 3; ++call) traced(make_inputs(device, 1));
  constexpr int64_t kEndless = int64_t{1} << 50;
  const Tensors endless = make_inputs(device, 1, kEndless);
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> ended{false};
    // A cancellation affects only work already submitted, so a thread repeats it until the call
    // ends.
    Thread canceller([&] {
      while (!ended) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (!ended) device.scope().cancel();
      }
    });
    std::string said;
    try {
      read_all(bench, traced(endless));
      said = "an endless loop ended";
    } catch (const tenon::Error& error) {
      if (error.code() != tenon::Code::kCancelled) said = error.message();
    }
    ended = true;
    canceller.join();
    if (!said.empty()) throw std::runtime_error("cancelled: " + said);
    // A cancellation may have come too late. It must not affect the next call.
    const Fault fault = bit_difference(read_all(bench, traced(make_inputs(device, 1))), want);
    if (!fault.empty()) throw std::runtime_error("the call after a cancelled call: " + fault);
  }
  return 3;
}

// Checks that a launch that fails in a function is reported, and that the next call is correct.
uint64_t test_failures(const Bench& bench) {
  const tenon::ScopeGuard in = on_device(bench);
  return for_each_form([&](const Form& form) {
    const Tensors inputs = make_inputs(bench.env.device, 1);
    const Results want = read_all(bench, form.code(inputs[0], inputs[1]));
    const tenon::Function traced = make_function(form);
    for (int call = 0; call < 4; ++call) traced(inputs);
    for (uint64_t n = 1; n <= 12; ++n) {
      guard::inject_failure(guard::Call::kLaunch, n);
      bool failed = false;
      try {
        read_all(bench, traced(inputs));
        bench.env.device.scope().wait();
      } catch (const tenon::Error&) {
        failed = true;
      }
      const bool reached = guard::n_calls(guard::Call::kLaunch) >= n;
      guard::inject_failure(guard::Call::kLaunch, 0);
      if (reached && !failed) {
        throw std::runtime_error(
            fmt::format("{}: launch {} failed, but no error was reported", form.name, n));
      }
      const Fault fault = bit_difference(read_all(bench, traced(inputs)), want);
      if (!fault.empty()) {
        throw std::runtime_error(
            fmt::format("{}: after launch {} failed, {}", form.name, n, fault));
      }
    }
  });
}

// ---- several threads

constexpr size_t kThreads = 4;

// Runs `run` in several threads, each with its own scope. Rethrows an exception of any thread.
void run_in_threads(const Bench& bench,
                    const std::function<void(const Session& own, size_t thread)>& run) {
  std::mutex mutex;
  std::string fault;
  std::vector<Thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      try {
        const Session own = bench.env.device.with_own_scope();
        const tenon::ScopeGuard in(own.scope());
        run(own, i);
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        fault = error.what();
      }
    });
  }
  for (Thread& thread : threads) thread.join();
  if (!fault.empty()) throw std::runtime_error("while other threads run: " + fault);
}

// Checks that several threads can trace and call one function, each in its own scope.
uint64_t test_shared_function(const Bench& bench) {
  return for_each_form([&](const Form& form) {
    std::vector<Results> want;
    std::optional<tenon::Function> traced;
    {
      const tenon::ScopeGuard in = on_device(bench);
      traced = make_function(form);
      for (size_t i = 0; i < kThreads; ++i) {
        const Tensors inputs = make_inputs(bench.env.device, i, static_cast<int64_t>(i));
        want.push_back(read_all(bench, form.code(inputs[0], inputs[1])));
      }
    }
    // The function is not traced yet, so the threads also race to trace it.
    run_in_threads(bench, [&](const Session& own, size_t thread) {
      const Tensors inputs = make_inputs(own, thread, static_cast<int64_t>(thread));
      for (int call = 0; call < (bench.env.thorough ? 300 : 40); ++call) {
        Results got;
        for (const Tensor& y : (*traced)(inputs)) got.push_back(own.read(y));
        const Fault fault = bit_difference(got, want[thread]);
        if (!fault.empty()) throw std::runtime_error(fmt::format("{}: {}", form.name, fault));
      }
    });
  });
}

// Calls a function that updates one variable from several threads, and checks that no update is
// lost.
uint64_t test_shared_states(const Bench& bench) {
  const int n_calls = bench.env.thorough ? 200 : 30;
  std::optional<tenon::Function> step;
  std::optional<tenon::Variable> counter;
  {
    const tenon::ScopeGuard in = on_device(bench);
    counter.emplace(bench.env.device.make(explicit_operand(TENON_FLOAT32, {3}, {0, 100, 200})));
    const tenon::Variable cell = *counter;
    step = as_function([cell](std::span<const Tensor> in) {
      cell.assign(cell + in[0]);
      return Tensors{cell.read()};
    });
    // On a device without `add`, this call fails with UNIMPLEMENTED.
    (*step)(Tensors{bench.env.device.make(explicit_operand(TENON_FLOAT32, {3}, {0, 0, 0}))});
  }
  run_in_threads(bench, [&](const Session& own, size_t) {
    const Tensors one = {own.make(explicit_operand(TENON_FLOAT32, {3}, {1, 1, 1}))};
    for (int call = 0; call < n_calls; ++call) (*step)(one);
    own.scope().wait();
  });
  const tenon::ScopeGuard in = on_device(bench);
  const Real end = Real(n_calls * static_cast<int>(kThreads));
  const Reals want = {end, 100 + end, 200 + end};
  const Reals got = bench.env.device.read(counter->read()).values();
  if (got != want) {
    throw std::runtime_error(
        fmt::format("{} steps from {} threads increased the counter to {} only",
                    n_calls * static_cast<int>(kThreads), kThreads, text(got.at(0))));
  }
  return 1;
}

}  // namespace

std::vector<FunctionCheck> running_checks() {
  return {
      {.part = "functions.running",
       .name = "steady",
       .what = "A repeated call prepares no kernel, and a hundred repeated calls allocate no "
               "additional memory.",
       .test = test_repeated_calls},
      {.part = "functions.running",
       .name = "cancelled",
       .what = "A loop in a function can be cancelled, and the next call is correct.",
       .test = test_cancelled},
      {.part = "functions.running",
       .name = "function_failures",
       .what = "A launch that fails in a function is reported, and the next call is correct.",
       .test = test_failures},
      {.part = "functions.running",
       .name = "shared_functions",
       .what = "Four threads in four scopes trace and call one function, and each gets its own "
               "results.",
       .test = test_shared_function},
      {.part = "functions.running",
       .name = "shared_states",
       .what = "No step is lost if four threads call one function that updates a variable.",
       .test = test_shared_states},
  };
}

}  // namespace tenon_kit::functions
