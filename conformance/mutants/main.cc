// tenon-mutants: tests whether the conformance kit catches faults.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <thread>

#include "conformance/kit/json.h"
#include "conformance/mutants/hunt.h"
#include "conformance/report/report_text.h"

namespace tenon_kit {
namespace {

struct Options {
  HuntOptions hunt;
  std::vector<std::string> only;
  std::string json, html;
  int jobs = 0;
  std::string shard = "1/1";
  bool named = false;
  bool list = false;
};

// Calls work(i) for each i below n, on `jobs` threads.
template <class Work>
void in_parallel(int jobs, size_t n, const Work& work) {
  std::atomic<size_t> next{0};
  std::exception_ptr error;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int job = 0; job < jobs; ++job) {
    threads.emplace_back([&] {
      try {
        for (size_t i = next++; i < n; i = next++) work(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        error = std::current_exception();
        next = n;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

// Selects the claims to run generated mutants on: all claims except most casts, because casts share
// their loops.
std::vector<size_t> claims_for_generated_mutants(const Runner& runner) {
  std::vector<size_t> claims;
  for (size_t i = 0; i < runner.claims().size(); ++i) {
    if (runner.claims()[i].op->name != "cast" || i % 5 == 0) claims.push_back(i);
  }
  return claims;
}

// Runs claims without a mutation, on `jobs` threads, to find which of them reach each mutant.
Reach find_reach(const Hunt& hunt, const Runner& runner, int jobs) {
  const std::vector<size_t> claims = claims_for_generated_mutants(runner);
  fmt::print("finding the claims that reach each mutated point: {} claims ...\n", claims.size());
  std::fflush(stdout);
  std::vector<Reach> parts(static_cast<size_t>(jobs));
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  in_parallel(jobs, parts.size(), [&](size_t part) {
    std::vector<size_t> own;
    for (size_t i = part; i < claims.size(); i += parts.size()) own.push_back(claims[i]);
    const std::string file = folder / fmt::format("tenon-mutants-{}-{}", getpid(), part);
    hunt.find_reach(own, file, parts[part]);
    std::filesystem::remove(file);
  });
  Reach reach;
  for (const Reach& part : parts) {
    for (const auto& [number, own] : part.claims) {
      std::vector<size_t>& all = reach.claims[number];
      all.insert(all.end(), own.begin(), own.end());
    }
  }
  return reach;
}

// Formats the outcome of a mutant as a line of the log.
std::string format_outcome(const Outcome& outcome) {
  const Mutant& mutant = *outcome.mutant;
  if (outcome.caught) {
    return fmt::format("caught   {}: {} ({} {}, {:.1f} s)", mutant.name,
                       fmt::join(outcome.checks, ", "), outcome.op, outcome.dtypes,
                       outcome.seconds);
  }
  return fmt::format("SURVIVED {}, {}:{}: {}{} ({} cells, {:.1f} s)", mutant.name, mutant.file,
                     mutant.line, mutant.generated ? mutant.key : mutant.what,
                     mutant.why.empty() ? "" : " | " + mutant.why, outcome.cells, outcome.seconds);
}

struct Sum {
  size_t named = 0, named_caught = 0, generated = 0, generated_caught = 0, unreached = 0,
         unexplained = 0;

  explicit Sum(const std::vector<Outcome>& outcomes) {
    for (const Outcome& outcome : outcomes) {
      if (!outcome.reached) {
        ++unreached;
      } else if (outcome.mutant->generated) {
        ++generated;
        generated_caught += outcome.caught;
        unexplained += !outcome.caught && outcome.mutant->why.empty();
      } else {
        ++named;
        named_caught += outcome.caught;
      }
    }
  }
  bool passed() const {
    return named_caught == named && 100 * generated_caught >= 95 * generated && unexplained == 0;
  }
  std::string text() const {
    std::string text = fmt::format("mutants caught: {} of {}\n", named_caught, named);
    if (generated + unreached == 0) return text;
    return text + fmt::format(
                      "generated: {} of {}, {:.1f} %; {} more are never reached; {} survivors "
                      "without an explanation\n",
                      generated_caught, generated,
                      generated ? 100.0 * static_cast<double>(generated_caught) /
                                      static_cast<double>(generated)
                                : 100.0,
                      unreached, unexplained);
  }
};

// Whether the options select this mutant: by its name or, without names, by its kind.
bool is_selected(const Options& options, const Mutant& mutant) {
  if (options.only.empty()) return !mutant.generated || !options.named;
  return std::find(options.only.begin(), options.only.end(), mutant.name) != options.only.end();
}

int run(Options& options) {
  const std::vector<Mutant> mutants = all_mutants();
  int part = 1, parts = 1;
  if (std::sscanf(options.shard.c_str(), "%d/%d", &part, &parts) != 2 || part < 1 || part > parts) {
    throw std::runtime_error("--shard expects I/N with 1 <= I <= N, not " + options.shard);
  }
  std::vector<const Mutant*> wanted;
  for (const Mutant& mutant : mutants) {
    const bool in_part = !mutant.generated || mutant.number % parts == part - 1;
    if (in_part && is_selected(options, mutant)) wanted.push_back(&mutant);
  }
  if (wanted.size() < options.only.size())
    throw std::runtime_error(
        "a name on the command line is not the name of a mutant; --list shows them");
  if (options.list) {
    for (const Mutant* m : wanted) {
      fmt::print("{} {} {}:{} {}\n", m->number, m->name, m->file, m->line, m->what);
    }
    return 0;
  }
  const Runner runner({.plugin = options.hunt.plugin,
                       .thorough = false,
                       .level = 4,
                       .seed = options.hunt.seed,
                       .plugin_options = {{"asynchronous", "0"}, {"visible", "1"}}});
  const Hunt hunt(options.hunt, runner);
  const bool any_generated =
      std::any_of(wanted.begin(), wanted.end(), [](const Mutant* m) { return m->generated; });
  const Reach reach = any_generated ? find_reach(hunt, runner, options.jobs) : Reach();

  std::vector<Outcome> outcomes(wanted.size());
  std::mutex mutex;
  size_t done = 0;
  in_parallel(options.jobs, wanted.size(), [&](size_t i) {
    const Mutant& mutant = *wanted[i];
    Outcome& outcome = outcomes[i];
    if (mutant.generated && !reach.claims.contains(mutant.number)) {
      outcome.mutant = &mutant;
      outcome.reached = false;
    } else {
      // A named mutant runs the claims of the ops that its table lists.
      outcome = hunt.run(mutant, mutant.generated ? reach : Reach());
    }
    std::lock_guard lock(mutex);
    ++done;
    const bool tell = !mutant.generated || (outcome.reached && !outcome.caught);
    if (tell || done % 50 == 0) {
      fmt::print("[{}/{}] {}\n", done, wanted.size(), tell ? format_outcome(outcome) : "...");
    }
    std::fflush(stdout);
  });

  const Sum sum(outcomes);
  fmt::print("{}", sum.text());
  if (!options.json.empty()) {
    Json rows = Json::array();
    for (const Outcome& outcome : outcomes) rows.push_back(to_json(outcome));
    write_file(options.json, Json{{"summary", sum.text()}, {"mutants", rows}}.dump(1) + "\n");
  }
  if (!options.html.empty()) write_file(options.html, mutants_page(outcomes, sum.text()));
  return sum.passed() ? 0 : 1;
}

}  // namespace
}  // namespace tenon_kit

int main(int argc, char** argv) {
  tenon_kit::Options options;
  const std::filesystem::path bin = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  options.hunt.kit = bin / "tenon-conformance";
  options.hunt.plugin = bin.parent_path() / "test_plugins/libtenon_mutant.so";
  options.hunt.core = bin.parent_path() / "mutants/libtenon.so";
  options.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  CLI::App app(
      "Runs the conformance kit on mutants: copies of the plugins ref and fake, and of "
      "derivatives,\n"
      "each with one fault. Fails if a named one survives, or one generated in twenty.");
  app.name("tenon-mutants");
  app.add_option("--only", options.only, "Run only mutants with these names or numbers");
  app.add_flag("--named", options.named, "Run only named mutants");
  app.add_option("--shard", options.shard,
                 "I/N: run only the I-th of N shards of the generated mutants");
  app.add_option("--seed", options.hunt.seed, "Seed of the random values")->capture_default_str();
  app.add_option("--jobs", options.jobs, "Number of processes; by default one for each core");
  app.add_option("--seconds", options.hunt.seconds, "Time limit for one mutant")
      ->capture_default_str();
  app.add_option("--kit", options.hunt.kit, "The program tenon-conformance");
  app.add_option("--plugin", options.hunt.plugin, "The library of the mutants");
  app.add_option("--core", options.hunt.core, "The libtenon that contains the mutants of the core");
  app.add_option("--json", options.json, "Write the results as JSON");
  app.add_option("--html", options.html,
                 "Write an HTML page that shows which check caught which mutant");
  app.add_flag("--list", options.list, "List the mutants, beginning with their numbers, and exit");
  CLI11_PARSE(app, argc, argv);
  try {
    return tenon_kit::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenon-mutants: {}\n", error.what());
    return 2;
  }
}
