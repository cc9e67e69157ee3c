// docs/profiling.md: profiles a few calls and writes a trace.

#include <iostream>
#include <map>
#include <tenon/tenon.hpp>

using namespace tenon;

static void profile_a_layer(const std::string& path) {
  const Tensor x = matrix<float>({{1, 2}, {3, 4}});
  const auto layer =
      function([](const Tensor& x) { return tanh(matmul(x, x)); }, {.name = "layer"});

  const Profiler profiler;
  for (int i = 0; i < 3; ++i) layer(x);
  profiler.stop();
  std::cerr << profiler.table();
  profiler.write_trace(path);

  std::map<std::string, uint64_t> counts;
  for (const ProfileRow& row : profiler.rows()) counts[row.name] += row.c.count;
  for (const auto& [name, count] : counts) std::cout << name << ": " << count << "\n";
}

static void exceed_max_events() {
  const Tensor x = vector<float>({1, 2});
  const Profiler profiler(/*max_events=*/10);
  for (int i = 0; i < 100; ++i) x + x;
  profiler.stop();
  std::cout << profiler.rows()[0].c.count << " calls, " << profiler.dropped_events()
            << " of them not in the trace\n";
}

int main(int, char** argv) {
  profile_a_layer(std::string(argv[0]) + ".trace.json");
  exceed_max_events();
}
