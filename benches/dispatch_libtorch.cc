// The work of benches/dispatch.cc in PyTorch's C++ API. Uses InferenceMode, or requires_grad if
// calls are recorded.

#include <cmath>
#include <string>

#include "benches/libtorch.h"

namespace {

constexpr int kChain = 1000;

// Measures adds of n elements without gradients.
void eager_add(benchmark::State& state, int64_t n) {
  const c10::InferenceMode inference;
  const at::Tensor a = at::full({n}, 1.0f), b = at::full({n}, 2.0f);
  for (auto _ : state) {
    at::Tensor c = a + b;
    benchmark::DoNotOptimize(c);
  }
  if ((a + b)[0].item<float>() != 3) state.SkipWithError("wrong sum");
}

// Measures adds of n elements that autograd records.
void recorded_add(benchmark::State& state, int64_t n) {
  at::Tensor a = at::full({n}, 1.0f), b = at::full({n}, 2.0f);
  a.requires_grad_(true);
  for (auto _ : state) {
    at::Tensor c = a + b;
    benchmark::DoNotOptimize(c);
  }
  (a + b).sum().backward();
  if (a.grad()[0].item<float>() != 1) state.SkipWithError("wrong gradient");
}

// Measures forward and backward passes of a chain of ops. `want` is the expected gradient.
template <class Step>
void backward_chain(benchmark::State& state, float want, Step&& step) {
  at::Tensor x = at::full({1}, 0.001f);
  const at::Tensor seed = at::ones({1});
  x.requires_grad_(true);
  while (state.KeepRunningBatch(kChain)) {
    at::Tensor y = x;
    for (int i = 0; i < kChain; ++i) y = step(y);
    x.mutable_grad() = at::Tensor();
    y.backward(seed);
    if (std::abs(x.grad()[0].item<float>() - want) > 1e-4f * want) {
      state.SkipWithError("wrong gradient");
    }
  }
}

}  // namespace

// Returns the version of the libtorch headers.
std::string libtorch_version() { return version_of_libtorch(); }

// Registers the benchmarks of this file.
void register_libtorch() {
  at::set_num_threads(1);
  benchmark::RegisterBenchmark("eager_add_1/libtorch", [](auto& s) { eager_add(s, 1); });
  benchmark::RegisterBenchmark("eager_add_64/libtorch", [](auto& s) { eager_add(s, 64); });
  benchmark::RegisterBenchmark("recorded_add_1/libtorch", [](auto& s) { recorded_add(s, 1); });
  benchmark::RegisterBenchmark("recorded_add_64/libtorch", [](auto& s) { recorded_add(s, 64); });
  benchmark::RegisterBenchmark("backward_chain_add/libtorch", [](auto& s) {
    const at::Tensor b = at::full({1}, 0.001f);
    backward_chain(s, 1, [&](const at::Tensor& x) { return x + b; });
  });
  benchmark::RegisterBenchmark("backward_chain_tanh/libtorch", [](auto& s) {
    double want = 1, x = 0.001f;
    for (int i = 0; i < kChain; ++i) {
      x = std::tanh(x);
      want *= 1 - x * x;
    }
    backward_chain(s, static_cast<float>(want), [](const at::Tensor& in) { return in.tanh(); });
  });
}
