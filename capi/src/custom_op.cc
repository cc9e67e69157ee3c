#include "capi/src/custom_op.h"

#include <algorithm>
#include <cstring>

#include "capi/src/boundary.h"
#include "capi/src/c_backward.h"
#include "core/base/error_object.h"
#include "core/dispatch/callback_depth.h"
#include "core/dispatch/dispatch.h"
#include "core/trace/control/control.h"
#include "core/trace/graph/order.h"

namespace tenon::capi {
namespace {

// The user's definition of a custom op, stored as the payload of its OpDef.
struct CustomOp {
  CustomOp(const tenon_custom_op& given, Payload payload)
      : op(given), payload(std::move(payload)) {}

  tenon_custom_op op;
  Payload payload;
  AttrsType attrs = {};
  std::unique_ptr<OpDef> in_order;  // The same op with an order token; set if it has `compute`.
};

const CustomOp& get_custom_op(const OpDef& op) {
  return *static_cast<const CustomOp*>(op.payload.get());
}

const CustomAttrs& get_custom_attrs(const void* attrs) {
  return *static_cast<const CustomAttrs*>(attrs);
}

// Returns the attributes as the user's functions receive them: the bytes of the struct, or NULL if
// the op has no attributes.
const void* bytes_of(const OpDef& op, const void* attrs) {
  return op.attrs->size == 0 ? nullptr : get_custom_attrs(attrs).bytes.data();
}

constexpr AttrsMethods kAsBytes = {
    .copy = [](const AttrsType&, void* attrs,
               const void* from) { new (attrs) CustomAttrs(get_custom_attrs(from)); },
    .destroy = [](const AttrsType&,
                  void* attrs) { static_cast<CustomAttrs*>(attrs)->~CustomAttrs(); },
    .equal = [](const AttrsType&, const void* a,
                const void* b) { return get_custom_attrs(a).bytes == get_custom_attrs(b).bytes; },
    .hash =
        [](const AttrsType&, const void* attrs) {
          uint64_t hash = 1;
          for (const std::byte byte : get_custom_attrs(attrs).bytes) {
            hash = tenon::detail::mix(hash, static_cast<uint64_t>(byte));
          }
          return hash;
        },
    .from_c = nullptr,  // CustomAttrs converts the caller's struct.
    .to_c =
        [](const AttrsType&, const void* attrs, void* c) {
          std::memcpy(c, get_custom_attrs(attrs).bytes.data(),
                      get_custom_attrs(attrs).bytes.size());
        },
};

// Returns the type of attributes that are stored as the bytes of a C struct of this size.
AttrsType make_attrs_type(uint32_t c_size) {
  AttrsType type = attrs_type<NoAttrs>();
  if (c_size == 0) return type;
  type.size = sizeof(CustomAttrs);
  type.align = alignof(CustomAttrs);
  type.c_size = c_size;
  type.methods = &kAsBytes;
  return type;
}

tenon_type to_c_type(const TensorType& type) {
  tenon_type c = {};
  c.dtype = to_c(type.dtype);
  c.rank = static_cast<uint32_t>(type.rank());
  std::copy(type.shape.begin(), type.shape.end(), c.shape);
  return c;
}

// Converts the type that the user's `infer` has set for output `i`. Throws if it is invalid.
TensorType from_c_type(const tenon_type& c, size_t i) {
  bool known = false;
  TensorType type;
  type.dtype = dtype_from_c(c.dtype, &known);
  require(
      known && type.dtype != DType::kNone && c.rank <= kMaxRank,
      "infer set output {} to an invalid type: its dtype is unknown, or its {} axes are too many",
      i, c.rank);
  type.shape = Dims(std::span<const int64_t>(c.shape, c.rank));
  check_size(type);
  return type;
}

// Calls the user's `infer` and returns the types of the outputs.
TensorTypes infer(const OpDef& op, const void* attrs, TypeSpan in) {
  const CustomOp& self = get_custom_op(op);
  std::vector<tenon_type> inputs;
  for (size_t i = 0; i < in.size(); ++i) inputs.push_back(to_c_type(in[i]));
  std::vector<tenon_type> outputs(self.op.n_outputs);
  const CallbackDepth nesting(op.name);
  if (tenon_error* error = self.op.infer(self.payload.get(), bytes_of(op, attrs), inputs.data(),
                                         inputs.size(), outputs.data(), outputs.size())) {
    throw take_error(error);
  }
  TensorTypes types;
  for (size_t i = 0; i < outputs.size(); ++i) types.push_back(from_c_type(outputs[i], i));
  return types;
}

// Checks an output of the user's decomposition. Its type must be the one that infer returned,
// because later nodes of a trace depend on it.
Tensor require_declared_output(Tensor y, const TensorType& type, const Device& device, size_t i) {
  y = as_tensor(y, type.dtype);
  require(have_equal_types(y->type, type),
          "decompose returned {} as output {}, but infer declared {}", y->type, i, type);
  require(y->storage->device == &device, "decompose returned output {} on {} instead of {}", i,
          y->storage->device->name(), device.name());
  return y;
}

// Calls the user's decomposition in the current scope.
Tensors decompose(const OpDef& op, const void* attrs, TensorSpan in) {
  const CustomOp& self = get_custom_op(op);
  Scope& scope = current_scope();
  std::vector<const TensorType*> types;
  std::vector<TensorImpl*> borrowed;
  for (const Tensor& x : in) {
    types.push_back(&x->type);
    borrowed.push_back(x.get());
  }
  const TensorTypes output_types = infer(op, attrs, {types.data(), types.size()});
  const CallbackDepth nesting(op.name);
  const RestoreLocation keep(scope);
  const CallbackInputs own(scope, in);
  CallbackOutputs filled(self.op.n_outputs);
  tenon_error* error = self.op.decompose(self.payload.get(), to_handle(&scope), bytes_of(op, attrs),
                                         own.data(), own.size(), filled.out(), self.op.n_outputs);
  Device& device = common_device(scope, borrowed);
  Tensors outputs;
  for (Tensor& y : filled.take(error, "decompose", Entries::kRequired)) {
    const size_t i = outputs.size();
    outputs.push_back(require_declared_output(std::move(y), output_types[i], device, i));
  }
  return outputs;
}

// Resizes `bytes` to hold a dense array of this type, and returns a description of that array.
tenon_host_array host_array_of(const TensorType& type, std::vector<char>& bytes) {
  bytes.resize(static_cast<size_t>(count(type.shape)) * size_of(type.dtype));
  return {.data = bytes.data(), .size = bytes.size(), .type = to_c_type(type), .reserved = 0};
}

// Runs the user's `compute` in host memory. Copies the inputs from their device to the host, and
// the outputs back.
Tensors compute(const OpDef& op, const void* attrs, TensorSpan in) {
  const CustomOp& self = get_custom_op(op);
  Scope& scope = current_scope();
  const Scope::Unrecorded unrecorded(scope);
  std::vector<TensorImpl*> borrowed;
  std::vector<std::vector<char>> memory;
  memory.reserve(in.size() + self.op.n_outputs);
  std::vector<tenon_host_array> inputs, outputs;
  std::vector<const TensorType*> types;
  for (const Tensor& x : in) {
    borrowed.push_back(x.get());
    types.push_back(&x->type);
    inputs.push_back(host_array_of(x->type, memory.emplace_back()));
    to_host(scope, x, inputs.back().data, inputs.back().size);
  }
  const TensorTypes output_types = infer(op, attrs, {types.data(), types.size()});
  for (const TensorType& type : output_types) {
    outputs.push_back(host_array_of(type, memory.emplace_back()));
  }
  const CallbackDepth nesting(op.name);
  if (tenon_error* error = self.op.compute(self.payload.get(), bytes_of(op, attrs), inputs.data(),
                                           inputs.size(), outputs.data(), outputs.size())) {
    throw take_error(error);
  }
  Device& device = common_device(scope, borrowed);
  Tensors results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    results.push_back(from_host(scope, device, output_types[i], outputs[i].data));
  }
  return results;
}

// Calls the user's derivative and returns the gradients with respect to the inputs.
Tensors backward(const OpDef& op, const void* attrs, const VjpArgs& args) {
  const CustomOp& self = get_custom_op(op);
  const CallbackDepth nesting(op.name);
  const RestoreLocation keep(current_scope());
  const BackwardArgs given(args);
  CallbackOutputs filled(given.n_inputs());
  tenon_error* error =
      self.op.backward(self.payload.get(), to_handle(&current_scope()), bytes_of(op, attrs),
                       given.get(), filled.out(), given.n_inputs());
  return given.take(filled, error);
}

bool is_op_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

void validate_custom_op(const tenon_custom_op& op) {
  constexpr uint32_t kMaxInputs = 32;
  const std::string_view name = get_text(op.name, "op.name");
  require(is_op_name(name), "op.name \"{}\" is not of the form [a-z][a-z0-9_.]*", name);
  if (!op.infer) fail_argument("op.infer", "is NULL");
  require((op.compute != nullptr) != (op.decompose != nullptr),
          "an op must have exactly one of compute and decompose, but {} has {}", name,
          op.compute ? "both" : "neither");
  require(op.n_outputs > 0 && op.n_outputs <= kMaxInputs && op.n_inputs <= kMaxInputs,
          "{} has {} inputs and {} outputs; it may have up to {} of each, and must have an output",
          name, op.n_inputs, op.n_outputs, kMaxInputs);
  require(op.attrs_size == 0 || op.attrs_size >= sizeof(uint32_t),
          "the attributes of {} do not begin with a struct_size", name);
}

}  // namespace

