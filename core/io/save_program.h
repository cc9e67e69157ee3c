// Saving functions as a folder of standard files, which other runtimes open and read_program()
// (program.h) reads:
//
//   NAME.onnx            a model for each function; its weights lie in the next
//   weights.safetensors  what variables and generators hold, and tensors that traces captured
//   tenon.json           which inputs are arguments, and which go with which outputs as a state
//
// Other than in Tenon, a state is an input of its model, and what it is afterwards an output.

#pragma once

#include <span>
#include <string>

#include "core/trace/trace.h"

namespace tenon {

struct FunctionToSave {
  std::string name;  // Of letters, digits, "_", "-" and ".", of which the last is not first.
  Ref<Trace> trace;
};

// Writes into the folder `path`, which is made if it is not there. A file takes its name when all
// are whole, tenon.json last. Throws UNIMPLEMENTED with the list of all that ONNX cannot say,
// INVALID_ARGUMENT for names, NOT_FOUND or UNAVAILABLE where the folder cannot be written; then
// nothing is.
void save_program(Scope& scope, const std::string& path, std::span<const FunctionToSave> functions);

}  // namespace tenon
