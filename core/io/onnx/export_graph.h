// Exports a trace as an ONNX model.
//
// The main graph takes the arguments and the states that the trace assigns. It returns the outputs
// and the new values of those states. Tensors that the trace only reads are initialisers. Loops
// become Loop, branches If. An op that ONNX lacks becomes a call of a function of the model, whose
// doc string names the op.
//
// A tensor list becomes a tensor with a new first axis, which grows: Concat appends an entry after
// its end. If a loop fills a list, one entry in each iteration, and nothing reads the list
// meanwhile, the list becomes a scan output of the Loop.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/io/onnx/export_writer.h"
#include "core/trace/trace.h"

namespace tenon::onnx {

// The names of tensors and states, the same in all files of a program.
struct StoredNames {
  std::map<const Cell*, std::string> cells;
  std::map<uint64_t, std::string> captures;  // Keyed by the identity of the tensor.
};

// A model whose external tensors have no file offsets yet.
struct ExportedModel {
  struct External {
    std::string name;  // Name of the tensor in the graph and in the weights file.
    TensorType type;
  };
  struct State {
    std::string input, output;  // Both empty: the state is only read.
    const Cell* cell;
  };
  std::string name;
  GraphParts graph;
  std::vector<External> external;  // In the order of the graph's initialisers.
  std::vector<WireWriter> functions;
  Texts inputs, outputs;  // Names of the function's inputs and outputs, without states.
  std::vector<State> states;
  Texts captures;
};

// Adds everything that cannot be expressed to `inexpressible`; the model is then incomplete.
ExportedModel export_model(Scope& scope, const std::string& name, Trace& trace,
                           const StoredNames& stored, Inexpressible& unsayable);

// Returns the bytes of the file. `place` returns the location of a tensor in the weights file.
using LocationOf = std::function<std::pair<uint64_t, uint64_t>(const std::string& name)>;
std::string model_bytes(const ExportedModel& model, std::string_view weights_file,
                        const LocationOf& place);

}  // namespace tenon::onnx
