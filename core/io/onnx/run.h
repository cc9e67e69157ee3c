// Runs a model: each node is a call of Tenon's ops, in the current scope.
//
// What a node means is said in one of two places. Where ONNX's op and ours are the same, the
// registry's OpDef names it in `onnx`, and attributes go over by name. Where they differ, an
// adapter says how: onnx/adapters.def lists them. Everything goes through apply(), so that tapes
// and tracers see it.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/io/onnx/model.h"

namespace tenon::onnx {

// The newest operator set of ONNX's own domain whose ops are known here.
inline constexpr int64_t kNewestVersion = 22;

// The ops of a model and of the graphs inside of it, each once, in the order of their names. An op
// of another domain than ONNX's own has it before its name: com.microsoft.FusedGemm.
std::vector<std::string> ops_of(const Model& model);

// An op that is unknown here, and the nodes that are of it.
struct UnknownOp {
  std::string op;
  std::vector<std::string> nodes;
};

std::vector<UnknownOp> unknown_ops(const Model& model);

// Runs it on the device of the inputs, or the scope's if there are none. Throws UNIMPLEMENTED with
// all unknown ops before anything runs; what fails later names its node.
Tensors run_onnx(const Model& model, TensorSpan inputs);

}  // namespace tenon::onnx
