// The work of benches/functions.cc in PyTorch's C++ API under InferenceMode. Loops are compiled by
// TorchScript.

#include <torch/jit.h>

#include <cmath>
#include <string>

#include "benches/libtorch.h"

namespace {

constexpr int kPairs = 50;
constexpr int64_t kTrips = 1000;
constexpr int kWarmUpCalls = 3;  // Number of calls before the measurement.

// Fails the benchmark unless the first element of `got` equals `want` up to rounding.
void check(benchmark::State& state, const at::Tensor& got, float want) {
  const float first = got.flatten()[0].item<float>();
  if (std::abs(first - want) > 1e-4f * std::abs(want)) state.SkipWithError("wrong result");
}

// Measures calls after kWarmUpCalls, in which TorchScript's profiling executor optimises the code.
template <class Call>
void run(benchmark::State& state, const Call& call) {
  for (int i = 0; i < kWarmUpCalls; ++i) call();
  for (auto _ : state) {
    at::Tensor y = call();
    benchmark::DoNotOptimize(y);
  }
}

// Measures matmuls that alternate with gathers of rows.
void chain_unfusable(benchmark::State& state) {
  const c10::InferenceMode inference;
  const at::Tensor x = at::ones({4, 4}), w = at::eye(4).roll(1, 1);
  const at::Tensor rows = at::arange(3, -1, -1);
  const auto call = [&] {
    at::Tensor y = x;
    for (int i = 0; i < kPairs; ++i) y = at::index_select(at::matmul(y, w), 0, rows);
    return y;
  };
  run(state, call);
  check(state, call(), 1);
}

// Measures a chain of kPairs operations x * b + c.
void chain_fused(benchmark::State& state) {
  const c10::InferenceMode inference;
  const at::Tensor x = at::ones({64}), b = at::full({64}, 0.5f), c = at::ones({64});
  const auto call = [&] {
    at::Tensor y = x;
    for (int i = 0; i < kPairs; ++i) y = y * b + c;
    return y;
  };
  run(state, call);
  check(state, call(), 2);
}

// Measures tanh(a b + c) d on 16 M elements.
void large_fused(benchmark::State& state, bool in_place) {
  const c10::InferenceMode inference;
  constexpr int64_t kElements = 16 << 20;
  at::Tensor a = at::full({kElements}, 0.5f);
  const at::Tensor b = at::full({kElements}, 0.5f), c = at::full({kElements}, 0.25f);
  const at::Tensor d = at::full({kElements}, 0.5 / std::tanh(0.5));
  const auto call = [&] {
    return in_place ? a.mul_(b).add_(c).tanh_().mul_(d) : at::tanh(a * b + c) * d;
  };
  run(state, call);
  check(state, call(), 0.5f);
}

// Measures a layer norm made of elementary ops.
void rows_fused(benchmark::State& state) {
  const c10::InferenceMode inference;
  const at::Tensor x = at::tensor({2.0f, -2.0f}).repeat({4096, 128});
  const auto call = [&] {
    const at::Tensor centered = x - x.mean(1, true);
    return centered * at::rsqrt(centered.square().mean(1, true) + 1e-5);
  };
  run(state, call);
  check(state, call(), 1);
}

// Measures a convolution with 100 input and output channels.
void convolution(benchmark::State& state) {
  const c10::InferenceMode inference;
  const at::Tensor x = at::full({1, 100, 200, 200}, 0.5f), w = at::full({100, 100, 3, 3}, 0.01f);
  const auto call = [&] { return at::conv2d(x, w); };
  run(state, call);
  check(state, call(), 4.5f);
}

// Measures a loop of adds that TorchScript compiles.
void loop_1000_script(benchmark::State& state) {
  const c10::InferenceMode inference;
  const auto unit = torch::jit::compile(R"(
def adds(x: Tensor, step: Tensor, n: int) -> Tensor:
    for i in range(n):
        x = x + step
    return x
)");
  const at::Tensor x = at::zeros({1}), step = at::full({1}, 0.5f);
  const auto call = [&] { return unit->run_method("adds", x, step, kTrips).toTensor(); };
  run(state, call);
  check(state, call(), 0.5f * kTrips);
}

// Measures a loop of adds in C++.
void loop_1000(benchmark::State& state) {
  const c10::InferenceMode inference;
  const at::Tensor x = at::zeros({1}), step = at::full({1}, 0.5f);
  const auto call = [&] {
    at::Tensor y = x;
    for (int64_t i = 0; i < kTrips; ++i) y = y + step;
    return y;
  };
  run(state, call);
  check(state, call(), 0.5f * kTrips);
}

// Measures an LSTM cell, as one op or made of elementary ops.
void lstm_cell(benchmark::State& state, bool as_one_op) {
  const c10::InferenceMode inference;
  const int64_t n = 32;
  const auto sixteenths = [](int64_t rows, int64_t columns) {
    return at::full({rows, columns}, 0.0625f);
  };
  const at::Tensor x = sixteenths(1, n), h = sixteenths(1, n), c = sixteenths(1, n);
  const at::Tensor w = sixteenths(n, 4 * n), r = sixteenths(n, 4 * n), b = sixteenths(1, 4 * n);
  const at::Tensor wt = w.t().contiguous(), rt = r.t().contiguous();
  const at::Tensor b1 = b.flatten(), none = at::zeros({4 * n});
  const auto call = [&] {
    if (as_one_op) return std::get<0>(at::lstm_cell(x, {h, c}, wt, rt, b1, none));
    const auto gates = (at::matmul(x, w) + at::matmul(h, r) + b).chunk(4, 1);
    const at::Tensor in = at::sigmoid(gates[0]), keep = at::sigmoid(gates[1]);
    const at::Tensor show = at::sigmoid(gates[2]), g = at::tanh(gates[3]);
    return show * at::tanh(keep * c + in * g);
  };
  run(state, call);
  const float gate = 1 / (1 + std::exp(-0.3125f)), g = std::tanh(0.3125f);
  check(state, call(), gate * std::tanh(gate / 16 + gate * g));
}

}  // namespace

// Returns the version of the libtorch headers.
std::string libtorch_version() { return version_of_libtorch(); }

// Registers the benchmarks of this file.
void register_libtorch() {
  at::set_num_threads(1);
  benchmark::RegisterBenchmark("traced_chain_unfusable/libtorch", chain_unfusable);
  benchmark::RegisterBenchmark("traced_chain_fused/libtorch", chain_fused);
  benchmark::RegisterBenchmark("traced_large_fused/libtorch",
                               [](auto& s) { large_fused(s, false); });
  benchmark::RegisterBenchmark("traced_large_in_place/libtorch",
                               [](auto& s) { large_fused(s, true); });
  benchmark::RegisterBenchmark("traced_rows_fused/libtorch", rows_fused);
  benchmark::RegisterBenchmark("traced_convolution/libtorch", convolution);
  benchmark::RegisterBenchmark("traced_loop_1000/libtorch", loop_1000);
  benchmark::RegisterBenchmark("traced_loop_1000/torchscript", loop_1000_script);
  benchmark::RegisterBenchmark("traced_lstm_cell/libtorch", [](auto& s) { lstm_cell(s, false); });
  benchmark::RegisterBenchmark("traced_lstm_cell/libtorch_op", [](auto& s) { lstm_cell(s, true); });
}
