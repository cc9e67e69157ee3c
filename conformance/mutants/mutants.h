// Mutants: copies of `ref`, of `fake`, and of derivatives and passes in the core, each with one
// fault. They test whether the kit catches faults. mutate.py generates them.

#pragma once

#include <string>
#include <vector>

#include "conformance/kit/json_fwd.h"
#include "conformance/kit/op_registry.h"

namespace tenon_kit {

struct Mutant {
  int number = 0;    // Unique, from 1.
  std::string name;  // Name from the table; for a generated mutant, its number.
  std::string what;  // Description of the fault; for a generated mutant, the changed code.
  std::string file;
  int line = 0;
  std::string original, changed;
  std::string key, why;  // For a generated mutant: its key, and the reason why it may survive.
  std::vector<std::string> ops;  // Ops whose claims are run first.
  std::vector<std::string> checks;
  std::vector<std::string> options;  // Plugin options.
  bool generated = false;

  // Whether the fault is in libtenon, not in a plugin.
  bool in_core() const { return file.starts_with("core/"); }
};

std::vector<Mutant> all_mutants();

struct Outcome {
  const Mutant* mutant = nullptr;
  bool reached = true;  // Whether some claim reaches the mutation point.
  bool caught = false;
  std::vector<std::string> checks;  // Checks that failed for the claim that caught the mutant.
  std::string op, dtypes, status, message;
  double seconds = 0;
  size_t cells = 0;  // Number of cells that were run.
};

Json to_json(const Outcome& outcome);
std::string mutants_page(const std::vector<Outcome>& outcomes, const std::string& summary);

}  // namespace tenon_kit
