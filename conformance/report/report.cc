#include "conformance/report/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>

#include "conformance/device/device_check.h"
#include "conformance/functions/function_check.h"
#include "conformance/kit/json.h"
#include "conformance/report/blame.h"
#include "conformance/report/report_text.h"

namespace tenon_kit {
namespace {

// Returns the time of a steady clock in seconds.
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string text_of(tenon_string text) { return std::string(text.data, text.size); }

}  // namespace

Heading heading_of(const Runner& runner, const std::string& profile, const std::string& level,
                   uint64_t seed) {
  const tenon_plugin& plugin = runner.plugin();
  Heading heading = {.plugin = text_of(plugin.name),
                     .version = text_of(plugin.version),
                     .device = runner.environment().device.device_name(),
                     .driver = text_of(runner.environment().device.scope().device().info().driver),
                     .profile = profile,
                     .level = level,
                     .seed = seed};
  for (const Claim& claim : runner.claims()) heading.n_claims += claim.claimed;
  heading.n_whole = runner.claims().size();
  const tenon_features features = runner.environment().features;
  if ((features & TENON_FEATURE_IEEE_DIV) == 0) {
    heading.notes.push_back(
        "division and square root must be within 2.5 ulp: the device does not declare IEEE_DIV");
  }
  if ((features & TENON_FEATURE_IEEE_FMA) == 0) {
    heading.notes.push_back("fma may round twice: the device does not declare IEEE_FMA");
  }
  if ((features & TENON_FEATURE_FLUSH_TO_ZERO) != 0) {
    heading.notes.push_back(
        "subnormal numbers may be flushed to zero: the device declares FLUSH_TO_ZERO");
  }
  if ((features & TENON_FEATURE_FLOAT64) == 0) {
    heading.notes.push_back("float64 may be refused: the device does not declare FLOAT64");
  }
  if (!kRealIsQuad) {
    heading.notes.push_back(
        "float64 is compared with an oracle of the same precision: binary128 is unavailable");
  }
  return heading;
}

Report::Report(const Runner& runner, const std::string& profile, const std::string& level,
               uint64_t seed)
    : Report(heading_of(runner, profile, level, seed), {}) {
  for (const Claim& claim : runner.claims()) {
    if (claim.claimed) claims_.push_back(claim.op->name + " " + claim.dtypes);
  }
}

Report::Report(Heading heading, std::vector<std::string> claims)
    : heading_(std::move(heading)), claims_(std::move(claims)) {
  terminal_ = isatty(STDERR_FILENO) != 0;
}

// Reads known faults, one JSON object per line.
void Report::read_known_faults(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    const Json json = Json::parse(line, nullptr, false);
    const auto word = [&](const char* key) {
      if (json.is_object() && json.contains(key) && json[key].is_string() && json[key] != "") {
        return json[key].get<std::string>();
      }
      throw std::runtime_error(fmt::format(
          "{}, line {}: {} is missing; a line is a JSON object with the strings op, dtypes, check, "
          "reason and date",
          path, number, key));
    };
    const Expected fault = {word("op"), word("dtypes"), word("check"), word("reason"),
                            word("date")};
    const bool is_elsewhere =
        json.contains("driver") && heading_.driver.find(word("driver")) == std::string::npos;
    if (!is_elsewhere) expected_.push_back(fault);
  }
}

// Adds the rows of the JSON report at `path`. Returns their cells.
std::set<std::string> Report::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  const Json report = Json::parse(file, nullptr, false);
  if (report.is_discarded() || !report.contains("rows")) {
    throw std::runtime_error(path + " is not a JSON report");
  }
  const Json own = heading_json();
  for (const auto& [key, value] : own.items()) {
    if (report.value(key, Json()) == value) continue;
    throw std::runtime_error(fmt::format("{} is the report of a different run: {} is {}, not {}",
                                         path, key, report.value(key, Json()).dump(),
                                         value.dump()));
  }
  std::set<std::string> known;
  for (const Json& json : report["rows"]) {
    rows_.push_back(row_from_json(json));
    const Row& row = rows_.back();
    known.insert(row.op + " " + row.dtypes + " " + row.check);
  }
  return known;
}

