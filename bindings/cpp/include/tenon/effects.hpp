// Side effects: printing, assertions and host calls. Inside a function they become part of its
// trace.
//
//   print("x is {}", x);                                    // Prints at each call, not in tracing.
//   assert_that(less(loss, 10.f), "the loss is {}", loss);
//   Tensor y = host_call(x, [](const Tensor& x) { return x.item<float>() > 0 ? x : -x; }, x);
//
// See tenon/effects.h for details.

#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <tenon/function.hpp>

namespace tenon {

// A format string with the source location of the call.
class Format {
 public:
  template <class T>
  requires std::is_convertible_v<const T&, std::string_view> Format(const T& text,
                                                                    SourceLocation at = here())
      : text_(text), at_(at) {}

  std::string_view text() const { return text_; }
  SourceLocation at() const { return at_; }

 private:
  std::string_view text_;
  SourceLocation at_;
};

// Prints a line. Each {} in the format is replaced by the next value. An empty format prints the
// values only.
inline void print(const Format& format, std::span<const Tensor> values,
                  const tenon_format_options& options = TENON_FORMAT_OPTIONS_DEFAULT) {
  const auto c_values = detail::handles(values);
  check(tenon_print(current_scope(format.at()), detail::c_text(format.text()), c_values.data(),
                    c_values.size(), &options),
        format.at());
}
template <class... Values>
requires(std::is_convertible_v<Values, Tensor>&&...) void print(const Format& format,
                                                                const Values&... values) {
  const std::vector<Tensor> all = {Tensor(values)...};
  print(format, std::span<const Tensor>(all));
}

// Sets the callback that receives the printed text of the current scope's context. An empty
// function restores printing to stdout.
inline void set_print(std::function<void(std::string_view)> receive, SourceLocation at = here()) {
  using Receive = std::function<void(std::string_view)>;
  tenon_print_callback callback = {};
  if (receive) {
    callback.payload = new Receive(std::move(receive));
    callback.destroy = [](void* payload) { delete static_cast<Receive*>(payload); };
    callback.function = [](void* payload, tenon_string text) {
      (*static_cast<Receive*>(payload))({text.data, text.size});
    };
  }
  check(tenon_context_set_print(tenon_scope_context(current_scope(at)), callback), at);
}

// Throws FAILED_PRECONDITION with the formatted message unless all elements of the bool tensor are
// true. Not named assert() because <cassert> defines a macro of that name.
template <class... Values>
requires(std::is_convertible_v<Values, Tensor>&&...) void assert_that(const Input& condition,
                                                                      std::string_view message,
                                                                      const Values&... values) {
  const std::vector<Tensor> all = {Tensor(values)...};
  const auto c_values = detail::handles(all);
  check(tenon_assert(current_scope(condition.at()), condition.get(), detail::c_text(message),
                     c_values.data(), c_values.size()),
        condition.at());
}

// A callback for host_call(), which runs it on the host, eagerly even inside functions. It returns
// tensors with the types of `like`.
using HostCode = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
// Calls `code` on the host, eagerly even inside functions. `like` determines the output types.
inline std::vector<Tensor> host_call(HostCode code, std::span<const Tensor> inputs,
                                     std::span<const Tensor> like, SourceLocation at = here()) {
  tenon_tensor_function function = {};
  function.payload = new HostCode(std::move(code));
  function.destroy = [](void* payload) { delete static_cast<HostCode*>(payload); };
  function.function = [](void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                         size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
    return detail::no_throw([&] {
      const ScopeGuard in(scope);
      detail::set_outputs(
          (*static_cast<const HostCode*>(payload))(detail::share_all(inputs, n_inputs)),
          out_outputs, n_outputs, "host_call", "tensors");
    });
  };
  const auto c_inputs = detail::handles(inputs), c_like = detail::handles(like);
  std::vector<tenon_tensor*> outputs(like.size());
  check(tenon_host_call(current_scope(at), function, c_inputs.data(), c_inputs.size(),
                        c_like.data(), outputs.data(), outputs.size()),
        at);
  return detail::adopt_all(outputs);
}

// host_call() for a lambda of tensors that returns one tensor with the type of `like`.
template <class Code, class... Inputs>
requires(std::is_convertible_v<Inputs, Tensor>&&...) Tensor
    host_call(const Input& like, const Code& code, const Inputs&... inputs) {
  const std::vector<Tensor> given = {Tensor(inputs)...};
  const HostCode run = [code](std::span<const Tensor> in) {
    return detail::call_with_tensors(code, in, {});
  };
  const Tensor types[] = {like.tensor()};
  return host_call(run, given, types, like.at())[0];
}

}  // namespace tenon
