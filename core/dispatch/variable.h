// A variable: a cell that tapes watch. Reading gives its value under a new identity; assigning
// stores a value, not its history.

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

  // The current value, shared; no copy. Every tape of the scope hears of it.
  Tensor read(Scope& scope);
  // The value has the variable's type and lies on its device; an inline scalar is written there.
  void assign(Scope& scope, const Tensor& value);

 private:
  std::string name_;
  std::atomic<bool> trainable_;
};

// Told of every read, by whoever records; defined with the tape.
void tapes_on_read(Scope& scope, Variable& variable, TensorImpl& value);

}  // namespace tenon
