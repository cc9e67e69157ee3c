// Saves functions as a folder of files in standard formats. Other runtimes can open them, and
// read_program() (program.h) reads the folder back:
//
//   NAME.onnx            a model for each function; its weights are in weights.safetensors
//   NAME.2.onnx          a model for each further signature, numbered from 2, skipping used names
//   weights.safetensors  the values of variables and generators, and tensors that traces captured
//   tenon.json           which inputs are arguments, and which inputs and outputs form a state
//
// In Tenon a state is hidden in a function. In the ONNX model it is an input, and its new value is
// an additional output.

#pragma once

#include <span>
#include <string>

#include "core/trace/trace.h"

namespace tenon {

// A trace to save, and the name of its function. Traces with the same name become signatures of one
// function. A call selects the signature that matches its inputs and static arguments.
struct FunctionToSave {
  std::string name;  // Letters, digits, "_", "-" and "."; not starting with ".".
  Ref<Trace> trace;
};

// Saves functions in the folder `path`, which is created if it does not exist. Removes the files of
// an earlier program in the folder that the new program does not replace.
//
// All files are renamed to their final names together when they are complete (folder_update.h). A
// lock makes read_program() read the files of a single save. Other readers may read a mixture of
// two saves while the files are being renamed.
//
// Throws UNIMPLEMENTED with a list of everything that ONNX cannot express, INVALID_ARGUMENT for
// invalid names and ambiguous signatures, and NOT_FOUND or UNAVAILABLE if the folder cannot be
// written. A failed call leaves the folder unchanged.
void save_program(Scope& scope, const std::string& path, std::span<const FunctionToSave> functions);

}  // namespace tenon
