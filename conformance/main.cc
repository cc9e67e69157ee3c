// tenon-conformance: judges a device plugin by the op semantics that all devices share.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "conformance/onnx/onnx_tests.h"
#include "conformance/report/report.h"
#include "conformance/run/claim_run.h"
#include "conformance/run/workers.h"

namespace tenon_kit {
namespace {

constexpr int kUnavailable = 77;  // What test drivers take for "skipped": never a pass.

struct Options {
  RunOptions run;
  std::string profile = "strict";
  std::string level = "6";
  std::string case_line;
  std::string shard;
  std::string json, junit, html, resume, expected;
  std::vector<std::string> plugin_options;
  int jobs = 0;
  double timeout = 120;
  bool claims = false;
  bool worker = false;
};

// A file, or the name of a plugin that lies where Tenon looks.
std::string find_plugin(const std::string& given) {
  if (std::filesystem::exists(given)) return std::filesystem::absolute(given);
  const tenon::Context context;
  for (const tenon_plugin_candidate& candidate : context.candidates()) {
    const std::string name(candidate.name.data, candidate.name.size);
    if (name == given) return std::string(candidate.path.data, candidate.path.size);
  }
  throw std::runtime_error("there is no file and no plugin \"" + given + "\"");
}

bool matches(const std::string& text, const std::string& pattern) {
  return pattern.empty() || text == pattern ||
         (pattern.back() == '*' && text.starts_with(pattern.substr(0, pattern.size() - 1)));
}

std::vector<Cell> chosen_cells(const Runner& runner, const Options& options) {
  std::vector<Cell> cells;
  const std::vector<Claim>& claims = runner.claims();
  for (size_t i = 0; i < claims.size(); ++i) {
    if (!matches(claims[i].op->name, options.run.op)) continue;
    if (claims[i].dtypes.find(options.run.dtype) == std::string::npos) continue;
    for (const size_t check : runner.checks_of(claims[i])) cells.push_back({i, check});
  }
  if (!options.shard.empty()) {
    size_t index = 0, count = 0;
    if (std::sscanf(options.shard.c_str(), "%zu/%zu", &index, &count) != 2 || index < 1 ||
        index > count) {
      throw std::runtime_error("--shard wants I/N with 1 <= I <= N, not " + options.shard);
    }
    std::vector<Cell> own;
    for (size_t i = index - 1; i < cells.size(); i += count) own.push_back(cells[i]);
    cells = std::move(own);
  }
  return cells;
}

int run_case(const Runner& runner, const Options& options) {
  const Problem problem = from_line(options.case_line);
  bool passed = true;
  for (const Check& check : all_checks()) {
    if (!options.run.check.empty() ? options.run.check != check.name
                                   : std::string("value") != check.name) {
      continue;
    }
    const Finding finding = check.test(runner.environment(), problem);
    fmt::print("{} {} {}\n", finding.passed ? "PASS" : "FAIL", check.name, finding.message);
    passed = passed && finding.passed;
  }
  return passed ? 0 : 1;
}

void print_claims(const Runner& runner) {
  std::string last;
  for (const Claim& claim : runner.claims()) {
    if (claim.op->name != last) fmt::print("{}{}", last.empty() ? "" : "\n", claim.op->name);
    last = claim.op->name;
    fmt::print(" {}", claim.dtypes);
  }
  fmt::print("\n");
}

// A worker's command is this program's own, with what decides about cells.
std::vector<std::string> worker_command(const Options& options, const std::string& plugin) {
  std::vector<std::string> command = {std::filesystem::read_symlink("/proc/self/exe"),
                                      "--worker",
                                      "--plugin",
                                      plugin,
                                      "--profile",
                                      options.profile,
                                      "--level",
                                      options.level,
                                      "--seed",
                                      std::to_string(options.run.seed),
                                      "--shrink",
                                      std::to_string(options.run.shrink)};
  for (const std::string& option : options.plugin_options) {
    command.insert(command.end(), {"--option", option});
  }
  if (!options.run.device.empty()) command.insert(command.end(), {"--device", options.run.device});
  return command;
}

int serve(const Runner& runner) {
  return serve_cells([&](const Cell& cell, const Tell& tell) {
    const auto at = [&](const Problem& problem) {
      // What draws its values is short; what lists them may not be.
      const std::string line = to_line(problem);
      tell(line.size() < 20000 ? line : "");
    };
    return runner.run(runner.claims().at(cell.claim), all_checks().at(cell.check), at);
  });
}

int judge(const Runner& runner, Options& options) {
  Report report(runner, options.profile, options.level, options.run.seed);
  if (!options.expected.empty()) report.expect(options.expected);
  std::vector<Cell> cells = chosen_cells(runner, options);
  if (!options.resume.empty()) {
    std::erase_if(cells, [&, known = report.read(options.resume)](const Cell& cell) {
      const Claim& claim = runner.claims()[cell.claim];
      return known.contains(claim.op->name + " " + claim.dtypes + " " +
                            all_checks()[cell.check].name);
    });
  }
  const auto blank = [&](const Cell& cell) {
    const Claim& claim = runner.claims()[cell.claim];
    const Check& check = all_checks()[cell.check];
    return Row{
        .op = claim.op->name, .dtypes = claim.dtypes, .check = check.name, .level = check.level};
  };
  report.begin(cells.size());
  WorkerOptions workers = {.command = worker_command(options, options.run.plugin),
                           .jobs = options.jobs > 0
                                       ? options.jobs
                                       : static_cast<int>(std::thread::hardware_concurrency()),
                           .cell_seconds = options.timeout};
  run_cells(workers, cells, blank, [&](const Cell&, const Row& row) { report.add(row); });
  report.end();
  if (!options.json.empty()) report.write_json(options.json);
  if (!options.junit.empty()) report.write_junit(options.junit);
  if (!options.html.empty()) report.write_html(options.html);
  return report.passed() ? 0 : 1;
}

int run(Options& options) {
  options.run.profile = options.profile == "relaxed" ? Profile::kRelaxed : Profile::kStrict;
  options.run.thorough = options.level != "smoke";
  options.run.level = options.run.thorough ? std::stoi(options.level) : 4;
  for (const std::string& option : options.plugin_options) {
    const size_t equals = option.find('=');
    options.run.plugin_options.emplace_back(
        option.substr(0, equals), equals == std::string::npos ? "" : option.substr(equals + 1));
  }
  options.run.plugin = find_plugin(options.run.plugin);
  std::unique_ptr<Runner> runner;
  try {
    runner = std::make_unique<Runner>(options.run);
  } catch (const tenon::Error& error) {
    fmt::print(stderr, "tenon-conformance: {}: {}\n", options.run.plugin, error.message());
    return error.code() == tenon::Code::kUnavailable ? kUnavailable : 1;
  }
  if (options.worker) return serve(*runner);
  if (options.claims) return print_claims(*runner), 0;
  if (!options.case_line.empty()) return run_case(*runner, options);
  return judge(*runner, options);
}

// ---- the node tests of ONNX

struct OnnxCommand {
  tenon::conformance::OnnxOptions options;
  size_t least = 0;
  bool table = false;
};

CLI::App* add_onnx(CLI::App& app, OnnxCommand& onnx) {
  CLI::App* const command = app.add_subcommand("onnx", "Run the node tests of ONNX");
  onnx.options.jobs = std::max(1u, std::thread::hardware_concurrency());
  command->add_option("--device", onnx.options.device, "The device, such as cpu or ref:0");
  command->add_option("--plugin", onnx.options.plugin_paths, "Plugins that go before all others");
  command->add_option("--data", onnx.options.data, "The folder of the tests");
  command->add_option("--filter", onnx.options.filter,
                      "A regular expression that names must match");
  command->add_option("--jobs", onnx.options.jobs, "How many run at a time");
  command->add_option("--least", onnx.least, "Fail unless so many tests are run at least");
  command->add_flag("--table", onnx.table, "Count by op, too");
  return command;
}

int run_onnx(const OnnxCommand& onnx) {
  const tenon::conformance::OnnxSummary summary = run_onnx_tests(onnx.options);
  if (onnx.table) fmt::print("{}", table_of(summary));
  fmt::print("{}", text_of(summary));
  if (summary.total() < onnx.least) {
    fmt::print(stderr, "tenon-conformance: {} tests ran, fewer than {}\n", summary.total(),
               onnx.least);
    return 1;
  }
  return summary.passed() == summary.total() ? 0 : 1;
}

}  // namespace
}  // namespace tenon_kit

