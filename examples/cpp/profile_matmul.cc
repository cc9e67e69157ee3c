// Profiles a layer, eager and traced: compares the time of the matrix product with that of adding
// the bias. The tables go to stderr, since their times differ from run to run; the traces can be
// opened in https://ui.perfetto.dev.

#include <filesystem>
#include <iostream>
#include <tenon/tenon.hpp>

using namespace tenon;

static void report(const Profiler& profiler, const std::string& mode) {
  profiler.stop();
  uint64_t n_products = 0, n_sums = 0, products = 0, sums = 0;
  for (const ProfileRow& row : profiler.rows()) {
    if (row.name == "matmul") n_products += row.c.count, products += row.time();
    if (row.name == "add") n_sums += row.c.count, sums += row.time();
  }
  std::cout << mode << ": " << n_products << " matmul, " << n_sums << " add; more time went to "
            << (products > sums ? "matmul" : "add") << "\n";

  const auto path =
      std::filesystem::temp_directory_path() / ("profile_matmul_cpp_" + mode + ".json");
  profiler.write_trace(path.string());
  std::cerr << profiler.table() << "\n" << path << "\n\n";
}

int main() {
  constexpr int64_t kSize = 256;
  constexpr int kCalls = 10;
  const Tensor weights = ones({kSize, kSize}), bias = ones({kSize});
  const auto layer = [&](const Tensor& x) { return matmul(x, weights) + bias; };
  const Tensor x = ones({kSize, kSize});

  const Profiler eager;
  for (int i = 0; i < kCalls; ++i) layer(x);
  report(eager, "eager");

  const auto traced = function(layer, {.name = "layer"});
  const Profiler profiler;
  for (int i = 0; i < kCalls; ++i) traced(x);
  report(profiler, "traced");
}
