// A program from files: the functions that they hold, which are called, differentiated and trained
// on as any other, and the variables that these share.
//
// What a graph of ONNX becomes is told in onnx/model_program.h.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dispatch/variable.h"
#include "core/trace/function.h"

namespace tenon {

// What a function is called with and gives, as a file declares it.
struct ProgramSignature {
  std::shared_ptr<const KeptStatics> statics;  // Never null.
  std::vector<InputSpec> inputs;               // In the order in which the function takes them.
  std::vector<std::string> outputs;
  std::vector<InputSpec> output_specs;  // Of dtype kNone where the file says nothing.
  std::string description;              // What describe() says of it.
};

struct ProgramFunction {
  std::string name;  // Of a file: its graph's name, or the file's if that has none.
  Ref<Function> function;
  std::vector<ProgramSignature> signatures;  // At least one, each of a model.
};

class SavedProgram final : public Object, public Pooled<SavedProgram> {
 public:
  // `description` is what describe() gives.
  SavedProgram(std::vector<ProgramFunction> functions, std::vector<Ref<Variable>> variables,
               std::string description);
  void release() const {
    if (drop()) delete this;
  }

  std::span<const ProgramFunction> functions() const { return functions_; }
  // Throws NOT_FOUND with the names that there are. An empty name is that of the only one.
  const ProgramFunction& find(std::string_view name) const;
  // What the files hold in tensors, under its names there. Those of floating numbers can be
  // trained. Functions of one folder share them by name.
  std::span<const Ref<Variable>> variables() const { return variables_; }
  // As JSON, for tools:
  // {"functions": [{"name": "f", "defaults": {"training": false}, "signatures": [
  //     {"statics": {"training": true}, "inputs": [{"name": "x", "type": "f32[2,N]"}],
  //      "outputs": [...], "ops": {"Add": 2}, "operator_sets": {"ai.onnx": 20}}]}],
  //  "variables": [{"name": "w", "type": "f32[3]", "bytes": 12, "trainable": true}]}
  const std::string& describe() const { return description_; }

 private:
  std::vector<ProgramFunction> functions_;
  std::vector<Ref<Variable>> variables_;
  std::string description_;
};

// Reads a file of ONNX, or a folder that save_program() wrote. Throws NOT_FOUND where there is
// none, DATA_LOSS that names the place where it is no such file, and UNIMPLEMENTED with all that
// it asks for and is not known here.
Ref<SavedProgram> read_program(Scope& scope, const std::string& path);

}  // namespace tenon