int main(int argc, char** argv) {
  using tenon_kit::Options;
  Options options;
  CLI::App app(
      "Judges a device plugin by the op semantics that all devices share.\n"
      "The plugin's own claims are what it is held to: each is tried, and each must hold.");
  app.name("tenon-conformance");
  app.add_option("--plugin", options.run.plugin,
                 "The plugin: a file, or the name of one that Tenon finds");
  app.add_option("--device", options.run.device, "Which of its devices; NAME:0 by default");
  app.add_option("--option", options.plugin_options, "KEY=VALUE for the plugin; may be repeated");
  app.add_option(
         "--level", options.level,
         "The highest level to run: 2 primitives, 3 composites, 4 gradients, 6 stress; or smoke")
      ->check(CLI::IsMember({"smoke", "2", "3", "4", "6"}))
      ->capture_default_str();
  app.add_option("--op", options.run.op, "Only this op; a * at the end stands for any rest");
  app.add_option("--dtype", options.run.dtype, "Only claims with this dtype");
  app.add_option("--check", options.run.check, "Only this property");
  app.add_option("--profile", options.profile, "Which tolerances hold")
      ->check(CLI::IsMember({"strict", "relaxed"}))
      ->capture_default_str();
  app.add_option("--seed", options.run.seed, "What values are drawn by")->capture_default_str();
  app.add_option("--case", options.case_line,
                 "One problem, as a report's line has it, by --check or by value");
  app.add_option("--shrink", options.run.shrink,
                 "How many smaller problems are tried for one that failed")
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "How many processes; by default one for each core");
  app.add_option("--timeout", options.timeout, "Seconds that a cell may take")
      ->capture_default_str();
  app.add_option("--shard", options.shard, "I/N: the I-th of N parts of all cells");
  app.add_option("--resume", options.resume, "A report as JSON: what it holds is not run again");
  app.add_option(
      "--expected", options.expected,
      "A file of faults that are known, a line of JSON for each: op, dtypes, check, reason, "
      "date");
  app.add_option("--json", options.json, "Writes the report as JSON");
  app.add_option("--junit", options.junit, "Writes the report as JUnit XML");
  app.add_option("--html", options.html, "Writes the report as a page");
  app.add_flag("--claims", options.claims, "Lists what the plugin claims, and runs nothing");
  app.add_flag("--worker", options.worker)->group("");
  tenon_kit::OnnxCommand onnx;
  const CLI::App* const onnx_command = add_onnx(app, onnx);
  CLI11_PARSE(app, argc, argv);
  try {
    if (*onnx_command) return run_onnx(onnx);
    if (options.run.plugin.empty()) throw std::runtime_error("which plugin? --plugin names it");
    return tenon_kit::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenon-conformance: {}\n", error.what());
    return 2;
  }
}
