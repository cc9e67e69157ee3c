// The report of a run: shows progress, prints a summary, and writes JSON, JUnit and HTML files.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/run/claim_run.h"
#include "conformance/run/row.h"

namespace tenon_kit {

// Properties of the whole run.
struct Heading {
  std::string plugin;
  std::string version;
  std::string device;
  std::string driver;  // The device's driver and its version; may be empty.
  std::string profile;
  std::string level;
  uint64_t seed = 0;
  std::vector<std::string> notes;  // Settings that relax or limit the checks.
  size_t n_claims = 0;
  size_t n_executed = 0;  // Claims that were run.
  size_t n_whole = 0;     // Number of claims plus signatures of the registry that are not claimed.
};

// Describes a run of `runner` with these settings.
Heading heading_of(const Runner& runner, const std::string& profile, const std::string& level,
                   uint64_t seed);

class Report {
 public:
  Report(const Runner& runner, const std::string& profile, const std::string& level, uint64_t seed);

  // `claims` are texts "op dtypes". Empty if no device could be opened, so that only device checks
  // run.
  Report(Heading heading, std::vector<std::string> claims);

  // Reads known faults, one JSON object per line. A known fault does not fail the run; if its cell
  // passes, the run fails. A line with `driver` applies only to devices whose driver name contains
  // that text.
  void read_known_faults(const std::string& path);
  // Reads the rows of an earlier run with the same settings and adds them to this report. Returns
  // a text "op dtypes check" for each row.
  std::set<std::string> read(const std::string& path);

  // Sets the file to which intermediate results are written periodically.
  void set_json_file(const std::string& path) { kept_ = path; }

  // Starts a run of `n_cells` cells. `whole`: no option excludes cells, so every claim must be
  // executed.
  void begin(size_t n_cells, bool whole);
  // Adds the result of a cell, and prints it if it is a fault.
  void add(Row row);
  // Ends the run and prints its summary.
  void end();

  // Whether the run is complete and successful.
  bool passed() const;
  // Whether cells are left to run and none of the completed ones has a fault.
  bool is_unfinished() const;

  void write_json(const std::string& path) const;
  void write_junit(const std::string& path) const;
  void write_html(const std::string& path) const;

 private:
  struct Expected {
    std::string op, dtypes, check, reason, date;
    bool met = false;
  };

  // Updates the progress line on a terminal, at most every 0.1 s unless `force` is true.
  void show_progress(bool force);
  Json heading_json() const;
  std::vector<std::string> unexecuted() const;  // Claims for which no check ran.
  std::map<Status, size_t> count_by_status() const;
  bool has_fault() const;

  Heading heading_;
  std::vector<std::string> claims_;  // One text "op dtypes" for each claim.
  std::vector<Row> rows_;
  std::vector<Expected> expected_;
  size_t n_cells_ = 0;
  size_t n_done_ = 0;
  bool whole_ = false;
  std::string kept_;
  mutable double saved_ = 0;
  double begun_ = 0;
  double shown_ = 0;
  bool terminal_ = false;
};

// Formats the report as an HTML page (report/page.cc).
std::string html_page(const Heading& heading, const std::vector<Row>& rows);

}  // namespace tenon_kit
