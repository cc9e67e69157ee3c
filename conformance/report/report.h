// What a run found: told while it goes on, summed up at its end, and written for machines and
// people.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/run/claim_run.h"
#include "conformance/run/row.h"

namespace tenon_kit {

// What a report says of the run as a whole.
struct Heading {
  std::string plugin;
  std::string version;
  std::string device;
  std::string driver;  // Of the device, with its version; may be empty.
  std::string profile;
  std::string level;
  uint64_t seed = 0;
  std::vector<std::string> notes;  // What loosens or narrows the judgement.
  size_t n_claims = 0;
  size_t n_executed = 0;  // Of them.
  size_t n_whole = 0;     // With what is not claimed.
};

Heading heading_of(const Runner& runner, const std::string& profile, const std::string& level,
                   uint64_t seed);

class Report {
 public:
  Report(const Runner& runner, const std::string& profile, const std::string& level, uint64_t seed);

  // With claims as "op dtypes": none where no device could be opened, so that only its own checks
  // can be run.
  Report(Heading heading, std::vector<std::string> claims);

  // Faults that are known, a line of JSON for each: they do not fail a run, and passing does. With
  // a text `driver` a line is of devices alone whose driver has it in its name.
  void expect(const std::string& path);
  // Takes the rows of an earlier run over, which must have been alike; gives "op dtypes check" of
  // each.
  std::set<std::string> read(const std::string& path);

  // While it goes on, it is written there from time to time.
  void keep_json(const std::string& path) { kept_ = path; }

  // `whole`: no option leaves a part out, so that each claim has to be executed.
  void begin(size_t n_cells, bool whole);
  void add(Row row);
  void end();

  bool passed() const;
  // Cells were left, and what was run has no fault.
  bool is_unfinished() const;

  void write_json(const std::string& path) const;
  void write_junit(const std::string& path) const;
  void write_html(const std::string& path) const;

 private:
  struct Expected {
    std::string op, dtypes, check, reason, date;
    bool met = false;
  };

  void show_progress(bool force);
  Json heading_json() const;
  std::vector<std::string> unexecuted() const;  // Claims of which nothing was run.
  std::map<Status, size_t> counts() const;
  bool has_fault() const;

  Heading heading_;
  std::vector<std::string> claims_;  // "op dtypes".
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

// The page (report/page.cc).
std::string html_page(const Heading& heading, const std::vector<Row>& rows);

}  // namespace tenon_kit
