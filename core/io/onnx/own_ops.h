// Functions of a model that represent Tenon's own ops. A saved program holds each op that ONNX
// lacks as a function of the domain `tenon`. The function's body is for other runtimes. Its doc
// string specifies the op, its attributes, and which of the op's inputs and outputs it has:
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
  Tensors call(TensorSpan given) const;

 private:
  const OpDef& op_;
  NamedAttrs attrs_;
  std::vector<size_t> inputs_, outputs_;  // Indices among the op's inputs and outputs.
};

// The own ops of a model. A function that names an unknown op runs its body instead.
using OwnOps = std::unordered_map<const ModelFunction*, OwnOp>;
OwnOps own_ops_of(const Model& model);

}  // namespace tenon::onnx
