// The same work in PyTorch's C++ API in InferenceMode, and as TorchScript where there is a loop.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>
#include <torch/jit.h>

#include <cmath>
#include <string>

#if __has_include(<torch/csrc/api/include/torch/version.h>)
#include <torch/csrc/api/include/torch/version.h>
#elif __has_include(<torch/version.h>)
#include <torch/version.h>
#endif

namespace {

constexpr int kPairs = 50;
constexpr int64_t kTrips = 1000;

void check(benchmark::State& state, const at::Tensor& got, float want) {
  const float first = got.flatten()[0].item<float>();
  if (std::abs(first - want) > 1e-4f * std::abs(want)) state.SkipWithError("wrong result");
}

void chain_unfusable(benchmark::State& state) {
  const c10::InferenceMode inference;
  const at::Tensor x = at::ones({4, 4}), w = at::eye(4).roll(1, 1);
  const at::Tensor rows = at::arange(3, -1, -1);
  const auto call = [&] {
    at::Tensor y = x;
    for (int i = 0; i < kPairs; ++i) y = at::index_select(at::matmul(y, w), 0, rows);
    return y;
  };
  for (auto _ : state) {
    at::Tensor y = call();
    benchmark::DoNotOptimize(y);
  }
  check(state, call(), 1);
}

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
  for (int i = 0; i < 3; ++i) call();  // The profiling executor settles.
  for (auto _ : state) {
    at::Tensor y = call();
    benchmark::DoNotOptimize(y);
  }
  check(state, call(), 0.5f * kTrips);
}

void loop_1000(benchmark::State& state) {
  const c10::InferenceMode inference;
  const at::Tensor x = at::zeros({1}), step = at::full({1}, 0.5f);
  const auto call = [&] {
    at::Tensor y = x;
    for (int64_t i = 0; i < kTrips; ++i) y = y + step;
    return y;
  };
  for (auto _ : state) {
    at::Tensor y = call();
    benchmark::DoNotOptimize(y);
  }
  check(state, call(), 0.5f * kTrips);
}

}  // namespace

std::string libtorch_version() {
#if defined(TORCH_VERSION)
  return TORCH_VERSION;
#else
  return "of unknown version";
#endif
}

void register_libtorch() {
  at::set_num_threads(1);
  benchmark::RegisterBenchmark("traced_chain_unfusable/libtorch", chain_unfusable);
  benchmark::RegisterBenchmark("traced_loop_1000/libtorch", loop_1000);
  benchmark::RegisterBenchmark("traced_loop_1000/torchscript", loop_1000_script);
}
