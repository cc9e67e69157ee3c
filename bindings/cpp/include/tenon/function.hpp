// Functions: code that is traced once and runs as its traces.
//
//   const auto f = function([](const Tensor& x, const Tensor& w) { return relu(x * w); });
//   Tensor y = f(x, w);  // Traced at the first call that has tensors like these.
//
// What the code does beside calls of ops happens when it is traced. tenon/function.h says the rest.

#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <tenon/gradients.hpp>
#include <tenon/statics.hpp>
#include <tuple>

namespace tenon {

// ---- signatures

// The type of an input.
struct InputSpec {
  std::string name = {};
  DType dtype = kFloat32;
  std::vector<int64_t> shape = {};           // TENON_SIZE_UNKNOWN where calls differ.
  std::vector<std::string> size_names = {};  // Of unknown sizes; those with one name are equal.
  bool is_scalar = false;                    // An inline scalar.
};

struct FunctionOptions {
  std::string name = "function";
  std::optional<std::vector<InputSpec>> signature = {};  // What calls may give.
  Statics defaults = {};                                 // Static arguments that are left out.
  uint32_t max_outputs = 16;
  uint32_t max_traces = 64;
  bool relax = true;  // Whether a size that differs for the third time becomes unknown.
  // Bytes that a call under a tape keeps for its way back; the rest is computed again there.
  uint64_t memory_budget_bytes = UINT64_MAX;
};

namespace detail {

class CStatics {
 public:
  explicit CStatics(const Statics& statics) {
    for (const auto& [name, value] : statics) all_.push_back(value.c(name, kept_));
  }
  const tenon_static* data() const { return all_.data(); }
  size_t size() const { return all_.size(); }

 private:
  std::vector<std::vector<tenon_static>> kept_;
  std::vector<tenon_static> all_;
};

class CSpecs {
 public:
  explicit CSpecs(std::span<const InputSpec> specs) : names_(specs.size()) {
    for (size_t i = 0; i < specs.size(); ++i) {
      const InputSpec& spec = specs[i];
      tenon_input_spec c = {};
      c.name = c_text(spec.name);
      c.dtype = spec.dtype;
      c.rank = static_cast<uint32_t>(spec.shape.size());
      c.shape = spec.shape.data();
      c.is_scalar = spec.is_scalar;
      for (const std::string& name : spec.size_names) names_[i].push_back(c_text(name));
      if (!names_[i].empty()) {
        names_[i].resize(spec.shape.size(), c_text(""));
        c.size_names = names_[i].data();
      }
      all_.push_back(c);
    }
  }
  const tenon_input_spec* data() const { return all_.data(); }
  size_t size() const { return all_.size(); }

 private:
  std::vector<std::vector<tenon_string>> names_;
  std::vector<tenon_input_spec> all_;
};

}  // namespace detail

// ---- traces and functions

// One traced form of a function.
class Trace {
 public:
  static Trace adopt(tenon_trace* trace) { return Trace(Shared::adopt(trace)); }

  std::vector<Tensor> operator()(std::span<const Tensor> inputs) const {
    const auto c_inputs = detail::handles(inputs);
    std::vector<tenon_tensor*> outputs(n_outputs());
    check(tenon_trace_call(current_scope(), get(), c_inputs.data(), c_inputs.size(), outputs.data(),
                           outputs.size()));
    return detail::adopt_all(outputs);
  }

  size_t n_inputs() const { return tenon_trace_count_inputs(get()); }
  size_t n_outputs() const { return tenon_trace_count_outputs(get()); }
  std::vector<Variable> variables() const {
    std::vector<Variable> all;
    for (size_t i = 0; i < tenon_trace_count_variables(get()); ++i) {
      all.push_back(Variable::share(tenon_trace_variable(get(), i)));
    }
    return all;
  }
  // The ops whose calls have effects (effects.hpp), as they are written.
  std::vector<std::string> effects() const {
    std::vector<std::string> all;
    for (size_t i = 0; i < tenon_trace_count_effects(get()); ++i) {
      const tenon_string name = tenon_trace_effect(get(), i);
      all.emplace_back(name.data, name.size);
    }
    return all;
  }
  // Its inputs, calls and outputs.
  std::string text() const {
    tenon_string text = {};
    check(tenon_trace_text(get(), &text));
    return detail::take_text(text);
  }

  tenon_trace* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_trace, tenon_trace_retain, tenon_trace_release>;
  explicit Trace(Shared handle) : handle_(std::move(handle)) {}

  Shared handle_;
};

class Function {
 public:
  using Code = std::function<std::vector<Tensor>(std::span<const Tensor>, const Statics&)>;

