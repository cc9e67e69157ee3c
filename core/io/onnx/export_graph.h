// Exports a trace as an ONNX model.
//
// The inputs of the main graph are the arguments and the values of the states that the trace
// assigns. Its outputs are the outputs of the trace and the new values of those states. Tensors
// that the trace only reads become initialisers. Loops become Loop nodes, branches If nodes. An op
// that ONNX lacks becomes a call of a function of the model, and the function's doc string names
// the op.
//
// A tensor list becomes one tensor whose first axis counts the entries. Storing an entry after the
// end appends it with Concat. If a loop stores one entry per iteration, and nothing reads the list
// in the loop, the list becomes a scan output of the Loop.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/io/onnx/export_writer.h"
#include "core/trace/trace.h"

namespace tenon::onnx {

// Unique names of captured tensors and states. All models of a program use the same names.
struct StoredNames {
  std::map<const Cell*, std::string> cells;
  std::map<uint64_t, std::string> captures;  // Keyed by the tensor's identity.
};

// A model in memory. The offsets of its external tensors in the weights file are not yet known.
struct ExportedModel {
  struct External {
    std::string name;  // Name of the tensor in the graph and in the weights file.
    TensorType type;
  };
  struct State {
    std::string input, output;  // Both are empty if the state is only read.
    const Cell* cell;
  };
  std::string name;
  GraphParts graph;
  std::vector<External> external;  // In the order of the initialisers.
  std::vector<WireWriter> functions;
  Texts inputs, outputs;  // Names in the graph, without states.
  std::vector<State> states;
  Texts captures;
  int64_t operator_set = kOperatorSet;
};

// Converts a trace to a model. Appends everything that ONNX cannot express to `unsayable`; the
// model is then incomplete and must not be saved.
ExportedModel export_model(Scope& scope, const std::string& name, Trace& trace,
                           const StoredNames& stored, Inexpressible& unsayable);

// Returns the bytes of the model's file. `place` returns the offset and the size in bytes of a
// tensor in the weights file.
using LocationOf = std::function<std::pair<uint64_t, uint64_t>(const std::string& name)>;
std::string model_bytes(const ExportedModel& model, std::string_view weights_file,
                        const LocationOf& place);

}  // namespace tenon::onnx
