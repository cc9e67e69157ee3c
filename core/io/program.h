// A program that was read from files: functions that can be called, differentiated and trained, and
// the variables that they share.
//
// onnx/model_program.h describes how an ONNX graph becomes a function.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dispatch/variable.h"
#include "core/trace/function.h"

namespace tenon {

// One signature of a function, as declared in a file.
struct ProgramSignature {
  std::shared_ptr<const OwnedStatics> statics;  // Static arguments; never NULL.
  std::vector<InputSpec> inputs;                // In the order of the function's arguments.
  std::vector<std::string> outputs;
  std::vector<InputSpec> output_specs;  // The dtype is kNone if undeclared.
  std::string description;              // JSON: the entry of this signature in describe().
};

struct ProgramFunction {
  std::string name;  // For a single file: the graph's name or, if that is empty, the file's.
  Ref<Function> function;
  std::vector<ProgramSignature> signatures;  // At least one; each has its own ONNX model.
};

class SavedProgram final : public Object, public Pooled<SavedProgram> {
 public:
  // `description` is the JSON that describe() returns.
  SavedProgram(std::vector<ProgramFunction> functions, std::vector<Ref<Variable>> variables,
               std::string description);
  void release() const {
    if (drop()) delete this;
  }

  std::span<const ProgramFunction> functions() const { return functions_; }
  // Finds a function by name. An empty name selects the only function. If there is no such
  // function, throws NOT_FOUND with the names of the existing functions.
  const ProgramFunction& find(std::string_view name) const;
  // All variables, named as in the files. Floating-point variables are trainable. The functions of
  // a program share variables by name.
  std::span<const Ref<Variable>> variables() const { return variables_; }
  // Describes the program as JSON, for tools: {"functions": [{"name": "f", "defaults": {"training":
  // false}, "signatures": [
  //     {"statics": {"training": true}, "inputs": [{"name": "x", "type": "f32[2,N]"}],
  //      "outputs": [...], "ops": {"Add": 2}, "operator_sets": {"ai.onnx": 20}}]}],
  //  "variables": [{"name": "w", "type": "f32[3]", "bytes": 12, "trainable": true}]}
  const std::string& describe() const { return description_; }

 private:
  std::vector<ProgramFunction> functions_;
  std::vector<Ref<Variable>> variables_;
  std::string description_;
};

// How to read a program.
struct ReadOptions {
  // Whether a value whose shape contradicts its declaration in an ONNX file is an error, instead of
  // a warning. The models of a saved program are always read strictly.
  bool strict = false;
};

// Reads a program from an ONNX file, or from a folder that save_program() wrote. Throws NOT_FOUND
// if the path does not exist, and DATA_LOSS with the position if a file is malformed. Throws
// UNIMPLEMENTED with a list of everything that the program requires and this version of Tenon does
// not support.
Ref<SavedProgram> read_program(Scope& scope, const std::string& path,
                               const ReadOptions& options = {});

}  // namespace tenon
