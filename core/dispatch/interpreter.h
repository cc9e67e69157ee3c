// What a call does depends on the innermost interpreter of its scope: none for eager, a tape, or a
// tracer.

#pragma once

#include "core/base/ref.h"
#include "core/ops/op.h"

namespace tenon {

class Scope;

// One application of an op, checked and promoted: what passes from interpreter to interpreter.
struct Call {
  const OpDef& op;
  AnyAttrs attrs;
  Inputs inputs;
  TypeSpan types;  // Of the inputs, scalars with the dtype that they have taken.
};

class Interpreter : public Object {
 public:
  using Apply = Tensors (*)(Interpreter& self, Scope& scope, const Call& call);
  using Destroy = void (*)(const Interpreter& self);

  Tensors apply(Scope& scope, const Call& call) { return apply_(*this, scope, call); }
  void release() const {
    if (drop()) destroy_(*this);
  }
  Interpreter* outer() const { return outer_; }
  // Whether it is on its scope's stack. A callback that ends takes off what it left there.
  bool is_on_scope() const { return is_on_scope_; }

 protected:
  // Pointers in place of virtual functions: handles are checked by what lies at their start.
  Interpreter(Kind kind, Apply apply, Destroy destroy)
      : Object(kind), apply_(apply), destroy_(destroy) {}
  ~Interpreter() = default;

 private:
  friend class Scope;
  Apply apply_;
  Destroy destroy_;
  Interpreter* outer_ = nullptr;         // The next one out, in the scope's stack.
  Interpreter* next_removed_ = nullptr;  // Of those that wait to be unlinked from the stack.
  bool is_on_scope_ = false;
};

}  // namespace tenon
