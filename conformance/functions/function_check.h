// A check of level 5: one named property of functions on the device. It runs the core with the
// guard (kit/guard.h) around the plugin, like the checks of ops. A function must give the same
// results as its body run call by call, and those are compared with the oracle.
//
// In the report a check is a cell. Its op is "functions" with the part of functions that it tests,
// and its dtypes are "-".
//
// To add a check, write a function in the file of that part, add it to the list at the end of the
// file, and add a mutant that it catches (mutants/named/functions.toml).

#pragma once

#include <functional>
#include <stdexcept>

#include "conformance/functions/program.h"
#include "conformance/kit/claims.h"
#include "conformance/run/row.h"

namespace tenon_kit {

struct Environment;

namespace functions {

// The context of a check.
struct Bench {
  const Environment& env;
  std::span<const Claim> claims;  // All signatures. `claimed`: whether the plugin claims it.
  bool is_shrinking = false;      // Whether a program is being shrunk; then every variant is tried.
};

struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Describes a fault; empty if there is none.
using Fault = std::string;

}  // namespace functions

struct FunctionCheck {
  const char* part;
  const char* name;  // Unique among all checks.
  const char* what;  // One sentence, for the report.
  // Runs the check and returns the number of cases. Throws an exception that describes a fault. If
  // it throws tenon::Error with code UNIMPLEMENTED, the cell is UNSUPPORTED.
  uint64_t (*test)(const functions::Bench&);
  // Alternative to `test`: draws programs, and tests each of them with `holds`.
  std::vector<functions::Program> (*programs)(const functions::Bench&) = nullptr;
  functions::Fault (*holds)(const functions::Bench&, const functions::Program&) = nullptr;
  // Called if `holds` passed for all programs. Returns a fault if none of the programs used the
  // feature that the check tests, such as loop programs.
  functions::Fault (*missing)(const functions::Bench&) = nullptr;
};

inline constexpr int kFunctionLevel = 5;

const std::vector<FunctionCheck>& all_function_checks();
const FunctionCheck* find_function_check(std::string_view name);

// Returns a row of the report for the check, without a result.
Row blank_row(const FunctionCheck& check);
// Runs a check in this process. Calls `tell` with each program before it runs. Shrinks a failing
// program with at most `shrink_tries` attempts.
Row run_function_check(const FunctionCheck& check, const functions::Bench& bench, int shrink_tries,
                       const std::function<void(const std::string& line)>& tell);

// Runs the check on one program. Returns whether it passes, and a text with the fault and the
// traced graph. Throws if the check does not use programs.
std::pair<bool, std::string> run_program(const FunctionCheck& check, const functions::Bench& bench,
                                         const functions::Program& program);

// Formats the rows of function checks as a table for the report page (report/device_table.cc).
std::string function_table(const std::vector<Row>& rows);

namespace functions {

// The lists of checks, one for each group. function_check.cc concatenates them.
std::vector<FunctionCheck> program_checks();
std::vector<FunctionCheck> control_checks();
std::vector<FunctionCheck> state_checks();
std::vector<FunctionCheck> running_checks();

}  // namespace functions
}  // namespace tenon_kit
