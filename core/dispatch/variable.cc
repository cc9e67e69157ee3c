#include "core/dispatch/variable.h"

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"

namespace tenon {

Variable::Variable(Scope& scope, Tensor value, std::string name, bool trainable)
    : Cell(
          Kind::kVariable, [](const Cell& self) { delete static_cast<const Variable*>(&self); },
          scope, std::move(value)),
      name_(std::move(name)),
      trainable_(trainable) {}

Tensor Variable::read(Scope& scope) {
  require(&scope.context() == &context(), "variable {} belongs to another context", name_);
  Tensor value = load(scope);
  if (scope.innermost()) tapes_on_read(scope, *this, *value);
  return value;
}

void Variable::assign(Scope& scope, const Tensor& given) {
  require(given->donation == Donation::kNone,
          "the value to assign was donated: assign a tensor that is not donated");
  Tensor value = given;
  if (given->type.weak) {
    const Scope::OnDevice on(scope, device());
    value = fill(given, Dims{}, type().dtype);
  }
  require(value->type == type(), "variable {} holds {}, but the value is {}", name_, type(),
          value->type);
  require(value->storage->device == &device(), "variable {} is on {}, but the value is on {}",
          name_, device().name(), value->storage->device->name());
  store(scope, value);
}

}  // namespace tenon
