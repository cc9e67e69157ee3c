// The interpreter that computes nothing and writes down what it is asked to compute.
//
// A tensor of a trace has a type, which may have sizes that are formulas, and the place in the
// graph that it stands for; it has no memory. Whoever needs its value fails, and says what to use
// instead.

#pragma once

#include <unordered_map>

#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"
#include "core/trace/graph.h"

namespace tenon {

class Tracer final : public Interpreter {
 public:
  // Starts to write into `graph`: what the scope computes until the end of the tracer's life, and
  // sizes of this thread are the graph's.
  Tracer(Scope& scope, Graph& graph);

  // A new input, as the tensor that the traced code sees.
  Tensor input(const TensorType& type, InputRole role, std::string name);
  // What a tensor is in the graph: its place there, a constant, or a capture. Fails for one of
  // another trace.
  Value value_of(TensorImpl& x);
  // The tensor that stands for a value; it would lie on `device`.
  Tensor tensor_of(Value value, Device& device);
  // The tensors that became inputs because traced code used them, in the order of these inputs.
  const std::vector<Tensor>& captures() const { return captures_; }

 private:
  static Tensors apply_on(Interpreter& self, Scope& scope, const Call& call);

  Scope& scope_;
  Graph& graph_;
  Scope::Within within_;
  SizeTable::Use use_;
  uint64_t serial_;
  std::vector<Tensor> captures_;
  std::unordered_map<uint64_t, Value> captured_;  // By identity.
};

}  // namespace tenon
