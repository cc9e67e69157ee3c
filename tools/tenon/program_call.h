// Shared by the commands about programs: opens a program on a device, and describes its parts.
// Inputs of functions are in program_inputs.h.

#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tenon/tenon.hpp>
#include <vector>

#include "tools/tenon/programs.h"

namespace tenon::command {

// A program in its own context, whose scope becomes the thread's current one.
class OpenedProgram {
 public:
  explicit OpenedProgram(const std::string& path, const std::string& device = "cpu");

  const Program& program() const { return *program_; }
  const Device& device() const { return device_; }
  const std::vector<ProgramFunction>& functions() const { return functions_; }
  // Finds a function by name, or the only one.
  const ProgramFunction& find(const std::string& name) const;
  // The result of Program::describe(), for all functions and for one.
  const nlohmann::ordered_json& description() const { return description_; }
  const nlohmann::ordered_json& description_of(const ProgramFunction& function) const;
  // A text such as "f(x: f32[n,3]) with training=true -> y: f32[n]", for one signature.
  std::string signature_text(const ProgramFunction& function,
                             const ProgramSignature& signature) const;

 private:
  Context context_;
  Scope scope_;
  ScopeGuard in_scope_;
  Device device_;
  std::optional<Program> program_;
  std::vector<ProgramFunction> functions_;
  nlohmann::ordered_json description_;
};

// A text such as "f32[n,3]"; unknown parts are "f32[...]" or "unknown".
std::string type_text(const InputSpec& spec);
std::string type_text(DType dtype, std::span<const int64_t> shape);

// Splits "NAME=VALUE".
std::pair<std::string, std::string> named_value(const std::string& option, const std::string& text);

// Values for sizes that the file leaves unknown, each from "NAME=NUMBER".
using Sizes = std::map<std::string, int64_t>;
Sizes read_sizes(const std::vector<std::string>& given);
// The name of an unknown size. If the file has none, it is made of the input and the axis: x.0.
std::string open_size_name(const InputSpec& spec, size_t axis);
// The text for a size: a number, a name, or ? if it has no name.
std::string size_text(const InputSpec& spec, size_t axis);

}  // namespace tenon::command
