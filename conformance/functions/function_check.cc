#include "conformance/functions/function_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "conformance/functions/tracing.h"

namespace tenon_kit {
namespace {

using functions::Bench;
using functions::Fault;
using functions::Program;

std::vector<FunctionCheck> concatenate_checks() {
  std::vector<FunctionCheck> all;
  for (std::vector<FunctionCheck> (*list)() :
       {functions::program_checks, functions::control_checks, functions::state_checks,
        functions::running_checks}) {
    for (const FunctionCheck& check : list()) all.push_back(check);
  }
  return all;
}

// Runs the check on a program and describes the fault, if any. A failing call is a fault.
Fault find_fault(const FunctionCheck& check, const Bench& bench, const Program& program) {
  try {
    return check.holds(bench, program);
  } catch (const tenon::Error& error) {
    return "a call failed: " + std::string(error.message());
  }
}

// Returns all values of a program that is run call by call; nothing if a call fails.
functions::Results values_of(const Bench& bench, const Program& program) {
  try {
    const tenon::ScopeGuard in = functions::on_device(bench);
    return functions::read_all(
        bench, functions::evaluate(program, functions::make_all(bench, program.inputs),
                                   functions::make_all(bench, program.constants)));
  } catch (const tenon::Error&) {
    return {};
  }
}

// Runs the check on each of its programs. Shrinks the first one that fails and stores it in `row`.
void judge_programs(Row& row, const FunctionCheck& check, const Bench& bench, int shrink_tries,
                    const std::function<void(const std::string&)>& tell) {
  for (const Program& program : check.programs(bench)) {
    tell(to_line(program));
    ++row.cases;
    Fault fault = find_fault(check, bench, program);
    if (fault.empty()) continue;
    Bench thorough = bench;
    thorough.is_shrinking = true;
    const auto fails = [&](const Program& candidate) {
      // Rejects candidates in which a call fails eagerly, because that is a different fault.
      if (values_of(bench, candidate).empty()) return false;
      Fault own = find_fault(check, thorough, candidate);
      if (own.empty()) return false;
      fault = std::move(own);
      return true;
    };
    const Program least = functions::shrink(
        program, [&](const Program& own) { return values_of(bench, own); }, fails, shrink_tries);
    row.status = Status::kFail;
    row.message = fault;
    row.line = to_line(least);
    return;
  }
  if (!check.missing) return;
  row.message = check.missing(bench);
  if (!row.message.empty()) row.status = Status::kFail;
}

}  // namespace

const std::vector<FunctionCheck>& all_function_checks() {
  static const std::vector<FunctionCheck> checks = concatenate_checks();
  return checks;
}

const FunctionCheck* find_function_check(std::string_view name) {
  for (const FunctionCheck& check : all_function_checks()) {
    if (name == check.name) return &check;
  }
  return nullptr;
}

// Returns a row for the check, without a result.
Row blank_row(const FunctionCheck& check) {
  return {.op = check.part, .dtypes = kNoDTypes, .check = check.name, .level = kFunctionLevel};
}

Row run_function_check(const FunctionCheck& check, const Bench& bench, int shrink_tries,
                       const std::function<void(const std::string&)>& tell) {
  Row row = blank_row(check);
  const auto start = std::chrono::steady_clock::now();
  const auto end = [&](Status status, std::string message) {
    row.status = status;
    row.message = std::move(message);
  };
  try {
    if (check.programs) {
      judge_programs(row, check, bench, shrink_tries, tell);
    } else {
      row.cases = check.test(bench);
    }
  } catch (const functions::Unsupported& reason) {
    end(Status::kUnsupported, reason.what());
  } catch (const tenon::Error& error) {
    if (error.code() == tenon::Code::kUnimplemented) {
      end(Status::kUnsupported, "the check needs a signature that the plugin does not claim: " +
                                    std::string(error.message()));
    } else {
      end(Status::kFail, "a call failed: " + std::string(error.message()));
    }
  } catch (const std::exception& fault) {
    end(Status::kFail, fault.what());
  }
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return row;
}

std::pair<bool, std::string> run_program(const FunctionCheck& check, const Bench& bench,
                                         const Program& program) {
  if (!check.holds) {
    throw std::runtime_error(fmt::format("--case: the check {} does not run programs", check.name));
  }
  Bench thorough = bench;
  thorough.is_shrinking = true;
  const Fault fault = find_fault(check, thorough, program);
  const tenon::ScopeGuard in = functions::on_device(bench);
  const functions::Tensors constants = functions::make_all(bench, program.constants);
  const tenon::Function traced = functions::as_function([&](std::span<const tenon::Tensor> x) {
    return functions::outputs_of(program,
                                 functions::evaluate(program, {x.begin(), x.end()}, constants));
  });
  const std::string graph = traced.trace_for(functions::make_all(bench, program.inputs)).text();
  return {fault.empty(), fault + "\n" + graph};
}

}  // namespace tenon_kit
