// A check of level 5: one named property of what functions do on the device. It drives the core, as
// those of ops do, behind the guard (kit/guard.h): what a function gives is what its code gives
// that is run call by call, and that is held to the oracle.
//
// In the report it is a cell whose op is "functions" with its part, and whose dtypes are "-".
//
// To add one: a function in the file of its part, its line in the list at the end of that file, and
// a mutant that it catches (mutants/named/functions.toml).

#pragma once

#include <functional>
#include <stdexcept>

#include "conformance/functions/program.h"
#include "conformance/kit/claims.h"
#include "conformance/run/row.h"

namespace tenon_kit {

struct Environment;

namespace functions {

// What a check has at hand.
struct Bench {
  const Environment& env;
  std::span<const Claim> claims;  // What the plugin lists is `claimed`.
  bool is_shrinking = false;      // A program that failed is tried in every way.
};

struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What is wrong, or nothing.
using Fault = std::string;

}  // namespace functions

struct FunctionCheck {
  const char* part;
  const char* name;  // Unlike that of any other check.
  const char* what;  // One sentence, for the report.
  // Runs it, and says how many cases there were. Throws what is wrong; of a tenon::Error that says
  // UNIMPLEMENTED the cell becomes UNSUPPORTED.
  uint64_t (*test)(const functions::Bench&);
  // Or what holds of each program that is drawn for it.
  std::vector<functions::Program> (*programs)(const functions::Bench&) = nullptr;
  functions::Fault (*holds)(const functions::Bench&, const functions::Program&) = nullptr;
  // Said once all of them hold: what none of them showed.
  functions::Fault (*missing)(const functions::Bench&) = nullptr;
};

inline constexpr int kFunctionLevel = 5;

const std::vector<FunctionCheck>& all_function_checks();
const FunctionCheck* find_function_check(std::string_view name);

Row blank_row(const FunctionCheck& check);
// In this process. `tell` hears of each program before it is tried; one that fails is shrunk with
// so many tries.
Row run_function_check(const FunctionCheck& check, const functions::Bench& bench, int shrink_tries,
                       const std::function<void(const std::string& line)>& tell);

// Whether a program holds; and what is wrong with it, and the graph that it is traced to. Throws
// for a check that is of no programs.
std::pair<bool, std::string> run_program(const FunctionCheck& check, const functions::Bench& bench,
                                         const functions::Program& program);

// The rows of such checks as a table of the page (report/device_table.cc).
std::string function_table(const std::vector<Row>& rows);

namespace functions {

// The lists that function_check.cc joins.
std::vector<FunctionCheck> program_checks();
std::vector<FunctionCheck> control_checks();
std::vector<FunctionCheck> state_checks();
std::vector<FunctionCheck> running_checks();

}  // namespace functions
}  // namespace tenon_kit
