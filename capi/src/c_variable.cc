#include <tenon/variable.h>

#include "capi/src/boundary.h"
#include "capi/src/structs.h"
#include "core/ops/definition/formulas.h"

using namespace tenon::capi;
using tenon::Tensor;
using tenon::Variable;

tenon_error* tenon_variable_create(tenon_scope* scope, tenon_tensor* initial,
                                   const tenon_variable_options* options,
                                   tenon_variable** out_variable) {
  clear_output(out_variable);
  return boundary_in(scope, [&](tenon::Scope& self) {
    constexpr tenon_variable_options kDefault = TENON_VARIABLE_OPTIONS_DEFAULT;
    require_pointer(out_variable, "out_variable");
    const tenon_variable_options given = read_struct(options, kDefault, "options");
    Tensor value = get_tensor(self, initial, "initial");
    tenon::require(!value->type.lists, "initial must be a tensor, but is {}", value->type);
    if (value->type.weak) value = tenon::fill(value, tenon::Dims{}, value->type.dtype);
    give(tenon::Ref<Variable>::adopt(new Variable(self, std::move(value),
                                                  std::string(get_text(given.name, "options.name")),
                                                  given.trainable)),
         out_variable);
  });
}

void tenon_variable_retain(tenon_variable* variable) { retain_handle(variable); }

void tenon_variable_release(tenon_variable* variable) { release_handle(variable); }

tenon_error* tenon_variable_read(tenon_scope* scope, tenon_variable* variable,
                                 tenon_tensor** out_tensor) {
  clear_output(out_tensor);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_tensor, "out_tensor");
    give(get(variable, "variable").read(self), out_tensor);
  });
}

tenon_error* tenon_variable_assign(tenon_scope* scope, tenon_variable* variable,
                                   tenon_tensor* value) {
  return boundary_in(scope, [&](tenon::Scope& self) {
    Variable& to = get(variable, "variable");
    if (&to.context() != &self.context()) {
      fail_argument("variable", "belongs to another context than the scope");
    }
    to.assign(self, get_tensor(self, value, "value"));
  });
}

tenon_dtype tenon_variable_dtype(const tenon_variable* variable) {
  const Variable* self = get_or_null(variable);
  return self ? tenon::to_c(self->type().dtype) : TENON_DTYPE_NONE;
}

size_t tenon_variable_rank(const tenon_variable* variable) {
  const Variable* self = get_or_null(variable);
  return self ? self->type().rank() : 0;
}

const int64_t* tenon_variable_shape(const tenon_variable* variable) {
  const Variable* self = get_or_null(variable);
  return self ? self->type().shape.data() : nullptr;
}

tenon_string tenon_variable_name(const tenon_variable* variable) {
  const Variable* self = get_or_null(variable);
  return self ? borrow_text(self->name()) : tenon_string TENON_STR("");
}

tenon_string tenon_variable_device_name(const tenon_variable* variable) {
  const Variable* self = get_or_null(variable);
  return self ? borrow_text(self->device().name()) : tenon_string TENON_STR("");
}

bool tenon_variable_is_trainable(const tenon_variable* variable) {
  const Variable* self = get_or_null(variable);
  return self && self->trainable();
}

void tenon_variable_set_trainable(tenon_variable* variable, bool trainable) {
  if (Variable* self = get_or_null(variable)) self->set_trainable(trainable);
}

tenon_value* tenon_variable_as_value(tenon_variable* variable) {
  return reinterpret_cast<tenon_value*>(variable);
}

tenon_tensor* tenon_value_as_tensor(tenon_value* value) {
  auto* tensor = reinterpret_cast<tenon_tensor*>(value);
  return get_or_null(tensor) ? tensor : nullptr;
}

tenon_variable* tenon_value_as_variable(tenon_value* value) {
  auto* variable = reinterpret_cast<tenon_variable*>(value);
  return get_or_null(variable) ? variable : nullptr;
}

void tenon_value_retain(tenon_value* value) {
  retain_handle(reinterpret_cast<tenon_tensor*>(value));
  retain_handle(reinterpret_cast<tenon_variable*>(value));
}

void tenon_value_release(tenon_value* value) {
  if (tenon_tensor* tensor = tenon_value_as_tensor(value)) {
    release_handle(tensor);
  } else {
    release_handle(reinterpret_cast<tenon_variable*>(value));
  }
}
