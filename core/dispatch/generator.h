// A random number generator: a cell that holds the state of Philox4x32-10. The state has six words,
// the key and the counter.

#pragma once

#include "core/dispatch/cell.h"

namespace tenon {

class Generator final : public Cell, public Pooled<Generator> {
 public:
  Generator(Scope& scope, uint64_t seed);

  // Returns the type of a state, u32[6]. A state holds the key, low word first, then the 128-bit
  // counter, low word first.
  static const TensorType& state_type();
  // Fails unless `state` has the type state_type().
  void set_state(Scope& scope, const Tensor& state);
  // Restarts the generator in the initial state for `seed`.
  void seed(Scope& scope, uint64_t seed);

  // Applies an op that takes the state as input `state_input` and returns the new state as its last
  // output. Stores the new state. Returns the other outputs.
  Tensors draw(Scope& scope, const OpDef& op, AnyAttrs attrs, Inputs inputs, size_t state_input);
};

}  // namespace tenon
