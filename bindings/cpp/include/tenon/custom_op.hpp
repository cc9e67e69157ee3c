// Custom ops, and calls of ops by their number.
//
//   const Op twice = register_op({
//       .name = "my.twice",
//       .infer = [](std::span<const Type> in) { return std::vector{in[0]}; },
//       .decompose = [](std::span<const Tensor> in) { return std::vector{in[0] + in[0]}; },
//   });
//   Tensor y = twice({x})[0];
//
// An exception that a lambda throws propagates to the caller of the op.

#pragma once

#include <functional>
#include <tenon/gradients.hpp>

namespace tenon {

struct Type {
  DType dtype;  // TENON_DTYPE_NONE for an absent input.
  Shape shape;
};

// The elements of a tensor in host memory, row-major without gaps.
struct HostArray {
  Type type;
  void* data = nullptr;
  size_t bytes = 0;

  // Returns the elements as a span of T, the C++ type of the dtype.
  template <class T>
  std::span<T> elements() const {
    return {static_cast<T*>(data), bytes / sizeof(T)};
  }
};

// A custom op. It needs `infer`, and either `compute` or `decompose`. Any thread may call these
// lambdas. Values that they capture act as the op's attributes.
struct CustomOp {
  std::string name;  // [a-z][a-z0-9_.]*
  uint32_t n_inputs = 1;
  uint32_t n_outputs = 1;
  // Returns the types of the outputs; throws if the inputs are invalid.
  std::function<std::vector<Type>(std::span<const Type> inputs)> infer = {};
  // Computes the outputs in host memory. Used on every device.
  std::function<void(std::span<const HostArray> inputs, std::span<const HostArray> outputs)>
      compute = {};
  // Computes the outputs by calling ops.
  std::function<std::vector<Tensor>(std::span<const Tensor> inputs)> decompose = {};
  // Computes the gradients with respect to the inputs. If empty, Tenon differentiates `decompose`,
  // if there is one.
  std::function<std::vector<Tensor>(const Backward& call)> backward = {};
};

// An op, identified by its number. Call operator() to run it.
class Op {
 public:
  explicit Op(uint32_t number, size_t n_outputs = 1) : number_(number), n_outputs_(n_outputs) {}

  uint32_t number() const { return number_; }

  // Runs the op. Pass an empty handle for an omitted optional input. `attrs` is the op's C struct.
  std::vector<Tensor> operator()(std::span<const Tensor> inputs, const void* attrs = nullptr,
                                 SourceLocation at = here()) const {
    const std::vector<tenon_tensor*> given = detail::handles(inputs);
    std::vector<tenon_tensor*> taken(n_outputs_);
    check(tenon_call(current_scope(at), number_, attrs, given.data(), given.size(), taken.data(),
                     taken.size()),
          at);
    return detail::adopt_all(taken);
  }
  std::vector<Tensor> operator()(std::initializer_list<Tensor> inputs, const void* attrs = nullptr,
                                 SourceLocation at = here()) const {
    return (*this)(std::span<const Tensor>(inputs.begin(), inputs.size()), attrs, at);
  }