  explicit Function(Code code, const FunctionOptions& options = {})
      : max_outputs_(options.max_outputs), handle_(detail::make<Shared>([&](tenon_function** out) {
          tenon_function_options c = TENON_FUNCTION_OPTIONS_DEFAULT;
          const detail::CStatics defaults(options.defaults);
          const std::vector<InputSpec> nothing;
          const detail::CSpecs signature(options.signature ? *options.signature : nothing);
          static const tenon_input_spec none = {};
          c.max_outputs = options.max_outputs;
          c.max_traces = options.max_traces;
          c.relax = options.relax;
          c.memory_budget_bytes = options.memory_budget_bytes;
          c.defaults = defaults.data();
          c.n_defaults = defaults.size();
          if (options.signature) c.signature = signature.size() ? signature.data() : &none;
          c.n_signature = signature.size();
          return tenon_function_create(tenon_scope_context(current_scope()),
                                       detail::c_text(options.name), body(std::move(code)), &c,
                                       out);
        })) {}

  // Takes over what the caller owns; it gives at most so many outputs.
  static Function adopt(tenon_function* function, uint32_t max_outputs) {
    return Function(max_outputs, Shared::adopt(function));
  }

  std::vector<Tensor> operator()(std::span<const Tensor> inputs,
                                 const Statics& statics = {}) const {
    const auto c_inputs = detail::handles(inputs);
    const detail::CStatics c_statics(statics);
    std::vector<tenon_tensor*> outputs(max_outputs_);
    size_t n = 0;
    check(tenon_function_call(current_scope(), get(), c_inputs.data(), c_inputs.size(),
                              c_statics.data(), c_statics.size(), outputs.data(), outputs.size(),
                              &n));
    outputs.resize(n);
    return detail::adopt_all(outputs);
  }

  // The trace that serves such a call, which does not run.
  Trace trace_for(std::span<const Tensor> inputs, const Statics& statics = {}) const {
    const auto c_inputs = detail::handles(inputs);
    const detail::CStatics c_statics(statics);
    tenon_trace* trace = nullptr;
    check(tenon_function_find_trace(current_scope(), get(), c_inputs.data(), c_inputs.size(),
                                    c_statics.data(), c_statics.size(), &trace));
    return Trace::adopt(trace);
  }
  // The one for inputs that are described.
  Trace trace(std::span<const InputSpec> specs, const Statics& statics = {}) const {
    const detail::CSpecs c_specs(specs);
    const detail::CStatics c_statics(statics);
    tenon_trace* trace = nullptr;
    check(tenon_function_trace(current_scope(), get(), c_specs.data(), c_specs.size(),
                               c_statics.data(), c_statics.size(), &trace));
    return Trace::adopt(trace);
  }
  // The function of the same inputs that gives the gradients of the sum of the floating outputs, by
  // each floating input that is no inline scalar.
  Function gradient() const {
    return Function(std::max<uint32_t>(max_outputs_, 64),
                    detail::make<Shared>(
                        [&](tenon_function** out) { return tenon_function_gradient(get(), out); }));
  }
  std::vector<Trace> traces() const {
    std::vector<Trace> all;
    for (size_t i = 0; i < tenon_function_count_traces(get()); ++i) {
      tenon_trace* trace = nullptr;
      check(tenon_function_get_trace(get(), i, &trace));
      all.push_back(Trace::adopt(trace));
    }
    return all;
  }
  // Its traces, and why each had to be made.
  std::string explain() const {
    tenon_string text = {};
    check(tenon_function_explain(get(), &text));
    return detail::take_text(text);
  }

  tenon_function* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_function, tenon_function_retain, tenon_function_release>;

  Function(uint32_t max_outputs, Shared handle)
      : max_outputs_(max_outputs), handle_(std::move(handle)) {}

  static tenon_function_body body(Code code) {
    tenon_function_body body = {};
    body.payload = new Code(std::move(code));
    body.destroy = [](void* payload) { delete static_cast<Code*>(payload); };
    body.function = [](void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                       size_t n_inputs, const tenon_static* statics, size_t n_statics,
                       tenon_tensor** out_outputs, size_t max_outputs) {
      return detail::no_throw([&] {
        const ScopeGuard in(scope);
        Statics given;
        for (size_t i = 0; i < n_statics; ++i) {
          given.emplace(detail::view(statics[i].name), Static(statics[i]));
        }
        const std::vector<Tensor> outputs =
            (*static_cast<const Code*>(payload))(detail::share_all(inputs, n_inputs), given);
        if (outputs.size() > max_outputs) {
          throw Error(tenon::Code::kInvalidArgument, "function: " + std::to_string(outputs.size()) +
                                                         " outputs, and its options say at most " +
                                                         std::to_string(max_outputs));
        }
        detail::hand_over(outputs, out_outputs, outputs.size(), "function", "outputs");
      });
    };
    return body;
  }

