// A model as a function. Its body runs the nodes as call by call (run.h), under trace. What the
// file holds in tensors are variables, which are read wherever the model reads them, so a function
// that was read is trained as any other.
//
// What nodes need as numbers (shapes, axes, scales) is constant: bools and integers, as far as they
// are few, and floating numbers that only say how something is computed.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/io/program.h"

namespace tenon::onnx {

// The variables of a program by their names.
class Variables {
 public:
  Ref<Variable> find(const std::string& name) const;
  void add(const Ref<Variable>& variable);
  const std::vector<Ref<Variable>>& all() const { return all_; }

 private:
  std::vector<Ref<Variable>> all_;
  std::map<std::string, Ref<Variable>> by_name_;
};

// Which values of a saved function's graph are what. Of a state comes in what it holds, and goes
// out what it holds afterwards.
struct SavedInterface {
  struct State {
    std::string input, output;
    Ref<Cell> cell;
  };
  std::vector<std::string> inputs, outputs;
  std::vector<State> states;
  // Arguments of which the function was traced, and those that its calls may leave out.
  std::shared_ptr<const KeptStatics> statics, defaults;
};

// How a model becomes a function.
struct ModelSource {
  std::string bytes;
  std::string name;    // Of the function; empty for the graph's own,
  std::string stem;    // and, where that is empty, this.
  std::string folder;  // Where its external data lies.
  // Of a saved function, whose variables are there already: all other initialisers are constant.
  std::optional<SavedInterface> saved;
};

// A model as a function of one signature. Variables that are there already are shared.
struct ReadModel {
  std::string name;
  Ref<Function> function;
  ProgramSignature signature;
};
ReadModel read_model(Scope& scope, ModelSource source, Variables& variables);

Ref<SavedProgram> program_of(std::vector<ProgramFunction> functions, const Variables& variables);

// A program of one function, from the bytes of a file.
Ref<SavedProgram> program_of_model(Scope& scope, ModelSource source);

}  // namespace tenon::onnx
