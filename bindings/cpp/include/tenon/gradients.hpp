// Gradients of lambdas, and custom gradients.
//
//   auto square = [](const Tensor& x) { return x * x; };
//   auto grad = gradients_function(square);                                    // grad(3.f)[0] is 6
//   auto gradgrad = gradients_function([&](const Tensor& x) { return grad(x)[0]; });
//
// An exception that a lambda throws propagates to the outer caller.

#pragma once

#include <tenon/operators.hpp>
#include <tenon/tape.hpp>

namespace tenon {

namespace detail {

// Calls f with the tensors of a C array.
template <class F, size_t... I>
Tensor call_with(const F& f, tenon_tensor* const* inputs, std::index_sequence<I...>) {
  return f(Tensor::share(inputs[I])...);
}

// Wraps a lambda that takes N tensors and returns one, for the C ABI. `f` must outlive the call.
template <size_t N, class F>
tenon_tensor_function tensor_function(const F& f) {
  tenon_tensor_function function = {};
  function.payload = const_cast<F*>(&f);
  function.function = [](void* payload, tenon_scope* scope, tenon_tensor* const* inputs, size_t,
                         tenon_tensor** out_outputs, size_t) {
    return no_throw([&] {
      const ScopeGuard in(scope);
      const Tensor output =
          call_with(*static_cast<const F*>(payload), inputs, std::make_index_sequence<N>());
      tenon_tensor_retain(output.get());
      out_outputs[0] = output.get();
    });
  };
  return function;
}

}  // namespace detail

struct VariableGradient {
  Variable variable;
  Tensor gradient;
};

// Results of gradients(): the value and the derivatives.
struct Gradients {
  Tensor value;                     // The output of the function.
  std::vector<Tensor> by_argument;  // An empty handle for an argument that is not floating.
  std::vector<VariableGradient> by_variable;  // For each trainable variable that the function read.
};

namespace detail {

// Calls f with the N tensors of `given`, and differentiates it.
template <size_t N, class F>
Gradients gradients(const F& f, std::span<const Tensor> given, SourceLocation at) {
  tenon_tensor* inputs[N + 1] = {};
  for (size_t i = 0; i < N; ++i) inputs[i] = given[i].get();
  tenon_tensor* value = nullptr;
  tenon_tensor* grads[N + 1] = {};
  tenon_variable_gradients* variables = nullptr;
  check(tenon_gradients(current_scope(at), tensor_function<N>(f), inputs, N, nullptr, &value, 1,
                        grads, &variables),
        at);

  Gradients result;
  result.value = Tensor::adopt(value);
  result.by_argument = adopt_all({grads, N});
  for (size_t i = 0; i < tenon_variable_gradients_count(variables); ++i) {
    result.by_variable.push_back({Variable::share(tenon_variable_gradients_variable(variables, i)),
                                  Tensor::share(tenon_variable_gradients_gradient(variables, i))});
  }
  tenon_variable_gradients_release(variables);
  return result;
}

}  // namespace detail

// Calls f with the arguments and differentiates its output with respect to them and to every
// variable that it reads. May be called inside f and while tapes record.
template <class F, class... Rest>
Gradients gradients(F f, const Input& first, const Rest&... rest) {
  const Tensor given[] = {first.tensor(), Tensor(rest)...};
  return detail::gradients<1 + sizeof...(Rest)>(f, given, first.at());
}
template <class F>
Gradients gradients(F f, SourceLocation at = here()) {
  return detail::gradients<0>(f, {}, at);
}

namespace detail {

// Calls gradients(f, ...) and returns one member of the result.
template <class F, class Part>
struct GradientsOf {
  template <class... Rest>
  auto operator()(const Input& first, const Rest&... rest) const {
    return tenon::gradients(f, first, rest...).*part;
  }
  auto operator()(SourceLocation at = here()) const { return tenon::gradients(f, at).*part; }

  F f;
  Part Gradients::*part;
};

}  // namespace detail

// Returns a function that computes the gradients of f with respect to its arguments.
template <class F>
auto gradients_function(F f) {
  return detail::GradientsOf<F, std::vector<Tensor>>{std::move(f), &Gradients::by_argument};
}

// Returns a function of f's arguments that computes the gradients of f with respect to the
// variables that it reads.
template <class F>
auto implicit_gradients(F f) {
  return detail::GradientsOf<F, std::vector<VariableGradient>>{std::move(f),
                                                               &Gradients::by_variable};
}

// The arguments of a `backward` lambda.
struct Backward {
  std::vector<Tensor> inputs;      // Inputs of the forward call.
  std::vector<Tensor> outputs;     // Outputs of the forward call.
  std::vector<Tensor> cotangents;  // One for each output.
};

namespace detail {

// Returns new handles of the tensors of a C array, which keeps its references.
inline std::vector<Tensor> share_all(tenon_tensor* const* tensors, size_t count) {
  std::vector<Tensor> result;
  for (size_t i = 0; i < count; ++i) result.push_back(Tensor::share(tensors[i]));
  return result;
}

// Converts the arguments of a derivative from C.
inline Backward backward_of(const tenon_backward_args& args) {
  return {share_all(args.inputs, args.n_inputs), share_all(args.outputs, args.n_outputs),
          share_all(args.cotangents, args.n_outputs)};
}

// Stores the tensors that a lambda returned in the C array `out`, and adds a reference to each.
// Throws "`who` returned 2 `what` instead of 1" unless there are exactly `count`.
inline void set_outputs(const std::vector<Tensor>& made, tenon_tensor** out, size_t count,
                        const std::string& who, const std::string& what) {
  if (made.size() != count) {
    throw Error(Code::kInvalidArgument,
                who + " returned " + std::to_string(made.size()) + " " + what + " instead of " +
                    std::to_string(count),
                {});
  }
  for (size_t i = 0; i < count; ++i) {
    tenon_tensor_retain(made[i].get());
    out[i] = made[i].get();
  }
}

// Wraps a `backward` lambda for the C ABI. The C function owns a copy of f.
template <class F>
tenon_backward_function backward_function(const F& f) {
  tenon_backward_function function = {};
  function.payload = new F(f);
  function.destroy = [](void* payload) { delete static_cast<F*>(payload); };
  function.function = [](void* payload, tenon_scope* scope, const tenon_backward_args* args,
                         tenon_tensor** out_grads, size_t n_grads) {
    return no_throw([&] {
      const ScopeGuard in(scope);
      set_outputs((*static_cast<const F*>(payload))(backward_of(*args)), out_grads, n_grads,
                  "custom_gradient", "gradients");
    });
  };
  return function;
}

}  // namespace detail

// Returns a function that computes `forward` and takes its gradients from `backward`. `backward`
// returns a vector with one tensor for each argument. Tapes do not record the calls of `forward`.
template <class F, class B>
auto custom_gradient(F forward, B backward) {
  return [forward, backward](const Input& first, const auto&... rest) {
    constexpr size_t kCount = 1 + sizeof...(rest);
    const Tensor given[kCount] = {first.tensor(), Tensor(rest)...};
    tenon_tensor* inputs[kCount] = {};
    for (size_t i = 0; i < kCount; ++i) inputs[i] = given[i].get();
    tenon_tensor* value = nullptr;
    check(tenon_custom_gradient(current_scope(first.at()), detail::tensor_function<kCount>(forward),
                                inputs, kCount, detail::backward_function(backward), &value, 1),
          first.at());
    return Tensor::adopt(value);
  };
}

}  // namespace tenon
