// Functions: lambdas that are traced once and then run as graphs.
//
//   const auto f = function([](const Tensor& x, const Tensor& w) { return relu(x * w); });
//   Tensor y = f(x, w);  // The first call with these dtypes and shapes traces f.
//
// Side effects of the lambda, other than calls of ops, happen only while tracing. If the last
// parameter of the lambda is const Statics&, it receives the static arguments: f(x,
// Statics{{"rate", 2.0}}). See tenon/function.h for details.

#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <tenon/gradients.hpp>
#include <tenon/lambda.hpp>
#include <tenon/statics.hpp>
#include <tuple>

namespace tenon {

// ---- signatures

// The declared type of an input.
struct InputSpec {
  std::string name = {};
  DType dtype = kFloat32;
  std::vector<int64_t> shape = {};           // TENON_SIZE_UNKNOWN for dynamic sizes.
  std::vector<std::string> size_names = {};  // One per axis; sizes with equal names are equal.
  bool is_scalar = false;                    // Whether the input is an inline scalar.
};

// The inputs that calls may pass: {{.name = "x", .shape = {TENON_SIZE_UNKNOWN, 2}}}. Without a
// value, calls may pass any inputs.
class Signature : public std::optional<std::vector<InputSpec>> {
 public:
  using std::optional<std::vector<InputSpec>>::optional;
  Signature(std::initializer_list<InputSpec> inputs) : optional(std::vector<InputSpec>(inputs)) {}
};

struct FunctionOptions {
  std::string name = "function";
  Signature signature = std::nullopt;
  Statics defaults = {};  // Default values of omitted static arguments.
  uint32_t max_outputs = 16;
  uint32_t max_traces = 64;
  // Whether sizes become dynamic when a third trace is needed that differs in these sizes only.
  bool relax = true;
  // Maximum number of bytes of residuals that a call under a tape saves; the backward pass
  // rematerialises all further residuals.
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

// One traced graph of a function.
class Trace {
 public:
  // Takes ownership of the caller's reference.
  static Trace adopt(tenon_trace* trace) { return Trace(Shared::adopt(trace)); }

  std::vector<Tensor> operator()(std::span<const Tensor> inputs, SourceLocation at = here()) const {
    const auto c_inputs = detail::handles(inputs);
    std::vector<tenon_tensor*> outputs(n_outputs());
    check(tenon_trace_call(current_scope(at), get(), c_inputs.data(), c_inputs.size(),
                           outputs.data(), outputs.size()),
          at);
    return detail::adopt_all(outputs);
  }

