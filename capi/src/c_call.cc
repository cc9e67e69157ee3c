#include <tenon/call.h>

#include "capi/src/boundary.h"
#include "capi/src/c_attrs.h"
#include "capi/src/custom_op.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/registry.h"
#include "core/trace/control/control.h"

using namespace tenon::capi;
using tenon::OpDef;
using tenon::TensorImpl;
using tenon::Tensors;

namespace tenon::capi {

const OpDef& find_op(const Context& context, uint32_t op) {
  const OpDef* found = tenon::find_op(op);
  if (!found) found = context.find_op(op);
  require_code(found != nullptr, Code::kNotFound, "there is no op {}", op);
  return *found;
}

// Constructs the attributes from the caller's struct, which may be shorter than the op's.
void CallAttrs::read(const OpDef& op, const void* given) {
  if (op.attrs->size == 0) return;  // The struct of such an op is empty.
  if (is_custom(op)) {
    new (bytes_) CustomAttrs(op, given);
    type_ = op.attrs;
    return;
  }
  require_code(op.attrs->size <= sizeof bytes_, Code::kInternal,
               "the attributes of {} are too large", op.name);
  op.attrs->init(bytes_);
  type_ = op.attrs;
  if (!given) return;
  uint32_t size;
  std::memcpy(&size, given, sizeof size);
  try {
    if (size < sizeof size) fail_argument("attrs", "has no struct_size");
    const auto* bytes = static_cast<const std::byte*>(given);
    for (size_t i = op.attrs->c_size; i < size; ++i) {
      if (bytes[i] != std::byte{0}) {
        fail_argument("attrs", "has fields that only a newer version of Tenon supports");
      }
    }
    op.attrs->from_c(bytes_, given);
  } catch (...) {
    type_->destroy(bytes_);
    throw;
  }
}

void CallAttrs::set_sizes(Scope& scope, const OpDef& op,
                          std::span<const tenon_size_argument> sizes) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string where = format("sizes[{}]", {i});
    const std::string_view name = get_text(sizes[i].attribute, (where + ".attribute").c_str());
    for (size_t k = 0; k < i; ++k) {
      if (get_text(sizes[k].attribute, "attribute") == name) {
        fail_argument(where.c_str(), format("sets the attribute \"{}\" twice", {name}));
      }
    }
    const AttrField* found = nullptr;
    for (const AttrField& field : op.attrs->fields) {
      const bool is_size = field.kind == AttrKind::kSize || field.kind == AttrKind::kSizes;
      if (is_size && name == field.name) found = &field;
    }
    if (!found || is_custom(op)) {
      fail_argument(where.c_str(), format("{} has no size attribute \"{}\"", {op.name, name}));
    }
    const Tensor value = get_tensor(scope, sizes[i].sizes, (where + ".sizes").c_str());
    if (found->kind == AttrKind::kSize) {
      found->get<Size>(bytes_) = size_in(scope, value, found->name);
    } else {
      found->get<Sizes>(bytes_) = sizes_in(scope, value, found->name);
    }
  }
}

}  // namespace tenon::capi

