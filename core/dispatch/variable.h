// A variable is a cell whose reads tapes record. Reading returns an alias of the value. Assigning
// stores a value without its gradient history.

#pragma once

#include <string>

#include "core/dispatch/cell.h"

namespace tenon {

class Variable final : public Cell, public Pooled<Variable> {
 public:
  Variable(Scope& scope, Tensor value, std::string name, bool trainable);

  const std::string& name() const { return name_; }
  bool trainable() const { return trainable_.load(std::memory_order_relaxed); }
  void set_trainable(bool trainable) { trainable_.store(trainable, std::memory_order_relaxed); }

  // Returns the current value, shared without a copy. Notifies every tape of the scope.
  Tensor read(Scope& scope);
  // Assigns a value of the variable's type and device. An inline scalar is written to the device.
  void assign(Scope& scope, const Tensor& value);

 private:
  std::string name_;
  std::atomic<bool> trainable_;
};

// Notifies the scope's tapes of a read. Defined in core/autograd/tape.cc.
void tapes_on_read(Scope& scope, Variable& variable, TensorImpl& value);

}  // namespace tenon
