// Saves functions as a folder of standard files, which other runtimes can open and read_program()
// (program.h) reads:
//
//   NAME.onnx            a model for each function; its weights are in weights.safetensors
//   NAME.2.onnx          a model for each further signature, numbered from 2, skipping used names
//   weights.safetensors  the values of variables and generators, and tensors that traces captured
//   tenon.json           which inputs are arguments, and which inputs and outputs form a state
//
// Unlike in Tenon, a state is an input of its model, and its new value is an output.

#pragma once

#include <span>
#include <string>

#include "core/trace/trace.h"

namespace tenon {

// Traces with the same name become signatures of one function. Calls select a signature by their
// inputs and static arguments.
struct FunctionToSave {
  std::string name;  // Letters, digits, "_", "-" and "."; not starting with ".".
  Ref<Trace> trace;
};

// Writes into the folder `path`, which is created if necessary. Removes files that an earlier
// program in the folder lists and this one lacks. Files get their names when all are complete
// (folder_update.h), under a lock that read_program() shares. So read_program() reads the files of
// one save, never of two. Other readers may see files of two saves while the files are renamed.
// Throws UNIMPLEMENTED with everything that ONNX cannot express, INVALID_ARGUMENT for invalid names
// and for ambiguous signatures, NOT_FOUND or UNAVAILABLE if the folder cannot be written. On
// failure the folder is unchanged.
void save_program(Scope& scope, const std::string& path, std::span<const FunctionToSave> functions);

}  // namespace tenon
