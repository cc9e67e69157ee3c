#include "core/dispatch/cell.h"

#include "core/base/error.h"

namespace tenon {

Cell::Cell(Kind kind, Destroy destroy, Scope& scope, Tensor value)
    : Object(kind),
      destroy_(destroy),
      context_(Ref<Context>::share(&scope.context())),
      type_(value->type),
      device_(*value->storage->device),
      id_(scope.context().next_serial()),
      value_(std::move(value)) {
  // While tracing, the initial value may have symbolic sizes. The conversions to int64_t fix them
  // to the sizes of the traced call.
  for (size_t i = 0; i < type_.rank(); ++i) type_.shape[i] = int64_t{type_.shape[i]};
  if (scope.traced_cells()) scope.traced_cells()->add(*this);
}

// Returns the value, ignoring any trace.
Tensor Cell::load_untraced() const {
  std::lock_guard guard(*this);
  return alias_of(*value_);
}

// Replaces the value, ignoring any trace.
void Cell::store_untraced(const Tensor& value) {
  // Declared before `guard`, so that the old value is released after the mutex is unlocked.
  Tensor stored = alias_of(*value);
  std::lock_guard guard(*this);
  std::swap(value_, stored);
}

Tensor Cell::load(Scope& scope) const {
  if (scope.traced_cells()) return scope.traced_cells()->load(*this);
  Tensor value = load_untraced();
  require_code(!value->storage->traced, Code::kFailedPrecondition,
               "the {} was created in a trace that failed before it had a value",
               kind() == Kind::kVariable ? "variable" : "generator");
  return value;
}

void Cell::store(Scope& scope, const Tensor& value) {
  if (scope.traced_cells()) {
    scope.traced_cells()->store(*this, value);
  } else {
    store_untraced(value);
  }
}

}  // namespace tenon