CustomAttrs::CustomAttrs(const OpDef& op, const void* given) : bytes(op.attrs->c_size) {
  uint32_t size = 0;
  if (given) {
    std::memcpy(&size, given, sizeof size);
    if (size < sizeof size) fail_argument("attrs", "has no struct_size");
    if (size > bytes.size()) {
      fail_argument("attrs", format("has {} bytes, but the attributes of {} have {}",
                                    {size, op.name, bytes.size()}));
    }
    std::memcpy(bytes.data(), given, size);
  }
  size = static_cast<uint32_t>(bytes.size());
  std::memcpy(bytes.data(), &size, sizeof size);
}

std::unique_ptr<OpDef> make_custom_op(const tenon_custom_op& given, Payload payload) {
  validate_custom_op(given);
  auto custom = std::make_shared<CustomOp>(given, std::move(payload));
  custom->attrs = make_attrs_type(given.attrs_size);
  auto op = std::make_unique<OpDef>();
  op->name = get_text(given.name, "op.name");
  custom->op.name = borrow_text(op->name);
  op->attrs = &custom->attrs;
  op->min_inputs = op->max_inputs = static_cast<uint8_t>(given.n_inputs);
  op->infer = infer;
  op->decompose = given.decompose ? decompose : compute;
  if (given.backward) {
    op->vjp = backward;
    op->saved_inputs = op->saved_outputs = ~uint64_t{0};
  }
  op->differentiable = given.backward || given.decompose;
  if (!op->differentiable)
    op->no_gradient =
        "it has no derivative: an op that computes in host memory needs a backward function";
  if (given.compute) {
    custom->in_order = std::make_unique<OpDef>(make_ordered_op(*op));
    op->in_order = custom->in_order.get();
  }
  op->payload = std::move(custom);
  return op;
}

}  // namespace tenon::capi
