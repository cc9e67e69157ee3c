// Prepares the inputs of a call before an interpreter receives it. Checks the number of inputs,
// their donation state and their context. Inline scalars adopt a dtype. Other inputs are promoted.

#pragma once

#include <memory>
#include <vector>

#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"

namespace tenon {

class Operands {
 public:
  Operands(const OpDef& op, Inputs inputs);

  Inputs inputs() const { return {inputs_.data(), inputs_.size()}; }
  TypeSpan types() const { return {types_.data(), types_.size()}; }

 private:
  // Converts the inputs to common dtypes, as the op specifies.
  void promote(const OpDef& op, Inputs inputs);
  // Sets the dtype that inline scalar i adopts.
  void adopt(size_t i, DType dtype);

  SmallVector<TensorImpl*, 6> inputs_;
  SmallVector<const TensorType*, 6> types_;
  // Casts made by promotion; empty in the common case.
  SmallVector<Tensor, 1> casts_;
  TensorType adopted_[2];
  size_t n_adopted_ = 0;
  std::vector<std::unique_ptr<TensorType>> more_adopted_;
};

// Returns the dtype of an inline scalar if no other operand determines it.
DType default_dtype(const TensorImpl& scalar);

}  // namespace tenon
