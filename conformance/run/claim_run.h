// Runs the checks of one claim, in the process that loaded the plugin.

#pragma once

#include <functional>

#include "conformance/checks/check.h"
#include "conformance/run/row.h"

namespace tenon_kit {

struct RunOptions {
  std::string plugin;  // Path of a file, or name of a plugin that Tenon finds.
  std::string device;  // Device name; empty: the plugin's device 0.
  Profile profile = Profile::kStrict;
  bool thorough = true;
  bool large = false;  // Also runs one op of each family on more than 2^31 elements.
  int level = 6;       // The highest level to run.
  uint64_t seed = 1;
  std::string op;     // Pattern of op names; empty for all.
  std::string dtype;  // Name of a dtype that the claim must contain; empty for all.
  std::string check;  // Name of a check; empty for all.
  int shrink = 300;   // Maximum number of smaller problems to try for a failing one.
  std::vector<std::pair<std::string, std::string>> plugin_options;
};

// Holds the guarded plugin and the oracle. A process has at most one Runner.
class Runner {
 public:
  explicit Runner(const RunOptions& options);

  const std::vector<Claim>& claims() const { return claims_.rows; }
  const tenon_plugin& plugin() const;
  const Environment& environment() const { return *environment_; }

  // The indices in all_checks() of the checks that apply to a claim.
  std::vector<size_t> checks_of(const Claim& claim) const;

  // Runs one cell. Calls `at` with each problem before it runs.
  Row run(const Claim& claim, const Check& check,
          const std::function<void(const Problem&)>& at) const;

 private:
  // The claims of the same op to which the check applies, simplest dtypes first.
  std::vector<Claim> claims_for(const Check& check, const Claim& claim) const;

  RunOptions options_;
  Claims claims_;
  std::unique_ptr<Session> device_;
  std::unique_ptr<Session> oracle_;
  std::unique_ptr<Environment> environment_;
};

// Loads a plugin and returns its query function. Throws on failure.
tenon_plugin_query open_plugin(const std::string& path);

}  // namespace tenon_kit
