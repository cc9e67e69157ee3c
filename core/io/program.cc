#include "core/io/program.h"

#include "core/base/error.h"

namespace tenon {

SavedProgram::SavedProgram(std::vector<ProgramFunction> functions,
                           std::vector<Ref<Variable>> variables, std::string description)
    : Object(Kind::kProgram),
      functions_(std::move(functions)),
      variables_(std::move(variables)),
      description_(std::move(description)) {}

const ProgramFunction& SavedProgram::find(std::string_view name) const {
  std::string names;
  for (const ProgramFunction& function : functions_) {
    if (function.name == name || (name.empty() && functions_.size() == 1)) return function;
    names += (names.empty() ? "" : ", ") + function.name;
  }
  fail(Code::kNotFound, "the program has no function \"{}\"; it has {}", {name, names});
}

}  // namespace tenon
