// A variable: a cell that holds a tensor. Reading gives its value under a new identity; assigning
// stores a value, not its history.

#pragma once

#include <mutex>
#include <string>

#include "core/dispatch/scope.h"

namespace tenon {

class Variable final : public Object, public Pooled<Variable> {
 public:
  // The value's dtype and shape are the variable's for good.
  Variable(Ref<Context> context, Tensor value, std::string name, bool trainable);

  void release() const {
    if (drop()) delete this;
  }

  Context& context() const { return *context_; }
  const TensorType& type() const { return type_; }
  const std::string& name() const { return name_; }
  Device& device() const {
    std::lock_guard guard(mutex_);
    return *value_->storage->device;
  }
  bool trainable() const { return trainable_.load(std::memory_order_relaxed); }
  void set_trainable(bool trainable) { trainable_.store(trainable, std::memory_order_relaxed); }

  // The current value, shared; no copy. Every tape of the scope hears of it.
  Tensor read(Scope& scope);
  // The current value, unseen by tapes.
  Tensor peek() const;
  // The value has the variable's type and lies on its device; an inline scalar is written there.
  void assign(Scope& scope, const Tensor& value);

 private:
  Ref<Context> context_;
  TensorType type_;
  std::string name_;
  std::atomic<bool> trainable_;
  mutable std::mutex mutex_;
  Tensor value_;
};

// Told of every read, by whoever records; defined with the tape.
void tapes_on_read(Scope& scope, Variable& variable, TensorImpl& value);

}  // namespace tenon
