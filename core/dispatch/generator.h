// A random generator: a cell that holds the six words of DESIGN 8, the key and the counter.

#pragma once

#include <mutex>

#include "core/dispatch/scope.h"

namespace tenon {

class Generator final : public Object, public Pooled<Generator> {
 public:
  Generator(Scope& scope, uint64_t seed);

  void release() const {
    if (drop()) delete this;
  }

  Context& context() const { return *context_; }

  // u32[6]: the key, low word first, then the 128-bit counter, low word first.
  Tensor state() const;
  void set_state(const Tensor& state);
  void seed(Scope& scope, uint64_t seed);

  // Applies an op whose first input and last output are a state, and keeps the new state. The
  // outputs are the others.
  Tensors draw(Scope& scope, const OpDef& op, AnyAttrs attrs, Inputs inputs, size_t state_input);

 private:
  Ref<Context> context_;
  mutable std::mutex mutex_;
  Tensor state_;
};

}  // namespace tenon
