// What the commands about programs share: opening one on a device, and words for what is in it.
// What a function is called with is in program_inputs.h.

#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tenon/tenon.hpp>
#include <vector>

#include "tools/tenon/programs.h"

namespace tenon::command {

// A program in a context of its own, in whose scope the thread computes.
class OpenedProgram {
 public:
  explicit OpenedProgram(const std::string& path, const std::string& device = "cpu");

  const Program& program() const { return *program_; }
  const Device& device() const { return device_; }
  const std::vector<ProgramFunction>& functions() const { return functions_; }
  // By its name, or the only one.
  const ProgramFunction& find(const std::string& name) const;
  // What Program::describe() says, of all and of one of functions().
  const nlohmann::ordered_json& description() const { return description_; }
  const nlohmann::ordered_json& description_of(const ProgramFunction& function) const;
  // "f(x: f32[n,3]) with training=true -> y: f32[n]", for one of its signatures.
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

// "f32[n,3]"; what a file says nothing of is "f32[...]" or "unknown".
std::string type_text(const InputSpec& spec);
std::string type_text(DType dtype, std::span<const int64_t> shape);

// "NAME=VALUE" in two.
std::pair<std::string, std::string> named_value(const std::string& option, const std::string& text);

// Numbers for sizes that a file leaves open, from "NAME=NUMBER" each.
using Sizes = std::map<std::string, int64_t>;
Sizes read_sizes(const std::vector<std::string>& given);
// Of such a size. One that has no name in the file is called after its input and axis: x.0.
std::string open_size_name(const InputSpec& spec, size_t axis);
// A size in a text: a number, a name, or ? where it has none.
std::string size_text(const InputSpec& spec, size_t axis);

}  // namespace tenon::command
