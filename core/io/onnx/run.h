// Runs a model: each node becomes calls of Tenon's ops in the current scope.
//
// The op of a node is defined in one of three places. If ONNX's op and Tenon's are the same, the
// registry's OpDef names it in `onnx`, and attributes are passed by name. If they differ, an
// adapter converts the call: onnx/adapters.def lists them. A model may also define ops itself, as
// functions. Every call is an apply(), so tapes and tracers record it. Under trace, known elements
// (onnx/known.h) are propagated with the values.

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

// The newest operator set of the ONNX domain that is supported.
inline constexpr int64_t kNewestVersion = 27;

// The ops of a model, including its inner graphs and functions, sorted and without duplicates. Ops
// of other domains have the domain as a prefix: com.microsoft.FusedGemm.
std::vector<std::string> ops_of(const Model& model);
// The number of nodes of each op.
std::map<std::string, size_t> op_counts(const Model& model);

// An unsupported op, and the nodes that use it.
struct UnknownOp {
  std::string op;
  std::vector<std::string> nodes;
};

std::vector<UnknownOp> unknown_ops(const Model& model);

// Throws UNIMPLEMENTED with all unknown ops, or for a newer operator set than is supported.
void require_known_ops(const Model& model);

// What happens to a value whose shape differs from the one that the model declares. A different
// dtype is an error unless declarations are ignored.
enum class DeclaredShapes : uint8_t {
  kIgnored,
  kWarned,   // One warning for each value; many published models contain such declarations.
  kRequired  // An error.
};

// Settings for running a model.
struct RunSettings {
  // Returns the value of an initialiser.
  std::function<ModelValue(const TensorData& data)> initial;
  DeclaredShapes declared_shapes = DeclaredShapes::kIgnored;
  // The functions that represent Tenon's own ops; NULL for none.
  const OwnOps* own_ops = nullptr;
};

// Runs the model with inputs of its declared types. Errors name the failing node.
Tensors run_model(const Model& model, TensorSpan inputs, const RunSettings& settings);

// Converts the inputs to tensors of the declared dtypes. Declared sizes are advisory and not
// trusted; each op checks the sizes that it requires.
Tensors checked_inputs(const Graph& graph, TensorSpan given);

// Runs the model on the device of the inputs, or the scope's if there are none. First checks its
// ops and inputs with the functions above.
Tensors run_onnx(const Model& model, TensorSpan inputs);

}  // namespace tenon::onnx
