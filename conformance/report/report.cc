#include "conformance/report/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>

#include "conformance/device/device_check.h"

namespace tenon_kit {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

Report::Report(const Runner& runner, const std::string& profile, const std::string& level,
               uint64_t seed) {
  const tenon_plugin& plugin = runner.plugin();
  heading_ = {.plugin = std::string(plugin.name.data, plugin.name.size),
              .version = std::string(plugin.version.data, plugin.version.size),
              .device = runner.environment().device.device_name(),
              .profile = profile,
              .level = level,
              .seed = seed,
              .n_claims = runner.claims().size()};
  const tenon_features features = runner.environment().features;
  if ((features & TENON_FEATURE_IEEE_DIV) == 0) {
    heading_.notes.push_back(
        "division and square root are held to 2.5 ulp: it declares no IEEE_DIV");
  }
  if ((features & TENON_FEATURE_IEEE_FMA) == 0) {
    heading_.notes.push_back("fma may round twice: it declares no IEEE_FMA");
  }
  const tenon_features watched = TENON_FEATURE_HOST_VISIBLE | TENON_FEATURE_SYNCHRONOUS;
  if ((features & watched) != watched) {
    heading_.notes.push_back(
        "guard bytes, poison and changed inputs cannot be seen: its memory is not the host's, or "
        "its "
        "work ends later");
  }
  if (!kRealIsQuad) {
    heading_.notes.push_back(
        "float64 is judged by an oracle of the same width: there is no binary128");
  }
  for (const Claim& claim : runner.claims()) claims_.push_back(claim.op->name + " " + claim.dtypes);
  terminal_ = isatty(STDERR_FILENO) != 0;
}

Report::Report(Heading heading)
    : heading_(std::move(heading)), terminal_(isatty(STDERR_FILENO) != 0) {}

void Report::expect(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    const Json json = Json::parse(line);
    expected_.push_back(
        {json.at("op"), json.at("dtypes"), json.at("check"), json.at("reason"), json.at("date")});
  }
}

std::set<std::string> Report::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::set<std::string> known;
  for (const Json& json : Json::parse(file).at("rows")) {
    rows_.push_back(row_from_json(json));
    const Row& row = rows_.back();
    known.insert(row.op + " " + row.dtypes + " " + row.check);
  }
  return known;
}

void Report::begin(size_t n_cells) {
  n_cells_ = n_cells;
  begun_ = now();
  fmt::print("{} {}, device {}: {} claims, profile {}, level {}, seed {}\n", heading_.plugin,
             heading_.version, heading_.device, heading_.n_claims, heading_.profile, heading_.level,
             heading_.seed);
  for (const std::string& note : heading_.notes) fmt::print("note: {}\n", note);
  std::fflush(stdout);
}

void Report::add(Row row) {
  for (const Expected& e : expected_) {
    if (e.op != row.op || e.dtypes != row.dtypes || e.check != row.check) continue;
    const bool passed = row.status == Status::kPass;
    row.status = passed ? Status::kUnexpectedPass : Status::kExpectedFail;
    row.message = (passed ? "passes, though expected to fail since " : "since ") + e.date + ": " +
                  e.reason + (row.message.empty() ? "" : "; " + row.message);
  }
  ++n_done_;
  if (is_fault(row.status)) {
    if (terminal_) fmt::print(stderr, "\r\033[K");
    fmt::print("{} {} {} {}: {}\n", name_of(row.status), row.check, row.op, row.dtypes,
               row.message);
    if (!row.line.empty()) fmt::print("    --check {} --case '{}'\n", row.check, row.line);
    if (row.dtypes == kNoDTypes) fmt::print("    --level 1 --check {}\n", row.check);
    std::fflush(stdout);
  }
  rows_.push_back(std::move(row));
  show_progress(false);
}

void Report::show_progress(bool force) {
  if (!terminal_ || (!force && now() - shown_ < 0.1)) return;
  shown_ = now();
  const double spent = shown_ - begun_;
  const double left =
      n_done_ ? spent / static_cast<double>(n_done_) * static_cast<double>(n_cells_ - n_done_) : 0;
  fmt::print(stderr, "\r\033[K{} of {} cells, {:.0f} s left", n_done_, n_cells_, left);
}

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

std::map<Status, size_t> Report::counts() const {
  std::map<Status, size_t> n;
  for (const Row& row : rows_) ++n[row.status];
  return n;
}

void Report::end() {
  if (terminal_) fmt::print(stderr, "\r\033[K");
  std::string words;
  for (const auto& [status, n] : counts()) words += fmt::format(", {} {}", n, name_of(status));
  const std::vector<std::string> missing = unexecuted();
  fmt::print("cells: {}{} in {:.0f} s\n", rows_.size(), words, now() - begun_);
  const auto n_device = std::count_if(rows_.begin(), rows_.end(),
                                      [](const Row& row) { return row.dtypes == kNoDTypes; });
  fmt::print("properties of the device executed: {} of {}\n", n_device, all_device_checks().size());
  fmt::print("claims executed: {} of {}\n", claims_.size() - missing.size(), claims_.size());
  if (rows_.empty()) fmt::print("nothing was run, which is no pass\n");
  fmt::print("{}\n", passed() ? "PASSED" : "FAILED");
  std::fflush(stdout);
}

bool Report::passed() const {
  return !rows_.empty() && std::none_of(rows_.begin(), rows_.end(),
                                        [](const Row& row) { return is_fault(row.status); });
}

void Report::write_json(const std::string& path) const {
  Json json = {{"plugin", heading_.plugin},  {"version", heading_.version},
               {"device", heading_.device},  {"profile", heading_.profile},
               {"level", heading_.level},    {"seed", heading_.seed},
               {"notes", heading_.notes},    {"claims", heading_.n_claims},
               {"unexecuted", unexecuted()}, {"passed", passed()}};
  json["rows"] = Json::array();
  for (const Row& row : rows_) json["rows"].push_back(to_json(row));
  write_file(path, json.dump(1) + "\n");
}

void Report::write_junit(const std::string& path) const {
  size_t faults = 0;
  std::string cases;
  for (const Row& row : rows_) {
    cases += fmt::format("  <testcase classname=\"{}.{}\" name=\"{}\" time=\"{:.3f}\"", row.op,
                         escaped(row.dtypes), row.check, row.seconds);
    if (is_fault(row.status)) {
      ++faults;
      cases +=
          fmt::format(">\n    <failure type=\"{}\" message=\"{}\">{}</failure>\n  </testcase>\n",
                      name_of(row.status), escaped(row.message), escaped(row.line));
    } else if (row.status != Status::kPass) {
      cases +=
          fmt::format(">\n    <skipped message=\"{}\"/>\n  </testcase>\n", escaped(row.message));
    } else {
      cases += "/>\n";
    }
  }
  write_file(path, fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" "
                               "tests=\"{}\" failures=\"{}\">\n{}</testsuite>\n",
                               escaped(heading_.plugin), rows_.size(), faults, cases));
}

void Report::write_html(const std::string& path) const {
  write_file(path, html_page(heading_, rows_));
}

}  // namespace tenon_kit
