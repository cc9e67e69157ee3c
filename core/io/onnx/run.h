// Runs an ONNX model: each node becomes calls of Tenon ops in the current scope.
//
// An op is implemented in one of three ways. If it is equivalent to a Tenon op, OpDef::onnx names
// it, and attributes are passed by name. Otherwise an adapter converts the call; onnx/adapters.def
// lists the adapters. A model may also define ops as functions. Every Tenon op is called through
// apply(), so tapes and tracers record it. During tracing, known elements (onnx/known.h) are
// propagated along with the tensors.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/dispatch/generator.h"
#include "core/io/onnx/known.h"
#include "core/io/onnx/model.h"
#include "core/io/onnx/own_ops.h"

namespace tenon::onnx {

// The newest supported version of the ONNX operator set.
inline constexpr int64_t kNewestVersion = 27;

// Returns the names of all ops that a model uses, including its inner graphs and functions, sorted
// and without duplicates. Ops outside the ONNX domain have their domain as a prefix:
// com.microsoft.FusedGemm.
std::vector<std::string> op_names(const Model& model);
// Returns the number of nodes for each op of a model.
std::map<std::string, size_t> op_counts(const Model& model);

// An unsupported op, and the nodes that use it.
struct UnknownOp {
  std::string op;
  std::vector<std::string> nodes;
};

std::vector<UnknownOp> unknown_ops(const Model& model);

// Returns the error message for a model with these unsupported ops. `has_foreign`: whether the
// build contains the adapters of foreign ops.
std::string unknown_ops_text(std::span<const UnknownOp> unknown, bool has_foreign);

// Throws UNIMPLEMENTED with a list of all unsupported ops, or if the operator set is too new.
void require_known_ops(const Model& model);

// Returns the seed for the generator of a model: the seeds of its nodes combined, or 0 if they have
// none. Returns nothing if the model draws no random numbers.
std::optional<uint64_t> random_seed(const Model& model);

// How to treat a value whose shape differs from its declaration in the model. A different dtype is
// an error, except with kIgnored.
enum class DeclaredShapes : uint8_t {
  kIgnored,
  kWarned,   // Warns once per value. Many published models declare wrong shapes.
  kRequired  // An error.
};

// Options for running a model.
struct RunSettings {
  // Returns the value of an initialiser.
  std::function<ModelValue(const TensorData& data)> initial;
  DeclaredShapes declared_shapes = DeclaredShapes::kIgnored;
  // The functions of the model that represent Tenon's ops; NULL for none.
  const OwnOps* own_ops = nullptr;
  // Provides the random numbers of the model; NULL if it draws none.
  Generator* generator = nullptr;
};

// Runs a model. The inputs must have the declared types. Errors name the node that failed.
Tensors run_model(const Model& model, TensorSpan inputs, const RunSettings& settings);

// Converts inline scalars to tensors of the declared dtypes and checks the dtypes of the other
// inputs. Declared sizes are advisory; each op checks the sizes that it requires.
Tensors convert_inputs(const Graph& graph, TensorSpan given);

// Checks the ops and the inputs of a model, and runs it. It runs on the device of the inputs or,
// without inputs, on the scope's device.
Tensors run_onnx(const Model& model, TensorSpan inputs);

}  // namespace tenon::onnx