  uint32_t max_outputs_;
  Shared handle_;
};

namespace detail {

template <class F, size_t... I>
auto call_with_span(const F& f, [[maybe_unused]] std::span<const Tensor> in,
                    std::index_sequence<I...>) {
  return f(in[I]...);
}
template <class F, size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return std::is_invocable_v<const F&, decltype((void)I, std::declval<const Tensor&>())...>;
}

// The results of a lambda as a vector: a tensor, a range of tensors, a tuple of tensors, or
// nothing.
template <class T>
concept TensorTuple = requires {
  std::tuple_size<T>::value;
};

template <class Result>
std::vector<Tensor> as_tensors(Result&& result) {
  using R = std::remove_cvref_t<Result>;
  if constexpr (std::is_convertible_v<Result, Tensor>) {
    return {Tensor(std::forward<Result>(result))};
  } else if constexpr (std::is_same_v<R, std::vector<Tensor>>) {
    return std::forward<Result>(result);
  } else {
    static_assert(TensorTuple<R>,
                  "the code must return a tensor, a std::vector, std::array, std::pair or "
                  "std::tuple of tensors, or nothing");
    return std::apply([](const auto&... each) { return std::vector<Tensor>{Tensor(each)...}; },
                      std::forward<Result>(result));
  }
}

// Calls f with as many tensors as there are, if it takes so many.
template <size_t N = 0, class F>
std::vector<Tensor> call_by_count(const F& f, std::span<const Tensor> in) {
  constexpr size_t kMost = 16;
  if constexpr (takes<F>(std::make_index_sequence<N>())) {
    if (in.size() == N) {
      using Result = decltype(call_with_span(f, in, std::make_index_sequence<N>()));
      if constexpr (std::is_void_v<Result>) {
        call_with_span(f, in, std::make_index_sequence<N>());
        return {};
      } else {
        return as_tensors(call_with_span(f, in, std::make_index_sequence<N>()));
      }
    }
  }
  if constexpr (N < kMost) {
    return call_by_count<N + 1>(f, in);
  } else {
    throw Error(Code::kInvalidArgument,
                "function: it does not take " + std::to_string(in.size()) + " tensors");
  }
}

// The outputs of a function in the shape in which its lambda returns them.
template <class Result>
auto as_result(std::vector<Tensor> outputs) {
  if constexpr (std::is_void_v<Result>) {
    return outputs;
  } else if constexpr (std::is_convertible_v<Result, Tensor>) {
    return std::move(outputs.at(0));
  } else if constexpr (TensorTuple<std::remove_cvref_t<Result>>) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::remove_cvref_t<Result>{std::move(outputs.at(I))...};
    }
    (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<Result>>>());
  } else {
    return outputs;
  }
}

}  // namespace detail

// A Function that is called with tensors one by one, and returns what its lambda returns.
template <class F>
class TypedFunction : public Function {
 public:
  TypedFunction(F f, const FunctionOptions& options)
      : Function([f](std::span<const Tensor> in,
                     const Statics&) { return detail::call_by_count(f, in); },
                 options) {}

  using Function::operator();
  template <class... Args>
  requires(std::is_convertible_v<Args, Tensor>&&...) auto operator()(const Args&... args) const {
    static_assert(std::is_invocable_v<const F&, decltype((void)args, std::declval<Tensor>())...>,
                  "the lambda of this function takes another number of tensors");
    using Result = std::invoke_result_t<const F&, decltype((void)args, std::declval<Tensor>())...>;
    const std::vector<Tensor> in = {Tensor(args)...};
    return detail::as_result<Result>(Function::operator()(in));
  }
};

// A lambda of up to 16 tensors as a function. It may return a tensor, a vector, array, pair or
// tuple of tensors, or nothing, and so does the function; nothing becomes an empty vector. The
// result is a Function too: explain(), traces(), trace(), gradient().
template <class F>
TypedFunction<F> function(F f, const FunctionOptions& options = {}) {
  return TypedFunction<F>(std::move(f), options);
}

// Whether calls are written down: inside of a function's code.
inline bool is_tracing() { return tenon_scope_is_tracing(current_scope()); }

// Makes functions run as they are written, for debugging.
inline void run_functions_eagerly(bool eagerly) {
  tenon_context_run_functions_eagerly(tenon_scope_context(current_scope()), eagerly);
}

// The passes, in the order in which they run: what each is called, and what it does.
struct Pass {
  std::string_view name, summary;
};
inline std::vector<Pass> passes() {
  std::vector<Pass> all;
  for (size_t i = 0; i < tenon_count_passes(); ++i) {
    const tenon_string name = tenon_pass_name(i), summary = tenon_pass_summary(i);
    all.push_back({{name.data, name.size}, {summary.data, summary.size}});
  }
  return all;
}

// Turns a pass (tenon/passes.h) off or on, for code that has not run yet.
inline void set_pass(std::string_view name, bool enabled) {
  check(
      tenon_context_set_pass(tenon_scope_context(current_scope()), detail::c_text(name), enabled));
}

}  // namespace tenon
