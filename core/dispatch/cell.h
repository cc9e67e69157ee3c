// A cell: what holds a tensor that is replaced, never changed. Variables and generators are cells;
// to a function they are its state.

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
  // Never used twice.
  uint64_t id() const { return id_; }

  // The value as the code of the scope sees it, under a new identity; no copy. Code under trace
  // sees what it stored itself.
  Tensor load(Scope& scope) const;
  // Replaces the value, for the code of the scope; code under trace stores when it is run. The
  // value has the cell's type.
  void store(Scope& scope, const Tensor& value);

  // The same for everybody, whatever is traced.
  Tensor held() const;
  void hold(const Tensor& value);

  // Keeps other threads from the value: for those who replace it by what they make of it.
  void lock() const { mutex_.lock(); }
  void unlock() const { mutex_.unlock(); }

 protected:
  using Destroy = void (*)(const Cell& self);
  // The value's type and device are the cell's for good.
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

// Throws that a tensor of a trace has no value. Defined by those who trace.
[[noreturn]] void fail_traced(const TensorImpl& x);

// What cells hold for the code under trace.
class TracedCells {
 public:
  virtual Tensor load(const Cell& cell) = 0;
  virtual void store(Cell& cell, const Tensor& value) = 0;
  // A cell that the code makes.
  virtual void add(Cell& cell) = 0;
  // A tensor that the code found outside, or has itself, as a tensor of the trace under a new
  // identity.
  virtual Tensor inside(const Tensor& x) = 0;
  // Fails for a tensor of a trace that the code is no part of.
  virtual void require_reach(const TensorImpl& x) const = 0;

 protected:
  ~TracedCells() = default;
};

}  // namespace tenon
