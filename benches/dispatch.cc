// Measures the cost of single calls: adds of 1 and 64 elements, adds that a tape records, forward
// and backward passes of chains, and the time from main() to the first result. Runs on one thread.
// Each call returns a new output, which is released. The peer is PyTorch's C++ API.

#include <tenon/tenon.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "benches/compare.h"
#include "benches/peer.h"
#include "benches/session.h"

namespace {

using benches::check;
using benches::scope;

constexpr int kChain = 1000;
constexpr int kBatch = 1000;  // Number of recorded adds after which the tape is reset.

// Returns a rank-1 tensor of n elements that equal `value`.
tenon_tensor* constant(int64_t n, float value) {
  return benches::tensor(TENON_FLOAT32, {n}, std::vector<float>(static_cast<size_t>(n), value));
}

// Returns whether all elements of x equal `want`, up to rounding errors.
bool equals(tenon_tensor* x, float want) {
  std::vector<float> got(static_cast<size_t>(tenon_tensor_count(x)));
  check(tenon_tensor_read(scope(), x, got.data(), got.size() * 4));
  for (const float value : got) {
    // Tolerates the rounding errors of a thousand additions.
    if (std::abs(value - want) > 1e-4f * std::abs(want)) return false;
  }
  return true;
}

// Measures eager adds of n elements.
void eager_add(benchmark::State& state, int64_t n) {
  tenon_tensor *a = constant(n, 1), *b = constant(n, 2), *c = nullptr;
  for (auto _ : state) {
    check(tenon_add(scope(), a, b, &c));
    tenon_tensor_release(c);
  }
  check(tenon_add(scope(), a, b, &c));
  if (!equals(c, 3)) state.SkipWithError("wrong sum");
  for (tenon_tensor* x : {a, b, c}) tenon_tensor_release(x);
}

// Measures adds of n elements that a tape records.
void recorded_add(benchmark::State& state, int64_t n) {
  tenon_tensor *a = constant(n, 1), *b = constant(n, 2), *c = nullptr;
  tenon_tape* tape = nullptr;
  check(tenon_tape_create(scope(), nullptr, &tape));
  while (state.KeepRunningBatch(kBatch)) {
    check(tenon_tape_watch(tape, tenon_tensor_as_value(a)));
    for (int i = 0; i < kBatch; ++i) {
      check(tenon_add(scope(), a, b, &c));
      tenon_tensor_release(c);
    }
    check(tenon_tape_reset(tape));
  }
  check(tenon_tape_watch(tape, tenon_tensor_as_value(a)));
  check(tenon_add(scope(), a, b, &c));
  tenon_value* source = tenon_tensor_as_value(a);
  tenon_tensor* gradient = nullptr;
  check(tenon_tape_gradient(scope(), tape, &c, 1, nullptr, &source, 1, nullptr, &gradient));
  if (!equals(gradient, 1)) state.SkipWithError("wrong gradient");
  tenon_tape_release(tape);
  for (tenon_tensor* x : {a, b, c, gradient}) tenon_tensor_release(x);
}

// Measures forward and backward passes of a chain of kChain ops. Reports the time per op. `want` is
// the expected gradient.
template <class Step>
void backward_chain(benchmark::State& state, double want, Step&& step) {
  tenon_tensor* x = constant(1, 0.001f);
  tenon_value* source = tenon_tensor_as_value(x);
  while (state.KeepRunningBatch(kChain)) {
    tenon_tape* tape = nullptr;
    check(tenon_tape_create(scope(), nullptr, &tape));
    check(tenon_tape_watch(tape, source));
    tenon_tensor* y = x;
    tenon_tensor_retain(y);
    for (int i = 0; i < kChain; ++i) {
      tenon_tensor* next = nullptr;
      check(step(y, &next));
      tenon_tensor_release(y);
      y = next;
    }
    tenon_tensor* gradient = nullptr;
    check(tenon_tape_gradient(scope(), tape, &y, 1, nullptr, &source, 1, nullptr, &gradient));
    if (want > 0 && !equals(gradient, static_cast<float>(want))) {
      state.SkipWithError("wrong gradient");
    }
    tenon_tape_release(tape);
    tenon_tensor_release(y);
    tenon_tensor_release(gradient);
  }
  tenon_tensor_release(x);
}

// Runs a process that loads every installed plugin. Returns the median of the milliseconds from its
// main() to its first result.
double startup_ms() {
  std::vector<double> times;
  for (int i = 0; i < 11; ++i) {
    FILE* pipe = popen(TENON_STARTUP, "r");
    double ms = 0;
    if (!pipe || std::fscanf(pipe, "%lf", &ms) != 1) {
      std::fprintf(stderr, "cannot run %s\n", TENON_STARTUP);
      std::exit(1);
    }
    pclose(pipe);
    times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const benches::Options options = benches::parse(
      argc, argv, "Measures the overhead of one call of Tenon, compared with PyTorch's C++ API");

  benchmark::RegisterBenchmark("eager_add_1/tenon", [](auto& s) { eager_add(s, 1); });
  benchmark::RegisterBenchmark("eager_add_64/tenon", [](auto& s) { eager_add(s, 64); });
  benchmark::RegisterBenchmark("recorded_add_1/tenon", [](auto& s) { recorded_add(s, 1); });
  benchmark::RegisterBenchmark("recorded_add_64/tenon", [](auto& s) { recorded_add(s, 64); });
  benchmark::RegisterBenchmark("backward_chain_add/tenon", [](auto& s) {
    tenon_tensor* b = constant(1, 0.001f);
    backward_chain(s, 1,
                   [b](tenon_tensor* x, tenon_tensor** y) { return tenon_add(scope(), x, b, y); });
    tenon_tensor_release(b);
  });
  benchmark::RegisterBenchmark("backward_chain_tanh/tenon", [](auto& s) {
    double want = 1, x = 0.001f;
    for (int i = 0; i < kChain; ++i) {
      x = std::tanh(x);
      want *= 1 - x * x;
    }
    backward_chain(s, want,
                   [](tenon_tensor* in, tenon_tensor** y) { return tenon_tanh(scope(), in, y); });
  });
  return benches::run(options, benches::register_peer(), {{"startup", startup_ms(), "ms"}});
}
