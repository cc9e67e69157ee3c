// Restores Tenon's ops from an ONNX model. A saved program represents each op that ONNX lacks by a
// function of the domain `tenon`. Other runtimes run the function's body. Tenon reads its doc
// string, which names the op, its attributes, and those inputs and outputs of the op that the
// function has:
//
//   {"op": "erfinv", "attributes": {}, "inputs": [0], "outputs": [0]}

#pragma once

#include <unordered_map>
#include <vector>

#include "core/io/onnx/model.h"
#include "core/io/onnx/named_call.h"

namespace tenon::onnx {

class OwnOp {
 public:
  OwnOp(const OpDef& op, NamedAttrs attrs, std::vector<size_t> inputs, std::vector<size_t> outputs)
      : op_(op),
        attrs_(std::move(attrs)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)) {}

  const OpDef& op() const { return op_; }
  // Calls the op with the inputs of the function, and returns the outputs of the function.
  Tensors call(TensorSpan given) const;

 private:
  const OpDef& op_;
  NamedAttrs attrs_;
  std::vector<size_t> inputs_, outputs_;  // Indices into the op's inputs and outputs.
};

// The functions of a model that represent Tenon's ops. A function that names an unknown op is not
// listed, so its body runs.
using OwnOps = std::unordered_map<const ModelFunction*, OwnOp>;
// Returns the functions of a model that represent Tenon's ops.
OwnOps own_ops_of(const Model& model);

}  // namespace tenon::onnx