// Prints the properties of the run before its first cell.
void Report::begin(size_t n_cells, bool whole) {
  n_cells_ = n_cells;
  whole_ = whole;
  begun_ = now();
  fmt::print("{} {}, device {}: {} claims, profile {}, level {}, seed {}\n", heading_.plugin,
             heading_.version, heading_.device, heading_.n_claims, heading_.profile, heading_.level,
             heading_.seed);
  if (!heading_.driver.empty()) fmt::print("driver: {}\n", heading_.driver);
  for (const std::string& note : heading_.notes) fmt::print("note: {}\n", note);
  std::fflush(stdout);
}

void Report::add(Row row) {
  for (Expected& e : expected_) {
    if (e.op != row.op || e.dtypes != row.dtypes || e.check != row.check) continue;
    e.met = true;
    const bool passed = row.status == Status::kPass;
    if (!passed && !is_fault(row.status)) continue;
    row.status = passed ? Status::kUnexpectedPass : Status::kExpectedFail;
    row.message = (passed ? "passes, but is listed as a known fault since " : "since ") + e.date +
                  ": " + e.reason + (row.message.empty() ? "" : "; " + row.message);
  }
  ++n_done_;
  if (is_fault(row.status)) {
    if (terminal_) fmt::print(stderr, "\r\033[K");
    fmt::print("{} {} {} {}: {}\n", name_of(row.status), row.check, row.op, row.dtypes,
               row.message);
    if (!row.line.empty()) fmt::print("    --check {} --case '{}'\n", row.check, row.line);
    if (row.dtypes == kNoDTypes) fmt::print("    --level {} --check {}\n", row.level, row.check);
    std::fflush(stdout);
  }
  rows_.push_back(std::move(row));
  show_progress(false);
  if (!kept_.empty() && now() - saved_ > 20) write_json(kept_);
}

// Updates the progress line on a terminal, at most every 0.1 s unless `force` is true.
void Report::show_progress(bool force) {
  if (!terminal_ || (!force && now() - shown_ < 0.1)) return;
  shown_ = now();
  const double spent = shown_ - begun_;
  const double left =
      n_done_ ? spent / static_cast<double>(n_done_) * static_cast<double>(n_cells_ - n_done_) : 0;
  fmt::print(stderr, "\r\033[K{} of {} cells, {:.0f} s left", n_done_, n_cells_, left);
}

// Returns the claims for which no check ran.
std::vector<std::string> Report::unexecuted() const {
  std::set<std::string> run;
  for (const Row& row : rows_) {
    if (row.cases > 0 || is_fault(row.status)) run.insert(row.op + " " + row.dtypes);
  }
  std::vector<std::string> missing;
  for (const std::string& claim : claims_) {
    if (!run.contains(claim)) missing.push_back(claim);
  }
  return missing;
}

std::map<Status, size_t> Report::count_by_status() const {
  std::map<Status, size_t> n;
  for (const Row& row : rows_) ++n[row.status];
  return n;
}

