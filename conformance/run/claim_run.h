// Runs the checks of one claim, in the process that holds the plugin.

#pragma once

#include <functional>

#include "conformance/checks/check.h"
#include "conformance/run/row.h"

namespace tenon_kit {

struct RunOptions {
  std::string plugin;  // A file, or the name of a plugin that Tenon finds.
  std::string device;  // NAME:0 of it; empty until the plugin was asked.
  Profile profile = Profile::kStrict;
  bool thorough = true;
  int level = 6;  // The highest.
  uint64_t seed = 1;
  std::string op;     // A pattern; empty for all.
  std::string dtype;  // A name that the claim's dtypes hold; empty for all.
  std::string check;  // A name; empty for all.
  int shrink = 300;   // How many smaller problems are tried for one that failed.
  std::vector<std::pair<std::string, std::string>> plugin_options;
};

// The plugin behind the guard, and the oracle beside it. One in a process.
class Runner {
 public:
  explicit Runner(const RunOptions& options);

  const std::vector<Claim>& claims() const { return claims_.rows; }
  const tenon_plugin& plugin() const;
  const Environment& environment() const { return *environment_; }

  // The checks that apply to a claim, by their places in all_checks().
  std::vector<size_t> checks_of(const Claim& claim) const;

  // One cell. `at` hears of each problem before it is tested.
  Row run(const Claim& claim, const Check& check,
          const std::function<void(const Problem&)>& at) const;

 private:
  // The claims of the same op that the check is for, the simplest dtypes first.
  std::vector<Claim> claims_for(const Check& check, const Claim& claim) const;

  RunOptions options_;
  Claims claims_;
  std::unique_ptr<Session> device_;
  std::unique_ptr<Session> oracle_;
  std::unique_ptr<Environment> environment_;
};

// The query function of a plugin's file. Throws if there is none.
tenon_plugin_query open_plugin(const std::string& path);

}  // namespace tenon_kit
