#include "tools/tenon/program_call.h"

#include <fmt/core.h>

#include <algorithm>

#include "tools/tenon/failure.h"

namespace tenon::command {

// Formats a size: a number, a name, or "?" if it has no name.
std::string size_text(const InputSpec& spec, size_t axis) {
  if (spec.shape[axis] != TENON_SIZE_UNKNOWN) return std::to_string(spec.shape[axis]);
  const bool is_named = axis < spec.size_names.size() && !spec.size_names[axis].empty();
  return is_named ? spec.size_names[axis] : "?";
}

OpenedProgram::OpenedProgram(const std::string& path, const std::string& device, bool strict)
    : scope_(context_, device), in_scope_(scope_), device_(scope_.device()) {
  program_.emplace(path, tenon::ProgramOptions{.strict = strict});
  functions_ = program_->functions();
  description_ = nlohmann::ordered_json::parse(program_->describe());
}

// Finds a function by name. An empty name selects the only function.
const ProgramFunction& OpenedProgram::find(const std::string& name) const {
  std::string names;
  for (const ProgramFunction& function : functions_) {
    if (function.name == name || (name.empty() && functions_.size() == 1)) return function;
    names += (names.empty() ? "" : ", ") + function.name;
  }
  if (name.empty()) {
    throw Failure(
        fmt::format("there are several functions; choose one with --function: {}", names));
  }
  throw Failure(fmt::format("there is no function '{}'; there are: {}", name, names));
}

// Returns the part of Program::describe() for one function, as parsed JSON.
const nlohmann::ordered_json& OpenedProgram::description_of(const ProgramFunction& function) const {
  return description_["functions"][static_cast<size_t>(&function - functions_.data())];
}

std::string OpenedProgram::signature_text(const ProgramFunction& function,
                                          const ProgramSignature& signature) const {
  const auto list = [](const std::vector<InputSpec>& specs) {
    std::string text;
    for (const InputSpec& spec : specs) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", spec.name, type_text(spec));
    }
    return text;
  };
  const auto at = static_cast<size_t>(&signature - function.signatures.data());
  std::string statics;
  for (const auto& [name, value] : description_of(function)["signatures"][at]["statics"].items()) {
    statics += fmt::format("{}{}={}", statics.empty() ? " with " : ", ", name, value.dump());
  }
  return fmt::format("{}({}){} -> {}", function.name, list(signature.inputs), statics,
                     signature.outputs.empty() ? "nothing" : list(signature.outputs));
}

std::string type_text(const InputSpec& spec) {
  if (spec.dtype == DType()) return "unknown";
  std::string text = spec.dtype.str();
  if (spec.is_scalar) return text;
  for (size_t axis = 0; axis < spec.shape.size(); ++axis) {
    text += (axis ? "," : "[") + size_text(spec, axis);
  }
  return text + (spec.shape.empty() ? "[]" : "]");
}

std::string type_text(DType dtype, std::span<const int64_t> shape) {
  return type_text(InputSpec{.dtype = dtype, .shape = {shape.begin(), shape.end()}});
}

// Splits "NAME=VALUE". `option` is the name of the option for error messages.
std::pair<std::string, std::string> split_named_value(const std::string& option,
                                                      const std::string& text) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    throw Failure(fmt::format("{} {}: the value must have the form NAME=VALUE", option, text));
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

// Parses the values "NAME=NUMBER" of the options --size.
Sizes read_sizes(const std::vector<std::string>& given) {
  Sizes sizes;
  for (const std::string& text : given) {
    const auto [name, value] = split_named_value("--size", text);
    size_t end = 0;
    try {
      sizes[name] = std::stoll(value, &end);
    } catch (const std::logic_error&) {
      end = 0;
    }
    if (end != value.size() || sizes[name] < 0) {
      throw Failure(fmt::format("--size {}: the value must be a number from 0 to 2^63 - 1", text));
    }
  }
  return sizes;
}

// Returns the name of an unknown size, or INPUT.AXIS if the file does not name it.
std::string unknown_size_name(const InputSpec& spec, size_t axis) {
  const bool is_named = axis < spec.size_names.size() && !spec.size_names[axis].empty();
  return is_named ? spec.size_names[axis] : fmt::format("{}.{}", spec.name, axis);
}

}  // namespace tenon::command
