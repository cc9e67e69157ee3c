#include "core/dispatch/generator.h"

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"

namespace tenon {
namespace {

const TensorType& state_type() {
  static const TensorType type(DType::kU32, Dims{6});
  return type;
}

}  // namespace

Generator::Generator(Scope& scope, uint64_t seed)
    : Object(Kind::kGenerator), context_(Ref<Context>::share(&scope.context())) {
  this->seed(scope, seed);
}

Tensor Generator::state() const {
  std::lock_guard guard(mutex_);
  return state_;
}

void Generator::set_state(const Tensor& state) {
  require(state->type == state_type(), "a generator's state is {}, but this is {}", state_type(),
          state->type);
  std::lock_guard guard(mutex_);
  state_ = state;
}

void Generator::seed(Scope& scope, uint64_t seed) {
  const uint32_t words[6] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  set_state(from_host(scope, scope.device(), state_type(), words));
}

Tensors Generator::draw(Scope& scope, const OpDef& op, AnyAttrs attrs, Inputs inputs,
                        size_t state_input) {
  // Held throughout, so that two scopes never draw the same numbers.
  std::lock_guard guard(mutex_);
  SmallVector<TensorImpl*, 6> all;
  for (size_t i = 0; i <= inputs.size(); ++i) {
    if (i == state_input) all.push_back(state_.get());
    if (i < inputs.size()) all.push_back(inputs[i]);
  }
  Tensors outputs = apply(scope, op, attrs, all);
  require(outputs.size() >= 2 && outputs.back()->type == state_type(),
          "{} gives no new state of a generator", op.name);
  state_ = outputs.back();
  outputs.pop_back();
  return outputs;
}

}  // namespace tenon
