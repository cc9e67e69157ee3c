// Converts a model to a function. Its body runs the nodes one by one (run.h) under trace. Tensors
// in the file become variables that the function reads where the model does, so that it can be
// trained like any other.
//
// Values that nodes need as numbers (shapes, axes, scales) are constants: small bool and integer
// tensors, and floating-point numbers that only configure a computation.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/io/program.h"

namespace tenon::onnx {

// The variables of a program, by name.
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

// Assigns roles to the inputs and outputs of a saved function's graph. A state has an input for its
// value and an output for its new value.
struct SavedInterface {
  struct State {
    std::string input, output;
    Ref<Cell> cell;
  };
  std::vector<std::string> inputs, outputs;
  std::vector<State> states;
  // The static arguments of the trace, and the defaults that calls may omit.
  std::shared_ptr<const OwnedStatics> statics, defaults;
};

// Describes how to convert a model to a function.
struct ModelSource {
  std::string bytes;
  std::string name;    // Name of the function; empty: the graph's name.
  std::string stem;    // Used if the graph has no name, either.
  std::string folder;  // The folder of its external data.
  // Set for a saved function, whose variables already exist. All other initialisers are constants.
  std::optional<SavedInterface> saved;
};

// Reads a model as a function with one signature. Shares variables that already exist.
struct ReadModel {
  std::string name;
  Ref<Function> function;
  ProgramSignature signature;
};
ReadModel read_model(Scope& scope, ModelSource source, Variables& variables);

Ref<SavedProgram> program_of(std::vector<ProgramFunction> functions, const Variables& variables);

// A program with one function, from the bytes of a file.
Ref<SavedProgram> program_of_model(Scope& scope, ModelSource source);

}  // namespace tenon::onnx
