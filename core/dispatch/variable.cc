#include "core/dispatch/variable.h"

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"

namespace tenon {

Variable::Variable(Ref<Context> context, Tensor value, std::string name, bool trainable)
    : Object(Kind::kVariable),
      context_(std::move(context)),
      type_(value->type),
      name_(std::move(name)),
      trainable_(trainable),
      value_(std::move(value)) {}

Tensor Variable::peek() const {
  std::lock_guard guard(mutex_);
  return make_view(*value_, value_->type, value_->strides, value_->offset);
}

Tensor Variable::read(Scope& scope) {
  require(&scope.context() == context_.get(), "variable {} belongs to another context", name_);
  Tensor value = peek();
  if (scope.innermost()) tapes_on_read(scope, *this, *value);
  return value;
}

void Variable::assign(Scope& scope, const Tensor& given) {
  require(given->donation == Donation::kNone, "the value was donated");
  Device& device = *value_->storage->device;
  Tensor value = given;
  if (given->type.weak) {
    value = to_device(scope, with_dtype(scope, *given, type_.dtype), device);
  }
  require(value->type == type_, "variable {} holds {}, but the value is {}", name_, type_,
          value->type);
  require(value->storage->device == &device, "variable {} lies on {}, but the value on {}", name_,
          device.name(), value->storage->device->name());
  Tensor stored = make_view(*value, value->type, value->strides, value->offset);
  std::lock_guard guard(mutex_);
  std::swap(value_, stored);
}

}  // namespace tenon
