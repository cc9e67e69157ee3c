// tenon-conformance: tests a device plugin against the op semantics that all devices share.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "conformance/device/device_check.h"
#include "conformance/device/step.h"
#include "conformance/functions/function_check.h"
#include "conformance/kit/plugin_log.h"
#include "conformance/onnx/onnx_tests.h"
#include "conformance/report/report.h"
#include "conformance/run/arguments.h"
#include "conformance/run/claim_run.h"
#include "conformance/run/exhaustive.h"
#include "conformance/run/plain_load.h"
#include "conformance/run/workers.h"

namespace tenon_kit {
namespace {

// Exit status if the plugin returned UNAVAILABLE. Test drivers report it as "skipped".
constexpr int kUnavailable = 77;
constexpr int kUnfinished = 75;  // Exit status if cells are left to run; continue with --resume.

struct Options {
  RunOptions run;
  std::string profile = "strict";
  std::string level = "6";
  std::string case_line;
  std::string shard;
  std::string exhaustive, range;
  std::string json, junit, html, resume, expected;
  std::vector<std::string> plugin_options;
  int jobs = 0;
  double timeout = 120;
  double minutes = WorkerOptions().seconds / 60;
  uint64_t memory_mib = default_memory_mib();
  bool claims = false;
  bool worker = false;
};

// In WebAssembly, the only plugin is linked into the program.
#if defined(__EMSCRIPTEN__)
constexpr bool kHasPluginFiles = false;
#else
constexpr bool kHasPluginFiles = true;
#endif

// Finds the plugin: `given` is a file, or the name of a plugin in the folders that Tenon searches.
std::string find_plugin(const std::string& given) {
  if (!kHasPluginFiles) return given;
  if (std::filesystem::exists(given)) return std::filesystem::absolute(given);
  const tenon::Context context;
  for (const tenon_plugin_candidate& candidate : context.candidates()) {
    const std::string name(candidate.name.data, candidate.name.size);
    if (name == given) return std::string(candidate.path.data, candidate.path.size);
  }
  std::string known;
  for (const tenon_plugin_candidate& candidate : context.candidates()) {
    known += " " + std::string(candidate.name.data, candidate.name.size);
  }
  throw std::runtime_error("no file and no plugin is named \"" + given + "\"; Tenon finds" +
                           (known.empty() ? " none" : known));
}

// Selects the cells to run: device checks and, if a runner exists, functions and claims.
std::vector<Cell> select_cells(const Runner* runner, const Options& options) {
  std::vector<Cell> cells;
  const std::vector<DeviceCheck>& device_checks = all_device_checks();
  for (size_t i = 0; i < device_checks.size(); ++i) {
    const DeviceCheck& check = device_checks[i];
    if (check.level > options.run.level || !options.run.dtype.empty()) continue;
    if (!options.run.check.empty() && options.run.check != check.name) continue;
    if (matches(check.part, options.run.op)) cells.push_back({kDevice, i});
  }
  const std::vector<FunctionCheck>& function_checks = all_function_checks();
  for (size_t i = 0; runner && i < function_checks.size(); ++i) {
    const FunctionCheck& check = function_checks[i];
    if (kFunctionLevel > options.run.level || !options.run.dtype.empty()) continue;
    if (!options.run.check.empty() && options.run.check != check.name) continue;
    if (matches(check.part, options.run.op)) cells.push_back({kFunctions, i});
  }
  for (size_t i = 0; runner && i < runner->claims().size(); ++i) {
    const Claim& claim = runner->claims()[i];
    if (!matches(claim.op->name, options.run.op)) continue;
    if (!has_dtype_name(claim.dtypes, options.run.dtype)) continue;
    for (const size_t check : runner->checks_of(claim)) cells.push_back({i, check});
  }
  std::vector<Cell> own;
  for (const size_t i : shard_indices(options.shard, cells.size())) own.push_back(cells[i]);
  return own;
}

template <class F>
auto read_case(const F& read) {  // Returns read(), which parses the argument of --case.
  try {
    return read();
  } catch (const std::exception& error) {
    throw std::runtime_error("--case expects a line of a report: " + std::string(error.what()));
  }
}

functions::Bench make_bench(const Runner& runner) {
  return {.env = runner.environment(), .claims = runner.claims()};
}

int run_case(const Runner& runner, const Options& options) {
  const std::string& line = options.case_line;
  const auto is_silent = [] {
    const std::string said = take_plugin_log();
    if (!said.empty()) fmt::print("FAIL the plugin logged: {}\n", said);
    return said.empty();
  };
  if (const FunctionCheck* const check = find_function_check(options.run.check)) {
    const functions::Program program =
        read_case([&] { return functions::program_from_line(line); });
    const auto [passed, words] = run_program(*check, make_bench(runner), program);
    fmt::print("{} {} {}\n", passed ? "PASS" : "FAIL", check->name, words);
    return is_silent() && passed ? 0 : 1;
  }
  const Problem problem = read_case([&] { return from_line(line); });
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
  return is_silent() && passed ? 0 : 1;
}

void print_claims(const Runner& runner) {
  std::string last;
  for (const Claim& claim : runner.claims()) {
    if (!claim.claimed) continue;
    if (claim.op->name != last) fmt::print("{}{}", last.empty() ? "" : "\n", claim.op->name);
    last = claim.op->name;
    fmt::print(" {}", claim.dtypes);
  }
  fmt::print("\n");
}

// A worker runs this program with the options that affect cells.
std::vector<std::string> worker_command(const Options& options, const std::string& plugin) {
  std::vector<std::string> command = {this_program(), "--worker",
                                      "--plugin",     plugin,
                                      "--profile",    options.profile,
                                      "--level",      options.level,
                                      "--seed",       std::to_string(options.run.seed),
                                      "--shrink",     std::to_string(options.run.shrink)};
  for (const std::string& option : options.plugin_options) {
    command.insert(command.end(), {"--option", option});
  }
  if (options.run.large) command.push_back("--large");
  if (!options.run.device.empty()) command.insert(command.end(), {"--device", options.run.device});
  return command;
}

WorkerOptions worker_options(const Options& options) {
  return {.command = worker_command(options, options.run.plugin),
          .jobs = options.jobs > 0 ? options.jobs : std::max(n_cores(), 1),
          .problem_seconds = options.timeout,
          .seconds = options.minutes * 60,
          .memory_bytes = options.memory_mib << 20};
}

device::Subject make_subject(const Options& options) {
  const std::string& device = options.run.device;
  const size_t colon = device.find(':');
  return {.query = open_plugin(options.run.plugin),
          .file = options.run.plugin,
          .options = options.run.plugin_options,
          .index = colon == std::string::npos ? 0 : std::stoul(device.substr(colon + 1)),
          .thorough = options.run.thorough};
}

// Runs a cell with the given runner, or with one that it creates for the first cell of a claim. A
// failure to create that runner does not affect the checks of the device.
Row run_cell(const Options& options, const Runner* given, const Cell& cell, const Tell& tell) {
  if (cell.claim == kDevice) {
    const DeviceCheck& check = all_device_checks().at(cell.check);
    device::set_step_listener(tell);
    try {
      return run_device_check(check, make_subject(options));
    } catch (const std::exception& error) {  // The plugin's library cannot be opened.
      Row row = blank_row(check);
      row.status = Status::kFail;
      row.message = error.what();
      return row;
    }
  }
  static std::unique_ptr<Runner> own;
  if (!given && !own) own = std::make_unique<Runner>(options.run);
  const Runner& runner = given ? *given : *own;
  if (cell.claim == kFunctions) {
    return run_function_check(all_function_checks().at(cell.check), make_bench(runner),
                              options.run.shrink, tell);
  }
  const auto at = [&](const Problem& problem) {
    // Sends the problem's line. Omits a long line, such as that of a problem with many values.
    const std::string line = to_line(problem);
    tell(line.size() < 20000 ? line : "");
  };
  return runner.run(runner.claims().at(cell.claim), all_checks().at(cell.check), at);
}

int serve_as_worker(const Options& options) {
  return serve_cells(
      [&](const Cell& cell, const Tell& tell) { return run_cell(options, nullptr, cell, tell); });
}

Row blank_row(const Runner* runner, const Cell& cell) {  // Returns the row before the cell runs.
  if (cell.claim == kDevice) return blank_row(all_device_checks()[cell.check]);
  if (cell.claim == kFunctions) return blank_row(all_function_checks()[cell.check]);
  const Claim& claim = runner->claims()[cell.claim];
  const Check& check = all_checks()[cell.check];
  return {.op = claim.op->name, .dtypes = claim.dtypes, .check = check.name, .level = check.level};
}

// Runs the cells and reports the result. Without a runner no claim is judged, and the run fails.
int run_and_report(const Runner* runner, Report& report, const Options& options) {
  for (const std::string& path : {options.json, options.junit, options.html}) {
    if (!path.empty()) check_writable(path);
  }
  report.set_json_file(options.json);
  if (!options.expected.empty()) report.read_known_faults(options.expected);
  std::vector<Cell> cells = select_cells(runner, options);
  const auto blank = [&](const Cell& cell) { return blank_row(runner, cell); };
  if (!options.resume.empty()) {
    std::erase_if(cells, [&, known = report.read(options.resume)](const Cell& cell) {
      const Row row = blank(cell);
      return known.contains(row.op + " " + row.dtypes + " " + row.check);
    });
  }
  const bool whole = options.run.op.empty() && options.run.dtype.empty() &&
                     options.run.check.empty() && options.shard.empty() && options.level == "6";
  report.begin(cells.size(), whole);
  WorkerOptions workers = worker_options(options);
  workers.run = [&](const Cell& cell, const Tell& tell) {
    return run_cell(options, runner, cell, tell);
  };
  run_cells(workers, cells, blank, [&](const Cell&, const Row& row) { report.add(row); });
  report.end();
  if (!options.json.empty()) report.write_json(options.json);
  if (!options.junit.empty()) report.write_junit(options.junit);
  if (!options.html.empty()) report.write_html(options.html);
  if (report.is_unfinished()) return kUnfinished;
  return runner && report.passed() ? 0 : 1;
}

// Opens the plugin's device in a child process, because it may crash. Returns the child's exit
// status, or -1 if it crashed or did not end in time.
int try_to_open(const Options& options) {
  std::vector<std::string> command = worker_command(options, options.run.plugin);
  command[1] = "--claims";
  return run_silently(command, options.timeout);
}

int run_all_inputs(const Runner& runner, const Options& options) {
  const ExhaustiveOptions exhaustive = {
      .op = options.exhaustive,
      .dtype = options.run.dtype.empty() ? "f32" : options.run.dtype,
      .profile = options.profile,
      .range = options.range,
      .shard = options.shard,
      .json = options.json,
      .resume = options.resume,
      .html = options.html};
  if (options.worker) return serve_exhaustive(runner, exhaustive);
  WorkerOptions workers = worker_options(options);
  workers.command.insert(workers.command.end(),
                         {"--exhaustive", exhaustive.op, "--dtype", exhaustive.dtype});
  return run_exhaustive(runner, exhaustive, workers);
}

// Reports invalid command-line arguments before anything runs.
void validate_options(const Options& options) {
  if (options.run.plugin.empty()) throw std::runtime_error("--plugin is required");
  const std::string& op = options.run.op;
  const std::vector<DeviceCheck>& of_device = all_device_checks();
  const std::vector<FunctionCheck>& of_functions = all_function_checks();
  if (std::none_of(all_ops().begin(), all_ops().end(),
                   [&](const OpFacts& known) { return matches(known.name, op); }) &&
      std::none_of(of_device.begin(), of_device.end(),
                   [&](const DeviceCheck& check) { return matches(check.part, op); }) &&
      std::none_of(of_functions.begin(), of_functions.end(),
                   [&](const FunctionCheck& check) { return matches(check.part, op); })) {
    throw std::runtime_error("--op: unknown op \"" + op + "\"");
  }
  if (!options.run.dtype.empty()) dtype_named(options.run.dtype);
  const bool is_of_device =
      std::any_of(of_device.begin(), of_device.end(),
                  [&](const DeviceCheck& check) { return options.run.check == check.name; });
  if (!options.run.check.empty() && !find_check(options.run.check) && !is_of_device &&
      !find_function_check(options.run.check)) {
    std::string known;
    for (const DeviceCheck& check : of_device) known += std::string(" ") + check.name;
    for (const FunctionCheck& check : of_functions) known += std::string(" ") + check.name;
    for (const Check& check : all_checks()) known += std::string(" ") + check.name;
    throw std::runtime_error("--check: unknown property \"" + options.run.check + "\"; there are" +
                             known);
  }
  if (!options.range.empty() && options.exhaustive.empty()) {
    throw std::runtime_error("--range can only be used with --exhaustive");
  }
}

int run(Options& options) {
  validate_options(options);
  options.run.profile = options.profile == "relaxed" ? Profile::kRelaxed : Profile::kStrict;
  options.run.thorough = options.level != "smoke";
  options.run.level = options.run.thorough ? std::stoi(options.level) : kFunctionLevel;
  for (const std::string& option : options.plugin_options) {
    options.run.plugin_options.push_back(parse_plugin_option(option));
  }
  options.run.plugin = find_plugin(options.run.plugin);
  const bool exhaustive = !options.exhaustive.empty();
  if (options.worker && !exhaustive) return serve_as_worker(options);
  const bool judged = !options.claims && options.case_line.empty() && !exhaustive;
  if (judged && kHasPluginFiles) {
    const int status = try_to_open(options);
    if (status == kUnavailable) return kUnavailable;
    if (status != 0) {
      Report report({.plugin = options.run.plugin,
                     .device = "none",
                     .profile = options.profile,
                     .level = options.level,
                     .seed = options.run.seed,
                     .notes = {"the plugin's device cannot be opened, so no claim is tested"}},
                    {});
      return run_and_report(nullptr, report, options);
    }
  }
  std::unique_ptr<Runner> runner;
  try {
    // load_plainly() cannot pass plugin options.
    if (!options.worker && options.plugin_options.empty() && kHasPluginFiles) {
      load_plainly(options.run.plugin);
    }
    runner = std::make_unique<Runner>(options.run);
  } catch (const tenon::Error& error) {
    fmt::print(stderr, "tenon-conformance: {}\n", error.message());
    return error.code() == tenon::Code::kUnavailable && is_unavailable(make_subject(options))
               ? kUnavailable
               : 1;
  }
  if (options.claims) return print_claims(*runner), 0;
  const Environment& env = runner->environment();
  check_profile(env.profile, env.features, env.device.device_name());
  if (exhaustive) return run_all_inputs(*runner, options);
  if (!judged) return run_case(*runner, options);
  Report report(*runner, options.profile, options.level, options.run.seed);
  return run_and_report(runner.get(), report, options);
}

// ---- the node tests of ONNX

struct OnnxCommand {
  tenon::conformance::OnnxOptions options;
  std::vector<std::string> plugin_options;
  size_t least = 0;
  bool table = false;
};

CLI::App* add_onnx(CLI::App& app, OnnxCommand& onnx) {
  CLI::App* const command = app.add_subcommand("onnx", "Run the node tests of ONNX");
  onnx.options.jobs = std::max(1u, std::thread::hardware_concurrency());
  command->add_option("--device", onnx.options.device, "The device, such as cpu or ref:0");
  command->add_option("--plugin", onnx.options.plugin_paths,
                      "Plugin files to load before all others");
  command->add_option("--option", onnx.plugin_options,
                      "KEY=VALUE for the device's plugin; may be repeated");
  command->add_option("--data", onnx.options.data, "The folder of the tests");
  command->add_option("--filter", onnx.options.filter,
                      "Run only tests whose names match this regular expression");
  command->add_option("--jobs", onnx.options.jobs, "Number of tests to run in parallel");
  command->add_option("--least", onnx.least, "Fail if fewer tests than this run");
  command->add_flag("--functions", onnx.options.functions,
                    "Run models as functions, not call by call");
  command->add_option("--title", onnx.options.title, "Title of the line with the totals");
  command->add_flag("--may-refuse", onnx.options.may_refuse,
                    "List the tests that Tenon refuses and count them, but do not fail");
  command->add_flag("--table", onnx.table, "Also print counts for each op");
  return command;
}

int run_onnx(OnnxCommand& onnx) {
  for (const std::string& option : onnx.plugin_options) {
    onnx.options.plugin_options.push_back(parse_plugin_option(option));
  }
  const tenon::conformance::OnnxSummary summary = run_onnx_tests(onnx.options);
  if (onnx.table) fmt::print("{}", table_of(summary));
  fmt::print("{}", text_of(summary));
  if (summary.total() < onnx.least) {
    fmt::print(stderr, "tenon-conformance: {} tests ran, fewer than {}\n", summary.total(),
               onnx.least);
    return 1;
  }
  return summary.passed() == summary.total() && summary.logged.empty() ? 0 : 1;
}

}  // namespace
}  // namespace tenon_kit

