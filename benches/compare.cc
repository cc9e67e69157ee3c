#include "benches/compare.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "files/atomic_file.h"

namespace benches {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// Collects the time per iteration, in nanoseconds, of every repetition of every benchmark.
class Collector final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      if (run.error_occurred) {
        std::fprintf(stderr, "%s: %s\n", run.benchmark_name().c_str(), run.error_message.c_str());
        failed = true;
        continue;
      }
      times[run.run_name.function_name].push_back(run.real_accumulated_time * 1e9 /
                                                  static_cast<double>(run.iterations));
    }
  }

  std::map<std::string, std::vector<double>> times;
  bool failed = false;
};

}  // namespace

// Parses the command line. `what` is the description that --help prints.
Options parse(int argc, char** argv, const std::string& what) {
  Options options;
  CLI::App app{what};
  app.add_option("--repetitions", options.repetitions, "Number of repetitions of each measurement")
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "Minimum duration of a repetition")
      ->capture_default_str();
  app.add_option("--filter", options.filter,
                 "Run only the cases whose names match this regular expression");
  app.add_option("--json", options.json, "Also write the figures to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

// Runs all registered benchmarks, and prints the medians, `figures` and the ratios to the peers.
// Returns the exit status.
int run(const Options& options, const std::vector<std::string>& versions,
        const std::vector<Figure>& figures) {
  std::vector<std::string> arguments = {
      "bench", "--benchmark_enable_random_interleaving=true",
      "--benchmark_repetitions=" + std::to_string(options.repetitions),
      "--benchmark_min_time=" + std::to_string(options.seconds)};
  if (!options.filter.empty()) arguments.push_back("--benchmark_filter=" + options.filter);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());

  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);

  nlohmann::json report = {{"versions", versions}};
  for (const std::string& version : versions) std::printf("version %s\n", version.c_str());
  for (const auto& [name, times] : collector.times) {
    const auto [low, high] = std::minmax_element(times.begin(), times.end());
    std::printf("time %s %.1f ns (of %zu: %.1f to %.1f)\n", name.c_str(), median(times),
                times.size(), *low, *high);
    report["times_ns"][name] = {{"median", median(times)}, {"min", *low}, {"max", *high}};
  }
  for (const Figure& figure : figures) {
    std::printf("figure %s %.3f %s\n", figure.name.c_str(), figure.value, figure.unit.c_str());
    report["figures"][figure.name] = {{"value", figure.value}, {"unit", figure.unit}};
  }
  const std::string ours = "/tenon";
  for (const auto& [name, times] : collector.times) {
    const size_t slash = name.rfind('/');
    const std::string work = name.substr(0, slash), peer = name.substr(slash + 1);
    const auto mine = collector.times.find(work + ours);
    if (peer == "tenon" || mine == collector.times.end()) continue;
    const double ratio = median(times) / median(mine->second);
    std::printf("ratio %s %s %.2f\n", work.c_str(), peer.c_str(), ratio);
    report["ratios"][work][peer] = ratio;
  }
  if (!options.json.empty()) {
    tenon_files::AtomicFile file(options.json);
    file.write(report.dump(2) + '\n');
    if (!file.finish()) {
      std::fprintf(stderr, "cannot write %s: %s\n", options.json.c_str(),
                   std::strerror(file.error()));
      return 1;
    }
  }
  return collector.failed ? 1 : 0;
}

}  // namespace benches
