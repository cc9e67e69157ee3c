// Measures the overhead of the C++ binding over the C ABI. `./dev bench bindings` runs this
// program, then the same work in Rust (criterion) and Java (JMH). benches/bindings/run.py combines
// the results. Prints a line for each kind of work: the median times, the median of the
// differences, and the median of the ratios C / C++.
//
//   pair WORK cpp C_NANOSECONDS CPP_NANOSECONDS DIFFERENCE RATIO

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "benches/bindings/calls.h"

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

using Calls = int64_t (*)(int64_t repetitions);

struct Work {
  const char* name;
  Calls c, cpp;
  int64_t batch;
  std::vector<double> c_times = {}, cpp_times = {}, differences = {}, ratios = {};

  // Measures C and C++ alternately, so that other load on the machine affects both equally.
  void measure(benchmark::State& state) {
    for (auto _ : state) {
      const auto per_call = [&](Calls calls) {
        return static_cast<double>(calls(batch)) / static_cast<double>(batch);
      };
      c_times.push_back(per_call(c));
      cpp_times.push_back(per_call(cpp));
      differences.push_back(cpp_times.back() - c_times.back());
      ratios.push_back(c_times.back() / cpp_times.back());
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  Work works[] = {
      {"eager_add", bench_c_eager_add, bench_cpp_eager_add, kBenchBatch},
      {"recorded_add", bench_c_recorded_add, bench_cpp_recorded_add, kBenchBatch},
      {"function_call", bench_c_function_call, bench_cpp_function_call, kBenchBatch},
      {"training_step", bench_c_training_step, bench_cpp_training_step, kBenchSteps},
  };
  for (Work& work : works) {
    work.c(work.batch), work.cpp(work.batch);  // Warm-up, which also traces functions.
    benchmark::RegisterBenchmark(work.name, [&work](auto& state) { work.measure(state); });
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  for (const Work& work : works) {
    if (work.c_times.empty()) continue;
    std::printf("pair %s cpp %.2f %.2f %.2f %.4f\n", work.name, median(work.c_times),
                median(work.cpp_times), median(work.differences), median(work.ratios));
  }
}