// Prints the summary of the run.
void Report::end() {
  if (terminal_) fmt::print(stderr, "\r\033[K");
  std::string words;
  for (const auto& [status, n] : count_by_status())
    words += fmt::format(", {} {}", n, name_of(status));
  const std::vector<std::string> missing = unexecuted();
  fmt::print("{}", fault_summary(rows_));
  fmt::print("cells: {}{} in {:.0f} s\n", rows_.size(), words, now() - begun_);
  const auto count_of = [&](bool functions) {
    return std::count_if(rows_.begin(), rows_.end(), [&](const Row& row) {
      return row.dtypes == kNoDTypes && (row.level == kFunctionLevel) == functions;
    });
  };
  fmt::print("properties of the device executed: {} of {}\n", count_of(false),
             all_device_checks().size());
  fmt::print("properties of functions executed: {} of {}\n", count_of(true),
             all_function_checks().size());
  fmt::print("claims executed / claimed / whole: {} / {} / {}\n", claims_.size() - missing.size(),
             claims_.size(), heading_.n_whole);
  const size_t left = n_cells_ - n_done_;
  if (left > 0) {
    fmt::print("left: {} cells; --resume continues with them\n", left);
  } else if (whole_) {
    for (const std::string& claim : missing) fmt::print("claimed and not executed: {}\n", claim);
    for (const Expected& e : expected_) {
      if (!e.met)
        fmt::print("the --expected file lists a cell that does not exist: {} {} {}\n", e.check,
                   e.op, e.dtypes);
    }
  }
  const auto works = std::count_if(rows_.begin(), rows_.end(), [](const Row& row) {
    return row.check == kUnclaimedCheck && row.status == Status::kUnsupported && row.cases > 0;
  });
  if (works) fmt::print("warning: {} unclaimed signatures pass; the report lists them\n", works);
  uint64_t cases = 0, mistrusted = 0;
  for (const Row& row : rows_) cases += row.cases, mistrusted += row.mistrusted;
  fmt::print("cases: {}, of which {} are degenerate, so they do not count as passed\n", cases,
             mistrusted);
  if (rows_.empty()) fmt::print("no cell was run, so the run fails\n");
  fmt::print("{}\n", passed() ? "PASSED" : is_unfinished() ? "UNFINISHED" : "FAILED");
  std::fflush(stdout);
}

bool Report::has_fault() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [](const Row& row) { return is_fault(row.status); });
}

bool Report::is_unfinished() const { return n_done_ < n_cells_ && !has_fault(); }

bool Report::passed() const {
  if (n_done_ < n_cells_ || (whole_ && !unexecuted().empty())) return false;
  return !rows_.empty() && !has_fault();
}

Json Report::heading_json() const {
  return {{"plugin", heading_.plugin}, {"version", heading_.version}, {"device", heading_.device},
          {"driver", heading_.driver}, {"profile", heading_.profile}, {"level", heading_.level},
          {"seed", heading_.seed}};
}

void Report::write_json(const std::string& path) const {
  saved_ = now();
  Json json = heading_json();
  json["notes"] = heading_.notes;
  json["claims"] = claims_.size();
  json["whole"] = heading_.n_whole;
  json["unexecuted"] = unexecuted();
  json["passed"] = passed();
  json["rows"] = Json::array();
  for (const Row& row : rows_) json["rows"].push_back(to_json(row));
  write_file(path, json.dump(1) + "\n");
}

void Report::write_junit(const std::string& path) const {
  size_t faults = 0;
  std::string cases;
  for (const Row& row : rows_) {
    cases += fmt::format("  <testcase classname=\"{}.{}\" name=\"{}\" time=\"{:.3f}\"", row.op,
                         escape_xml(row.dtypes), row.check, row.seconds);
    if (is_fault(row.status)) {
      ++faults;
      cases +=
          fmt::format(">\n    <failure type=\"{}\" message=\"{}\">{}</failure>\n  </testcase>\n",
                      name_of(row.status), escape_xml(row.message), escape_xml(row.line));
    } else if (row.status != Status::kPass) {
      cases +=
          fmt::format(">\n    <skipped message=\"{}\"/>\n  </testcase>\n", escape_xml(row.message));
    } else {
      cases += "/>\n";
    }
  }
  write_file(path, fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" "
                               "tests=\"{}\" failures=\"{}\">\n{}</testsuite>\n",
                               escape_xml(heading_.plugin), rows_.size(), faults, cases));
}

void Report::write_html(const std::string& path) const {
  Heading heading = heading_;
  heading.n_executed = claims_.size() - unexecuted().size();
  write_file(path, html_page(heading, rows_));
}

}  // namespace tenon_kit
