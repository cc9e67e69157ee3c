// A trace as a model of ONNX.
//
// The main graph takes the arguments and the states that the trace assigns, and gives the outputs
// and those states anew. Tensors that the trace only reads are initialisers. Loops become Loop,
// branches If; an op that ONNX lacks becomes the call of a function of the model, whose text says
// which op it is.
//
// A list of tensors becomes a tensor with a new first axis, which grows: an entry behind its end is
// put there by Concat. A list that a loop fills trip by trip, which nothing reads meanwhile, is
// what the Loop collects.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/io/onnx/export_writer.h"
#include "core/trace/trace.h"

namespace tenon::onnx {

// The names that tensors and states have in all files of a program.
struct StoredNames {
  std::map<const Cell*, std::string> cells;
  std::map<uint64_t, std::string> captures;  // By identity.
};

// A model without the places of its external tensors.
struct ExportedModel {
  struct External {
    std::string name;  // In the graph and in the file of weights.
    TensorType type;
  };
  struct State {
    std::string input, output;  // Both empty: the state is only read.
    const Cell* cell;
  };
  std::string name;
  GraphParts graph;
  std::vector<External> external;  // In the order in which the graph lists them.
  std::vector<WireWriter> functions;
  Texts inputs, outputs;  // Those that are no states.
  std::vector<State> states;
  Texts captures;
};

// `unsayable` hears of all that cannot be said; then the model is not whole.
ExportedModel export_model(Scope& scope, const std::string& name, Trace& trace,
                           const StoredNames& stored, Unsayable& unsayable);

// The bytes of the file. `place` says where a tensor lies in the file of weights.
using PlaceOf = std::function<std::pair<uint64_t, uint64_t>(const std::string& name)>;
std::string model_bytes(const ExportedModel& model, std::string_view weights_file,
                        const PlaceOf& place);

}  // namespace tenon::onnx