 private:
  uint32_t number_;
  size_t n_outputs_;
};

// Finds an op by name: a built-in op, or a custom op of the current scope's context.
inline Op find_op(std::string_view name, size_t n_outputs = 1, SourceLocation at = here()) {
  uint32_t number = 0;
  check(tenon_op_find(tenon_scope_context(current_scope(at)), detail::c_text(name), &number), at);
  return Op(number, n_outputs);
}

// Returns the name that an op has in the current scope's context.
inline std::string_view op_name(const Op& op) {
  return detail::view(tenon_op_name(tenon_scope_context(current_scope()), op.number()));
}

namespace detail {

// Converts a type from C.
inline Type type_of(const tenon_type& c) { return {c.dtype, Shape(c.shape, c.shape + c.rank)}; }

// Converts a type to C. Throws if it has too many axes.
inline tenon_type c_type(const Type& type) {
  if (type.shape.size() > TENON_MAX_RANK) {
    throw Error(Code::kInvalidArgument, "a type has " + std::to_string(type.shape.size()) +
                                            " axes, but at most " + std::to_string(TENON_MAX_RANK) +
                                            " are allowed");
  }
  tenon_type c = {};
  c.dtype = type.dtype;
  c.rank = static_cast<uint32_t>(type.shape.size());
  for (size_t i = 0; i < type.shape.size(); ++i) c.shape[i] = type.shape[i];
  return c;
}

// Converts arrays from C. The result refers to their memory.
inline std::vector<HostArray> host_arrays(const tenon_host_array* arrays, size_t count) {
  std::vector<HostArray> result;
  for (size_t i = 0; i < count; ++i) {
    result.push_back({type_of(arrays[i].type), arrays[i].data, arrays[i].size});
  }
  return result;
}

// Returns the op that a C callback received as its payload.
inline const CustomOp& custom_op(void* payload) { return *static_cast<const CustomOp*>(payload); }

// The C callback that calls CustomOp::infer.
inline tenon_error* infer_custom(void* payload, const void*, const tenon_type* inputs,
                                 size_t n_inputs, tenon_type* out_types, size_t n_outputs) {
  return no_throw([&] {
    const CustomOp& op = custom_op(payload);
    std::vector<Type> given;
    for (size_t i = 0; i < n_inputs; ++i) given.push_back(type_of(inputs[i]));
    const std::vector<Type> types = op.infer(given);
    if (types.size() != n_outputs) {
      throw Error(Code::kInvalidArgument,
                  op.name + ": infer returned " + std::to_string(types.size()) +
                      " types, but the op has " + std::to_string(n_outputs) + " outputs");
    }
    for (size_t i = 0; i < n_outputs; ++i) out_types[i] = c_type(types[i]);
  });
}

// The C callback that calls CustomOp::compute.
inline tenon_error* compute_custom(void* payload, const void*, const tenon_host_array* inputs,
                                   size_t n_inputs, const tenon_host_array* outputs,
                                   size_t n_outputs) {
  return no_throw([&] {
    custom_op(payload).compute(host_arrays(inputs, n_inputs), host_arrays(outputs, n_outputs));
  });
}

// The C callback that calls CustomOp::decompose.
inline tenon_error* decompose_custom(void* payload, tenon_scope* scope, const void*,
                                     tenon_tensor* const* inputs, size_t n_inputs,
                                     tenon_tensor** out_outputs, size_t n_outputs) {
  return no_throw([&] {
    const ScopeGuard in(scope);
    const CustomOp& op = custom_op(payload);
    set_outputs(op.decompose(share_all(inputs, n_inputs)), out_outputs, n_outputs, op.name,
                "outputs");
  });
}

// The C callback that calls CustomOp::backward.
inline tenon_error* backward_custom(void* payload, tenon_scope* scope, const void*,
                                    const tenon_backward_args* args, tenon_tensor** out_grads,
                                    size_t n_grads) {
  return no_throw([&] {
    const ScopeGuard in(scope);
    const CustomOp& op = custom_op(payload);
    set_outputs(op.backward(backward_of(*args)), out_grads, n_grads, op.name, "gradients");
  });
}

}  // namespace detail

// Registers an op with the context of the current scope. It cannot be removed.
inline Op register_op(CustomOp op, SourceLocation at = here()) {
  const size_t n_outputs = op.n_outputs;
  auto kept = std::make_unique<CustomOp>(std::move(op));
  tenon_custom_op c = {};
  c.struct_size = sizeof c;
  c.n_inputs = kept->n_inputs;
  c.n_outputs = kept->n_outputs;
  c.name = detail::c_text(kept->name);
  c.infer = kept->infer ? detail::infer_custom : nullptr;
  c.compute = kept->compute ? detail::compute_custom : nullptr;
  c.decompose = kept->decompose ? detail::decompose_custom : nullptr;
  c.backward = kept->backward ? detail::backward_custom : nullptr;
  c.payload = kept.release();
  c.destroy = [](void* payload) { delete static_cast<CustomOp*>(payload); };
  uint32_t number = 0;
  check(tenon_op_register(tenon_scope_context(current_scope(at)), &c, &number), at);
  return Op(number, n_outputs);
}

}  // namespace tenon