  size_t n_inputs() const { return tenon_trace_count_inputs(get()); }
  size_t n_outputs() const { return tenon_trace_count_outputs(get()); }
  // Returns the variables that the trace reads or assigns, in order of first use.
  std::vector<Variable> variables() const {
    std::vector<Variable> all;
    for (size_t i = 0; i < tenon_trace_count_variables(get()); ++i) {
      all.push_back(Variable::share(tenon_trace_variable(get(), i)));
    }
    return all;
  }
  // Returns the names of the trace's ops with effects (effects.hpp), in program order.
  std::vector<std::string> effects() const {
    std::vector<std::string> all;
    for (size_t i = 0; i < tenon_trace_count_effects(get()); ++i) {
      const tenon_string name = tenon_trace_effect(get(), i);
      all.emplace_back(name.data, name.size);
    }
    return all;
  }
  // Returns the trace as text: its inputs, calls and outputs.
  std::string text(SourceLocation at = here()) const {
    tenon_string text = {};
    check(tenon_trace_text(get(), &text), at);
    return detail::take_text(text);
  }
  // Describes what executions have compiled so far: the optimised graph, its segments and launch
  // plans.
  std::string stages(SourceLocation at = here()) const {
    tenon_string text = {};
    check(tenon_trace_stages(get(), &text), at);
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

  explicit Function(Code code, const FunctionOptions& options = {}, SourceLocation at = here())
      : max_outputs_(options.max_outputs),
        handle_(detail::make<Shared>(at, [&](tenon_function** out) {
          tenon_function_options c = TENON_FUNCTION_OPTIONS_DEFAULT;
          // The C ABI does not keep the objects of static arguments alive, so the body owns the
          // defaults.
          auto body = std::make_unique<Body>(Body{std::move(code), options.defaults});
          const detail::CStatics defaults(body->defaults);
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
          return tenon_function_create(tenon_scope_context(current_scope(at)),
                                       detail::c_text(options.name), c_body(std::move(body)), &c,
                                       out);
        })) {}

  // Takes ownership of the caller's reference. `max_outputs` bounds the number of outputs of a
  // call.
  static Function adopt(tenon_function* function, uint32_t max_outputs) {
    return Function(max_outputs, Shared::adopt(function));
  }
  // Adds a reference to an object that the caller keeps. `max_outputs` bounds the number of outputs
  // of a call.
  static Function share(tenon_function* function, uint32_t max_outputs = 64) {
    return Function(max_outputs, Shared::share(function));
  }

  std::vector<Tensor> operator()(std::span<const Tensor> inputs, const Statics& statics = {},
                                 SourceLocation at = here()) const {
    return call(detail::handles(inputs), &statics, at);
  }

  // Calls the function with individual tensors, optionally followed by static arguments:
  // f(x, w, Statics{{"rate", 2.0}}).
  template <class... Rest>
  requires(detail::IsArgument<Rest>&&...) std::vector<Tensor>
  operator()(const Input& first, const Rest&... rest) const {
    const detail::Arguments given(first, rest...);
    return call(given.tensors(), given.statics(), first.at());
  }

  // Returns the trace that a call with these arguments would use. Does not run it.
  Trace trace_for(std::span<const Tensor> inputs, const Statics& statics = {},
                  SourceLocation at = here()) const {
    const auto c_inputs = detail::handles(inputs);
    const detail::CStatics c_statics(statics);
    tenon_trace* trace = nullptr;
    check(tenon_function_find_trace(current_scope(at), get(), c_inputs.data(), c_inputs.size(),
                                    c_statics.data(), c_statics.size(), &trace),
          at);
    return Trace::adopt(trace);
  }
  // Returns the trace for inputs of these types. Traces if there is none.
  Trace trace(std::span<const InputSpec> specs, const Statics& statics = {},
              SourceLocation at = here()) const {
    const detail::CSpecs c_specs(specs);
    const detail::CStatics c_statics(statics);
    tenon_trace* trace = nullptr;
    check(tenon_function_trace(current_scope(at), get(), c_specs.data(), c_specs.size(),
                               c_statics.data(), c_statics.size(), &trace),
          at);
    return Trace::adopt(trace);
  }
  Trace trace(std::initializer_list<InputSpec> specs, const Statics& statics = {},
              SourceLocation at = here()) const {
    return trace(std::span(specs.begin(), specs.size()), statics, at);
  }
  // Returns a function with the same inputs that computes the gradients of the sum of the floating
  // outputs with respect to each floating input that is not an inline scalar.
  Function gradient(SourceLocation at = here()) const {
    return Function(std::max<uint32_t>(max_outputs_, 64),
                    detail::make<Shared>(at, [&](tenon_function** out) {
                      return tenon_function_gradient(get(), out);
                    }));
  }
  // Returns all traces, in creation order.
  std::vector<Trace> traces(SourceLocation at = here()) const {
    std::vector<Trace> all;
    for (size_t i = 0; i < tenon_function_count_traces(get()); ++i) {
      tenon_trace* trace = nullptr;
      check(tenon_function_get_trace(get(), i, &trace), at);
      all.push_back(Trace::adopt(trace));
    }
    return all;
  }
  // Returns a text that lists the traces and why each was created.
  std::string explain(SourceLocation at = here()) const {
    tenon_string text = {};
    check(tenon_function_explain(get(), &text), at);
    return detail::take_text(text);
  }

  tenon_function* get() const { return handle_.get(); }

 protected:
  // Calls the function with tensor handles, and with static arguments unless `statics` is NULL.
  std::vector<Tensor> call(std::span<tenon_tensor* const> inputs, const Statics* statics,
                           SourceLocation at) const {
    std::vector<tenon_tensor*> outputs(max_outputs_);
    size_t n = 0;
    call_into(inputs, statics, outputs, &n, at);
    outputs.resize(n);
    return detail::adopt_all(outputs);
  }
  // Calls the function and writes its outputs to `outputs`. Sets `count` to their number; if
  // `count` is NULL, the number must equal outputs.size().
  void call_into(std::span<tenon_tensor* const> inputs, const Statics* statics,
                 std::span<tenon_tensor*> outputs, size_t* count, SourceLocation at) const {
    const auto call = [&](const tenon_static* c_statics, size_t n_statics) {
      check(tenon_function_call(current_scope(at), get(), inputs.data(), inputs.size(), c_statics,
                                n_statics, outputs.data(), outputs.size(), count),
            at);
    };
    if (!statics) return call(nullptr, 0);
    const detail::CStatics c_statics(*statics);
    call(c_statics.data(), c_statics.size());
  }

 private:
  using Shared = Handle<tenon_function, tenon_function_retain, tenon_function_release>;
  struct Body {
    Code code;
    Statics defaults;
  };

  Function(uint32_t max_outputs, Shared handle)
      : max_outputs_(max_outputs), handle_(std::move(handle)) {}

  // Returns a C body that owns `body` and runs its code.
  static tenon_function_body c_body(std::unique_ptr<Body> body) {
    tenon_function_body c = {};
    c.payload = body.release();
    c.destroy = [](void* payload) { delete static_cast<Body*>(payload); };
    c.function = [](void* payload, tenon_scope* scope, tenon_tensor* const* inputs, size_t n_inputs,
                    const tenon_static* statics, size_t n_statics, tenon_tensor** out_outputs,
                    size_t max_outputs) {
      return detail::no_throw([&] {
        const ScopeGuard in(scope);
        Statics given;
        for (size_t i = 0; i < n_statics; ++i) {
          given.emplace(detail::view(statics[i].name), Static(statics[i]));
        }
        const std::vector<Tensor> outputs =
            static_cast<const Body*>(payload)->code(detail::share_all(inputs, n_inputs), given);
        if (outputs.size() > max_outputs) {
          throw Error(tenon::Code::kInvalidArgument,
                      "function: the lambda returned " + std::to_string(outputs.size()) +
                          " outputs, but FunctionOptions::max_outputs is " +
                          std::to_string(max_outputs),
                      {});
        }
        detail::set_outputs(outputs, out_outputs, outputs.size(), "function", "outputs");
      });
    };
    return c;
  }

  uint32_t max_outputs_;
  Shared handle_;
};

// ---- lambdas as functions

// A Function that takes individual tensors, optionally followed by static arguments, and returns
// the type that its lambda returns.
template <class F>
class TypedFunction : public Function {
 public:
  TypedFunction(F f, const FunctionOptions& options, SourceLocation at)
      : Function([f](std::span<const Tensor> in,
                     const Statics& statics) { return detail::call_with_tensors(f, in, statics); },
                 options, at) {}

