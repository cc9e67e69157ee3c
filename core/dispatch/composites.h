// Running an op as its parts, where a device has no kernel for it.

#pragma once

#include "core/dispatch/interpreter.h"
#include "core/dispatch/scope.h"

namespace tenon {

class Composites {
 public:
  explicit Composites(Scope& scope) : scope_(scope) {}

  // Runs the decomposition, part by part, in the scope: what records there records the parts.
  Tensors call(const Call& call);

 private:
  Scope& scope_;
};

inline Composites composites(Scope& scope) { return Composites(scope); }

}  // namespace tenon
