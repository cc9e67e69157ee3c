// Runs a model: each node is a call of Tenon's ops, in the current scope.
//
// What a node means is said in one of three places. Where ONNX's op and ours are the same, the
// registry's OpDef names it in `onnx`, and attributes go over by name. Where they differ, an
// adapter says how: onnx/adapters.def lists them. And a model may define ops itself, by others.
// Everything goes through apply(), so that tapes and tracers see it; in code under trace, what is
// known of values (onnx/known.h) goes with them.

#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/io/onnx/known.h"
#include "core/io/onnx/model.h"
#include "core/io/onnx/own_ops.h"

namespace tenon::onnx {

// The newest operator set of ONNX's own domain whose ops are known here.
inline constexpr int64_t kNewestVersion = 22;

// The ops of a model, and of the graphs and functions inside of it, each once, in the order of
// their names. An op of another domain than ONNX's own has it before its name:
// com.microsoft.FusedGemm.
std::vector<std::string> ops_of(const Model& model);
// And how many nodes are of each.
std::map<std::string, size_t> op_counts(const Model& model);

// An op that is unknown here, and the nodes that are of it.
struct UnknownOp {
  std::string op;
  std::vector<std::string> nodes;
};

std::vector<UnknownOp> unknown_ops(const Model& model);

// Throws UNIMPLEMENTED with all unknown ops, or for a newer operator set than is known.
void require_known_ops(const Model& model);

// How a model is run.
struct RunSettings {
  // What an initialiser is.
  std::function<ModelValue(const TensorData& data)> initial;
  // Whether values must be what the model declares them to be.
  bool holds_declared = false;
  // The functions that are ops of Tenon's own; NULL for none.
  const OwnOps* own_ops = nullptr;
};

// Runs it with inputs of the types that it declares. What fails names its node.
Tensors run_model(const Model& model, TensorSpan inputs, const RunSettings& settings);

// The inputs as tensors of the dtypes that the model declares. Declared sizes are but a remark,
// which is not always true: what a node needs of them, its op checks.
Tensors checked_inputs(const Graph& graph, TensorSpan given);

// Runs it on the device of the inputs, or the scope's if there are none, after both of these
// checks.
Tensors run_onnx(const Model& model, TensorSpan inputs);

}  // namespace tenon::onnx
