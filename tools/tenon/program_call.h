// What the commands about programs share: opening one on a device, and its inputs from files.

#pragma once

#include <map>
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

 private:
  Context context_;
  Scope scope_;
  ScopeGuard in_scope_;
  Device device_;
  std::optional<Program> program_;
  std::vector<ProgramFunction> functions_;
};

// "f32[n,3]"; what a file says nothing of is "f32[...]" or "unknown".
std::string type_text(const InputSpec& spec);
std::string type_text(DType dtype, std::span<const int64_t> shape);
// "f(x: f32[n,3]) -> y: f32[n]".
std::string signature_text(const ProgramFunction& function);

// "NAME=VALUE" in two.
std::pair<std::string, std::string> named_value(const std::string& option, const std::string& text);

// Numbers for sizes that a file leaves open, from "NAME=NUMBER" each.
using Sizes = std::map<std::string, int64_t>;
Sizes read_sizes(const std::vector<std::string>& given);
// Of such a size. One that has no name in the file is called after its input and axis: x.0.
std::string open_size_name(const InputSpec& spec, size_t axis);

// The inputs of a function, in its order, from "NAME=FILE.npy" each.
std::vector<Tensor> read_inputs(const ProgramFunction& function,
                                const std::vector<std::string>& given);

}  // namespace tenon::command