namespace {

// Collects the inputs without adding references. The op itself checks their number and NULL
// entries.
void borrow(tenon_tensor* const* handles, size_t n, tenon::SmallVector<TensorImpl*, 6>& inputs) {
  if (n > 0) require_pointer(handles, "inputs");
  for (size_t i = 0; i < n; ++i) {
    auto* x = reinterpret_cast<TensorImpl*>(handles[i]);
    if (x && x->kind() != tenon::Kind::kTensor) [[unlikely]] {
      fail_handle(x, tenon::format("inputs[{}]", {i}).c_str(), "a tensor");
    }
    inputs.push_back(x);
  }
}

// Calls a built-in op. tenon_call() spends most of its time here, so this path must be fast.
Tensors call(tenon::Scope& scope, const OpDef& op, const void* attrs, tenon_tensor* const* inputs,
             size_t n_inputs) {
  tenon::SmallVector<TensorImpl*, 6> borrowed;
  try {
    CallAttrs given(op, attrs);
    borrow(inputs, n_inputs, borrowed);
    return tenon::apply(scope, op, given.view(), borrowed);
  } catch (tenon::Error& error) {
    error.set_op(op.name);
    throw;
  }
}

// Calls a built-in or custom op. The tensors in `sizes` override size attributes.
Tensors call_sized(tenon::Scope& scope, const OpDef& op, const void* attrs,
                   std::span<const tenon_size_argument> sizes, tenon_tensor* const* inputs,
                   size_t n_inputs) {
  tenon::SmallVector<TensorImpl*, 6> borrowed;
  Tensors kept;
  try {
    CallAttrs given(op, attrs);
    given.set_sizes(scope, op, sizes);
    borrow(inputs, n_inputs, borrowed);
    if (is_custom(op)) {
      // The callbacks of a custom op may release the inputs, so this holds references to them.
      // Donated inputs get no reference: a second owner would prevent the reuse of their memory.
      for (size_t i = 0; i < borrowed.size(); ++i) {
        TensorImpl* x = borrowed[i];
        tenon::require(!x || x->donation != tenon::Donation::kConsumed,
                       "input {} was donated to an earlier call and cannot be used again", i);
        if (x && x->donation == tenon::Donation::kNone) kept.push_back(tenon::Tensor::share(x));
      }
    }
    return tenon::apply(scope, op, given.view(), borrowed);
  } catch (tenon::Error& error) {
    error.set_op(op.name);
    throw;
  }
}

// Returns whether the number of outputs depends on attributes or inputs. A call of such an op must
// request all outputs.
bool has_variable_output_count(const OpDef& op) {
  return op.id == TENON_OP_split || op.id == TENON_OP_unstack || op.id == TENON_OP_meshgrid;
}

// Throws if the caller requests more outputs than are available, or omits outputs although their
// number is variable.
void require_outputs(const OpDef& op, size_t requested, size_t available) {
  if (requested == available) [[likely]]
    return;
  if (requested > available || has_variable_output_count(op)) {
    tenon::Error error(
        tenon::Code::kInvalidArgument,
        tenon::format("{} outputs were requested, but the op has {}", {requested, available}));
    error.set_op(op.name);
    throw error;
  }
}

}  // namespace

tenon_error* tenon_call_sized(tenon_scope* scope, uint32_t op, const void* attrs,
                              const tenon_size_argument* sizes, size_t n_sizes,
                              tenon_tensor* const* inputs, size_t n_inputs,
                              tenon_tensor** out_outputs, size_t n_outputs) {
  clear_outputs(out_outputs, n_outputs);
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    const OpDef& found = find_op(self.context(), op);
    if (n_outputs > 0) require_pointer(out_outputs, "out_outputs");
    if (n_sizes > 0) require_pointer(sizes, "sizes");
    Tensors outputs = call_sized(self, found, attrs, {sizes, n_sizes}, inputs, n_inputs);
    require_outputs(found, n_outputs, outputs.size());
    set_outputs(outputs, out_outputs, n_outputs);
  });
}

tenon_error* tenon_call(tenon_scope* scope, uint32_t op, const void* attrs,
                        tenon_tensor* const* inputs, size_t n_inputs, tenon_tensor** out_outputs,
                        size_t n_outputs) {
  if (op >> 31 != 0) [[unlikely]] {  // A custom op runs callbacks.
    return tenon_call_sized(scope, op, attrs, nullptr, 0, inputs, n_inputs, out_outputs, n_outputs);
  }
  clear_outputs(out_outputs, n_outputs);
  return boundary_in(scope, [&](tenon::Scope& self) {
    const OpDef& found = find_op(self.context(), op);
    if (n_outputs > 0) require_pointer(out_outputs, "out_outputs");
    Tensors outputs = call(self, found, attrs, inputs, n_inputs);
    require_outputs(found, n_outputs, outputs.size());
    set_outputs(outputs, out_outputs, n_outputs);
  });
}

tenon_error* tenon_op_find(tenon_context* context, tenon_string name, uint32_t* out_op) {
  clear_output(out_op);
  return boundary([&] {
    require_pointer(out_op, "out_op");
    const std::string_view text = get_text(name, "name");
    const OpDef* op = context ? get(context, "context").find_op(text) : tenon::find_op(text);
    tenon::require_code(op != nullptr, tenon::Code::kNotFound, "unknown op \"{}\"", text);
    *out_op = op->id;
  });
}

tenon_string tenon_op_name(tenon_context* context, uint32_t op) {
  const OpDef* found = tenon::find_op(op);
  if (!found) {
    if (tenon::Context* self = get_or_null(context)) found = self->find_op(op);
  }
  return found ? borrow_text(found->name) : tenon_string TENON_STR("");
}
