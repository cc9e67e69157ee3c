// Mutants: copies of `ref` and `fake`, and of derivatives and passes in the core, each with one
// fault, and whether the kit catches them. mutate.py makes them.

#pragma once

#include <string>
#include <vector>

#include "conformance/kit/json_fwd.h"
#include "conformance/kit/op_registry.h"

namespace tenon_kit {

struct Mutant {
  int number = 0;    // Among all of them, from 1.
  std::string name;  // Of a named one; of a generated one its number.
  std::string what;  // A sentence; of a generated one its place and change.
  std::string file;
  int line = 0;
  std::string original, changed;
  std::string key, why;          // Of a generated one; why it may survive.
  std::vector<std::string> ops;  // Whose claims are run first.
  std::vector<std::string> checks;
  std::vector<std::string> options;  // Of the plugin.
  bool generated = false;

  bool in_core() const { return file.starts_with("core/"); }
};

std::vector<Mutant> all_mutants();

struct Outcome {
  const Mutant* mutant = nullptr;
  bool reached = true;  // Some claim passes its place.
  bool caught = false;
  std::vector<std::string> checks;  // Those that found a fault in the claim that had one.
  std::string op, dtypes, status, message;
  double seconds = 0;
  size_t cells = 0;  // That were run.
};

Json to_json(const Outcome& outcome);
std::string mutants_page(const std::vector<Outcome>& outcomes, const std::string& summary);

}  // namespace tenon_kit
