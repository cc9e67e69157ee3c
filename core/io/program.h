// A program read from files: its functions, which can be called, differentiated and trained like
// any other, and the variables that they share.
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

// The inputs and outputs of a function, as declared in a file.
struct ProgramSignature {
  std::shared_ptr<const OwnedStatics> statics;  // Static arguments; never NULL.
  std::vector<InputSpec> inputs;                // In the order of the function's arguments.
  std::vector<std::string> outputs;
  std::vector<InputSpec> output_specs;  // The dtype is kNone if the file does not declare it.
  std::string description;              // The part of describe() about this signature.
};

struct ProgramFunction {
  std::string name;  // For a single file: the graph's name, or the file's if the graph has none.
  Ref<Function> function;
  std::vector<ProgramSignature> signatures;  // At least one; each has its own model.
};

class SavedProgram final : public Object, public Pooled<SavedProgram> {
 public:
  // `description` is what describe() returns.
  SavedProgram(std::vector<ProgramFunction> functions, std::vector<Ref<Variable>> variables,
               std::string description);
  void release() const {
    if (drop()) delete this;
  }

  std::span<const ProgramFunction> functions() const { return functions_; }
  // Finds a function. Throws NOT_FOUND with the existing names. An empty name finds the only
  // function.
  const ProgramFunction& find(std::string_view name) const;
  // The tensors of the files, under their names there. Floating-point variables can be trained. The
  // functions of one folder share variables by name.
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

// Reads an ONNX file, or a folder that save_program() wrote. Throws NOT_FOUND if there is none, and
// DATA_LOSS with the position if it is malformed. Throws UNIMPLEMENTED with everything that it
// requires and this version does not support.
Ref<SavedProgram> read_program(Scope& scope, const std::string& path);

}  // namespace tenon
