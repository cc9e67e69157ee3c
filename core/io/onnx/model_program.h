// Converts an ONNX model to a Tenon function. The function's body runs the nodes one by one (run.h)
// and is traced like any other. Weights in the file become variables, which the function reads
// where the model uses them. Therefore it can be trained like other functions.
//
// Some tensors become constants instead of variables: small bool and integer tensors, and
// floating-point numbers that only parametrise ops. Ops need such values (shapes, axes, scales) as
// numbers during tracing.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/io/program.h"

namespace tenon::onnx {

// The variables of a program, also searchable by name.
class Variables {
 public:
  Ref<Variable> find(const std::string& name) const;
  void add(const Ref<Variable>& variable) {
    all_.push_back(variable);
    by_name_.emplace(variable->name(), variable);
  }
  const std::vector<Ref<Variable>>& all() const { return all_; }

 private:
  std::vector<Ref<Variable>> all_;
  std::map<std::string, Ref<Variable>> by_name_;
};

// Specifies which inputs and outputs of a saved function's graph are arguments and results, and
// which belong to states. A state has an input for its value and an output for its new value.
struct SavedInterface {
  struct State {
    std::string input, output;
    Ref<Cell> cell;
  };
  std::vector<std::string> inputs, outputs;
  std::vector<State> states;
  // The static arguments for which the function was traced, and the defaults of static arguments.
  std::shared_ptr<const OwnedStatics> statics, defaults;
};

// A model and how to convert it to a function.
struct ModelSource {
  std::string bytes;
  std::string name;    // Name of the function; empty: use the name of the graph.
  std::string stem;    // Name of the function if the graph has no name either.
  std::string folder;  // The folder of its external data.
  // Whether a value whose shape contradicts its declaration is an error, instead of a warning.
  bool strict = false;
  // Set if the model is a saved function, whose variables already exist. Its other initialisers are
  // constants.
  std::optional<SavedInterface> saved;
};

// A model as a function with a single signature.
struct ReadModel {
  std::string name;
  Ref<Function> function;
  ProgramSignature signature;
};
// Converts a model to a function. Adds its variables to `variables`.
ReadModel read_model(Scope& scope, ModelSource source, Variables& variables);

// Returns a program with these functions and variables.
Ref<SavedProgram> program_of(std::vector<ProgramFunction> functions, const Variables& variables);

// Reads a program with a single function from the bytes of an ONNX file.
Ref<SavedProgram> program_of_model(Scope& scope, ModelSource source);

}  // namespace tenon::onnx
