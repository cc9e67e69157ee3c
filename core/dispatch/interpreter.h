// The innermost interpreter of a scope determines what a call does: none (eager), a tape, or a
// tracer.

#pragma once

#include "core/base/ref.h"
#include "core/ops/definition/op.h"

namespace tenon {

class Scope;

// One call of an op, whose inputs are checked and promoted. Each interpreter passes it on to the
// next outer one.
struct Call {
  const OpDef& op;
  AnyAttrs attrs;
  Inputs inputs;
  TypeSpan types;  // Types of the inputs; scalars have the dtype that they adopted.
};

class Interpreter : public Object {
 public:
  using Apply = Tensors (*)(Interpreter& self, Scope& scope, const Call& call);
  using Destroy = void (*)(const Interpreter& self);

  // Executes a call in a scope whose innermost interpreter is this one.
  Tensors apply(Scope& scope, const Call& call) { return apply_(*this, scope, call); }
  void release() const {
    if (drop()) destroy_(*this);
  }
  Interpreter* outer() const { return outer_; }
  // Whether this interpreter is on its scope's stack. When a callback ends, interpreters that it
  // left on the stack are removed.
  bool is_on_scope() const { return is_on_scope_; }

 protected:
  // The class has function pointers instead of virtual functions, because handle checks read
  // Object's members at the start of the object, where a vtable pointer would be.
  Interpreter(Kind kind, Apply apply, Destroy destroy)
      : Object(kind), apply_(apply), destroy_(destroy) {}
  ~Interpreter() = default;

 private:
  friend class Scope;
  Apply apply_;
  Destroy destroy_;
  Interpreter* outer_ = nullptr;  // The next outer interpreter on the scope's stack.
  // The next interpreter in Scope::removed_, the list of interpreters to be unlinked from the
  // stack.
  Interpreter* next_removed_ = nullptr;
  bool is_on_scope_ = false;
};

}  // namespace tenon
