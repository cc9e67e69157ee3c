// Saving functions as a folder of standard files, which other runtimes open and read_program()
// (program.h) reads:
//
//   NAME.onnx            a model for each function; its weights lie in the next
//   NAME.2.onnx          and for each further signature of that, from 2 on as far as names are free
//   weights.safetensors  what variables and generators hold, and tensors that traces captured
//   tenon.json           which inputs are arguments, and which go with which outputs as a state
//
// Other than in Tenon, a state is an input of its model, and what it is afterwards an output.

#pragma once

#include <span>
#include <string>

#include "core/trace/trace.h"

namespace tenon {

// Traces of one name are signatures of one function, whose calls they tell apart by their inputs
// and static arguments.
struct FunctionToSave {
  std::string name;  // Of letters, digits, "_", "-" and ".", of which the last is not first.
  Ref<Trace> trace;
};

// Writes into the folder `path`, which is made if it is not there, and removes what a program that
// lies there lists and this one lacks. Files take their names when all are whole
// (folder_update.h), under a lock that read_program() shares: it reads the files of one save, never
// of two. Other readers may see files of two saves for as long as the renames take. Throws
// UNIMPLEMENTED with the list of all that ONNX cannot say, INVALID_ARGUMENT for names and for
// signatures that are alike, NOT_FOUND or UNAVAILABLE where the folder cannot be written; then it
// is as it was.
void save_program(Scope& scope, const std::string& path, std::span<const FunctionToSave> functions);

}  // namespace tenon