  template <class... Rest>
  requires(detail::IsArgument<Rest>&&...) auto operator()(const Input& first,
                                                          const Rest&... rest) const {
    constexpr size_t kCount = 1 + (0 + ... + !std::is_same_v<Rest, Statics>);
    const detail::Arguments given(first, rest...);
    return call<kCount>(given.tensors(), given.statics(), first.at());
  }
  // Calls a function without inputs.
  auto operator()(SourceLocation at = here()) const { return call<0>({}, nullptr, at); }
  std::vector<Tensor> operator()(std::span<const Tensor> inputs, const Statics& statics = {},
                                 SourceLocation at = here()) const {
    return Function::operator()(inputs, statics, at);
  }

 private:
  // Calls the function with N tensors. Converts the outputs to the type that the lambda returns.
  template <size_t N>
  auto call(std::span<tenon_tensor* const> in, const Statics* statics, SourceLocation at) const {
    static_assert(
        detail::takes<F, N>,
        "function: the number of tensors differs from the number of parameters of the lambda");
    using Result = detail::ResultOf<F, N>;
    constexpr size_t kOutputs = detail::count_outputs<std::remove_cvref_t<Result>>();
    if constexpr (kOutputs == 0) {
      return detail::as_result<Result>(Function::call(in, statics, at));
    } else {
      std::array<tenon_tensor*, kOutputs> handles = {};
      call_into(in, statics, handles, nullptr, at);
      std::array<Tensor, kOutputs> outputs;
      for (size_t i = 0; i < kOutputs; ++i) outputs[i] = Tensor::adopt(handles[i]);
      return detail::as_result<Result>(std::move(outputs));
    }
  }
};

// Creates a function from a lambda of up to 16 tensors, followed by const Statics& if it takes
// static arguments. The lambda may return a tensor, a vector, array, pair or tuple of tensors, or
// nothing. Calls return the same type, or an empty vector for nothing. The result has the methods
// of Function: explain(), traces(), trace() and gradient().
template <class F>
TypedFunction<F> function(F f, const FunctionOptions& options = {}, SourceLocation at = here()) {
  return TypedFunction<F>(std::move(f), options, at);
}

// Returns whether the current scope records calls into a trace, as inside a function's lambda.
inline bool is_tracing() { return tenon_scope_is_tracing(current_scope()); }

// Sets whether functions run their lambda eagerly in each call, for debugging.
inline void run_functions_eagerly(bool eagerly) {
  tenon_context_run_functions_eagerly(tenon_scope_context(current_scope()), eagerly);
}

// The name of a graph pass and a description. passes() lists the passes in execution order.
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

// Enables or disables a pass (tenon/passes.h) for graphs that have not run yet.
inline void set_pass(std::string_view name, bool enabled, SourceLocation at = here()) {
  check(
      tenon_context_set_pass(tenon_scope_context(current_scope(at)), detail::c_text(name), enabled),
      at);
}

}  // namespace tenon
