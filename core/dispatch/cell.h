// A cell holds a tensor, which can be replaced by another one. Variables and generators are cells.
// The cells that a traced function reads or assigns are its states.

#pragma once

#include <mutex>

#include "core/dispatch/scope.h"

namespace tenon {

class Cell : public Object {
 public:
  void release() const {
    if (drop()) destroy_(*this);
  }

  Context& context() const { return *context_; }
  const TensorType& type() const { return type_; }
  Device& device() const { return device_; }
  // Returns the number of the cell, which is unique in its context and never reused.
  uint64_t id() const { return id_; }

  // Returns the current value under a new identity, without a copy. While tracing, returns the
  // value that the traced code stored last.
  Tensor load(Scope& scope) const;
  // Replaces the value, which must have the cell's type. While tracing, the value is stored when
  // the traced graph runs.
  void store(Scope& scope, const Tensor& value);

  // Returns the value, ignoring any trace.
  Tensor load_untraced() const;
  // Replaces the value, ignoring any trace.
  void store_untraced(const Tensor& value);

  // Locks out other threads, for read-modify-write updates of the value.
  void lock() const { mutex_.lock(); }
  void unlock() const { mutex_.unlock(); }

 protected:
  using Destroy = void (*)(const Cell& self);
  // The value's type and device are fixed for the lifetime of the cell.
  Cell(Kind kind, Destroy destroy, Scope& scope, Tensor value);
  ~Cell() = default;

 private:
  Destroy destroy_;
  Ref<Context> context_;
  TensorType type_;
  Device& device_;
  uint64_t id_;
  mutable std::recursive_mutex mutex_;
  Tensor value_;
};

// Throws the error that a tensor of a trace has no value. Defined in core/trace/tracer.cc.
[[noreturn]] void fail_traced(const TensorImpl& x);

// The values of cells while code is traced. Implemented by Tracer.
class TracedCells {
 public:
  virtual Tensor load(const Cell& cell) = 0;
  virtual void store(Cell& cell, const Tensor& value) = 0;
  // Registers a cell that the traced code creates.
  virtual void add(Cell& cell) = 0;
  // Returns an alias of `x` that belongs to this trace. If `x` is from outside the trace, it
  // becomes a capture.
  virtual Tensor alias_in_trace(const Tensor& x) = 0;
  // Fails if `x` belongs to a trace that does not enclose the current code.
  virtual void require_same_trace(const TensorImpl& x) const = 0;

 protected:
  ~TracedCells() = default;
};

}  // namespace tenon