int main(int argc, char** argv) {
  using tenon_kit::Options;
  Options options;
  CLI::App app(
      "Tests a device plugin against the op semantics that all devices share.\n"
      "Each signature that the plugin claims is tested.");
  app.name("tenon-conformance");
  app.add_option("--plugin", options.run.plugin,
                 "The plugin: a file, or the name of one that Tenon finds");
  app.add_option("--device", options.run.device, "The device of the plugin; NAME:0 by default");
  app.add_option("--option", options.plugin_options, "KEY=VALUE for the plugin; may be repeated");
  app.add_option(
         "--level", options.level,
         "The highest level to run: 0 the ABI, 1 memory and streams, 2 primitives, 3 composites, 4 "
         "gradients, 5 functions, 6 stress; or smoke")
      ->check(CLI::IsMember({"smoke", "0", "1", "2", "3", "4", "5", "6"}))
      ->capture_default_str();
  app.add_option("--op", options.run.op,
                 "Run only this op, or this part of the device or of functions. "
                 "A * at the end matches any text");
  app.add_option("--dtype", options.run.dtype, "Only claims with this dtype");
  app.add_option("--check", options.run.check, "Only this property");
  app.add_flag("--large", options.run.large,
               "Run one op of each family on more than 2^31 elements of one byte, not only a few "
               "ops; takes 12 GiB of memory for each process");
  app.add_option("--profile", options.profile, "The tolerances to apply: strict or relaxed")
      ->check(CLI::IsMember({"strict", "relaxed"}))
      ->capture_default_str();
  app.add_option("--seed", options.run.seed, "Seed of the random values")->capture_default_str();
  app.add_option("--case", options.case_line,
                 "Run one problem or program, given as a line of a report, with the check --check "
                 "(default: value)");
  app.add_option("--shrink", options.run.shrink,
                 "Maximum number of smaller problems to try for a failing one")
      ->capture_default_str();
  app.add_option("--exhaustive", options.exhaustive,
                 "Test a unary op at every input of --dtype: f32 (2^32 inputs), f16 or bf16");
  app.add_option("--range", options.range,
                 "A:B: with --exhaustive, only the parts with inputs from A to B");
  app.add_option("--jobs", options.jobs, "Number of processes; by default one for each core")
      ->check(CLI::PositiveNumber);
  app.add_option("--timeout", options.timeout, "Time limit in seconds for one problem of a cell")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--minutes", options.minutes,
                 "Start no cell after this many minutes. If cells are left, the exit status is 75, "
                 "and --resume continues with them")
      ->check(CLI::PositiveNumber);
  app.add_option("--memory-mib", options.memory_mib,
                 "Memory limit of each process in MiB; 0 for no limit, as sanitizers need")
      ->check(CLI::Range(uint64_t{0}, UINT64_MAX >> 20))
      ->capture_default_str();
  app.add_option("--shard", options.shard, "I/N: run only the I-th of N shards of all cells");
  app.add_option("--resume", options.resume,
                 "A JSON report of an earlier run; cells in this report are not run again");
  app.add_option(
      "--expected", options.expected,
      "A file of known faults, one JSON object per line with the keys op, dtypes, check, reason, "
      "date and, for a fault of a single driver, driver (part of the driver's name)");
  app.add_option("--json", options.json, "Write the report as JSON");
  app.add_option("--junit", options.junit, "Write the report as JUnit XML");
  app.add_option("--html", options.html, "Write the report as an HTML page");
  app.add_flag("--claims", options.claims, "List the plugin's claims and exit");
  app.add_flag("--worker", options.worker)->group("");
  tenon_kit::OnnxCommand onnx;
  const CLI::App* const onnx_command = add_onnx(app, onnx);
  CLI11_PARSE(app, argc, argv);
  try {
    if (*onnx_command) return run_onnx(onnx);
    return tenon_kit::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenon-conformance: {}\n", error.what());
    return 2;
  }
}
