#include "core/dispatch/generator.h"

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"

namespace tenon {
namespace {

// Returns the initial state for a seed: the key is the seed, and the counter is 0.
Tensor initial_state(Scope& scope, uint64_t seed) {
  const uint32_t words[6] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  return from_host(scope, scope.device(), Generator::state_type(), words);
}

}  // namespace

const TensorType& Generator::state_type() {
  static const TensorType type(DType::kU32, Dims{6});
  return type;
}

Generator::Generator(Scope& scope, uint64_t seed)
    : Cell(
          Kind::kGenerator, [](const Cell& self) { delete static_cast<const Generator*>(&self); },
          scope, initial_state(scope, seed)) {}

void Generator::set_state(Scope& scope, const Tensor& state) {
  require(state->type == state_type(), "a generator's state must be {}, but is {}", state_type(),
          state->type);
  store(scope, state);
}

void Generator::seed(Scope& scope, uint64_t seed) { store(scope, initial_state(scope, seed)); }

// Applies an op that takes the generator's state and returns the new state as its last output.
// Stores the new state, and returns the other outputs.
Tensors Generator::draw(Scope& scope, const OpDef& op, AnyAttrs attrs, Inputs inputs,
                        size_t state_input) {
  // The generator is locked until the new state is stored, so that two scopes never draw the same
  // numbers.
  std::lock_guard guard(*this);
  const Tensor state = load(scope);
  SmallVector<TensorImpl*, 6> all;
  for (size_t i = 0; i <= inputs.size(); ++i) {
    if (i == state_input) all.push_back(state.get());
    if (i < inputs.size()) all.push_back(inputs[i]);
  }
  Tensors outputs = apply(scope, op, attrs, all);
  require(outputs.size() >= 2 && outputs.back()->type == state_type(),
          "{} does not return the new state of its generator", op.name);
  store(scope, outputs.back());
  outputs.pop_back();
  return outputs;
}

}  // namespace tenon
