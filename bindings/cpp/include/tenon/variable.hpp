// Variables, which are cells that hold a tensor; and values, which are tensors or variables, for
// example sources of gradients.

#pragma once

#include <tenon/tensor.hpp>

namespace tenon {

struct VariableOptions {
  bool trainable = true;  // Whether tapes watch the variable when it is read.
  std::string name;       // Only for display.
};

// A cell that holds a tensor. Copies of the handle share the cell.
class Variable {
 public:
  // The initial value determines dtype, shape and device.
  explicit Variable(const Tensor& initial, const VariableOptions& options = {},
                    SourceLocation at = here())
      : handle_(detail::make<Shared>(at, [&](tenon_variable** out) {
          tenon_variable_options c_options = TENON_VARIABLE_OPTIONS_DEFAULT;
          c_options.trainable = options.trainable;
          c_options.name = detail::c_text(options.name);
          return tenon_variable_create(current_scope(at), initial.get(), &c_options, out);
        })) {}

  // Adds a reference to an object that the caller keeps.
  static Variable share(tenon_variable* variable) { return Variable(Shared::share(variable)); }

  // Returns the current tensor. Later assignments do not change the returned tensor.
  Tensor read(SourceLocation at = here()) const {
    tenon_tensor* value = nullptr;
    check(tenon_variable_read(current_scope(at), get(), &value), at);
    return Tensor::adopt(value);
  }
  // Reads the variable implicitly in expressions: w * x + b.
  operator Tensor() const { return read(); }

  // Replaces the tensor. Gradients do not flow through an assignment.
  void assign(const Tensor& value, SourceLocation at = here()) const {
    check(tenon_variable_assign(current_scope(at), get(), value.get()), at);
  }

  // Adds a tensor to the variable, like w += x.
  void assign_add(const Tensor& value, SourceLocation at = here()) const;
  // Subtracts a tensor from the variable, like w -= x.
  void assign_sub(const Tensor& value, SourceLocation at = here()) const;

  // Indexes the current tensor; see Tensor::operator[].
  Tensor operator[](const Index& index) const;

  DType dtype() const { return tenon_variable_dtype(get()); }
  std::span<const int64_t> shape() const {
    return {tenon_variable_shape(get()), tenon_variable_rank(get())};
  }
  std::string_view name() const { return detail::view(tenon_variable_name(get())); }
  std::string_view device() const { return detail::view(tenon_variable_device_name(get())); }
  bool is_trainable() const { return tenon_variable_is_trainable(get()); }
  void set_trainable(bool trainable) const { tenon_variable_set_trainable(get(), trainable); }

  tenon_variable* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_variable, tenon_variable_retain, tenon_variable_release>;
  explicit Variable(Shared handle) : handle_(std::move(handle)) {}

  Shared handle_;
};

// A tensor or a variable, for example a source of gradients.
class Value {
 public:
  Value(const Tensor& tensor) : handle_(Shared::share(tenon_tensor_as_value(tensor.get()))) {}
  Value(const Variable& variable)
      : handle_(Shared::share(tenon_variable_as_value(variable.get()))) {}

  // Takes ownership of the caller's reference.
  static Value adopt(tenon_value* value) { return Value(Shared::adopt(value)); }

  bool is_variable() const { return tenon_value_as_variable(get()) != nullptr; }
  // Returns the variable. Valid only if is_variable() is true.
  Variable variable() const { return Variable::share(tenon_value_as_variable(get())); }
  Tensor tensor() const { return Tensor::share(tenon_value_as_tensor(get())); }

  tenon_value* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_value, tenon_value_retain, tenon_value_release>;
  explicit Value(Shared handle) : handle_(std::move(handle)) {}

  Shared handle_;
};

}  // namespace tenon
