// Calls lambdas of tensors with a list of tensors, and converts their results.

#pragma once

#include <array>
#include <tenon/gradients.hpp>
#include <tenon/statics.hpp>
#include <tuple>

namespace tenon {
namespace detail {

// ---- calls

// Calls f with the elements of `in` as separate arguments.
template <class F, size_t... I>
auto call_with_span(const F& f, [[maybe_unused]] std::span<const Tensor> in,
                    std::index_sequence<I...>) {
  return f(in[I]...);
}

// Returns whether F can be called with one tensor for each index in I.
template <class F, size_t... I>
constexpr bool takes_tensors(std::index_sequence<I...>) {
  return std::is_invocable_v<const F&, decltype((void)I, std::declval<const Tensor&>())...>;
}
// Returns whether F can be called with one tensor for each index in I and static arguments.
template <class F, size_t... I>
constexpr bool takes_statics(std::index_sequence<I...>) {
  return std::is_invocable_v<const F&, decltype((void)I, std::declval<const Tensor&>())...,
                             const Statics&>;
}
// Whether F can be called with N tensors, or with N tensors and static arguments.
template <class F, size_t N>
inline constexpr bool takes = takes_tensors<F>(std::make_index_sequence<N>()) ||
                              takes_statics<F>(std::make_index_sequence<N>());

// Calls f with the elements of `in`, followed by `statics` unless f takes tensors only.
template <class F, size_t... I>
auto call_with_statics(const F& f, [[maybe_unused]] std::span<const Tensor> in,
                       const Statics& statics, std::index_sequence<I...> all) {
  if constexpr (takes_tensors<F>(all)) {
    return f(in[I]...);
  } else {
    return f(in[I]..., statics);
  }
}

template <class F, size_t N>
using ResultOf = decltype(call_with_statics(
    std::declval<const F&>(), {}, std::declval<const Statics&>(), std::make_index_sequence<N>()));

// ---- results: a lambda returns a tensor, a vector, array, pair or tuple of tensors, or nothing

template <class T>
concept TensorTuple = requires {
  std::tuple_size<T>::value;
};

// Converts the result of a lambda to a vector of tensors.
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

// The type that callers receive for a lambda's result of type T: T itself for Tensor, TensorList
// and Variable; Tensor for a number.
template <class T>
using ResultOfReturn = std::conditional_t<std::is_convertible_v<Tensor, T>, T, Tensor>;

template <class T>
struct ResultTuple;
template <class T, size_t N>
struct ResultTuple<std::array<T, N>> {
  using Type = std::array<ResultOfReturn<T>, N>;
};
template <class A, class B>
struct ResultTuple<std::pair<A, B>> {
  using Type = std::pair<ResultOfReturn<A>, ResultOfReturn<B>>;
};
template <class... T>
struct ResultTuple<std::tuple<T...>> {
  using Type = std::tuple<ResultOfReturn<T>...>;
};

// The number of tensors in a result of this type, or 0 if the type does not determine it.
template <class R>
constexpr size_t count_outputs() {
  if constexpr (std::is_convertible_v<R, Tensor>) {
    return 1;
  } else if constexpr (TensorTuple<R>) {
    return std::tuple_size_v<R>;
  } else {
    return 0;
  }
}

// Converts the outputs of a call (a vector or an array) to the result type of the lambda. For a
// lambda that returns nothing, returns the vector.
template <class Result, class Outputs>
auto as_result(Outputs outputs) {
  using R = std::remove_cvref_t<Result>;
  if constexpr (std::is_void_v<R> || std::is_same_v<R, std::vector<Tensor>>) {
    return outputs;
  } else if constexpr (std::is_convertible_v<R, Tensor>) {
    return ResultOfReturn<R>(std::move(outputs.at(0)));
  } else {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return typename ResultTuple<R>::Type{std::move(outputs.at(I))...};
    }
    (std::make_index_sequence<std::tuple_size_v<R>>());
  }
}

// Calls f with all tensors of `in`. Throws if f takes a different number of tensors.
template <size_t N = 0, class F>
std::vector<Tensor> call_with_tensors(const F& f, std::span<const Tensor> in,
                                      const Statics& statics) {
  constexpr size_t kMaxTensors = 16;
  if constexpr (takes<F, N>) {
    if (in.size() == N) {
      constexpr auto kAll = std::make_index_sequence<N>();
      if constexpr (std::is_void_v<ResultOf<F, N>>) {
        call_with_statics(f, in, statics, kAll);
        return {};
      } else {
        return as_tensors(call_with_statics(f, in, statics, kAll));
      }
    }
  }
  if constexpr (N < kMaxTensors) {
    return call_with_tensors<N + 1>(f, in, statics);
  } else {
    throw Error(Code::kInvalidArgument,
                "function: the lambda does not take " + std::to_string(in.size()) + " tensors", {});
  }
}

// ---- arguments

template <class T>
concept IsArgument = std::is_convertible_v<const T&, Tensor> || std::is_same_v<T, Statics>;

// The arguments of a call: at most N tensors, optionally followed by static arguments. Borrows the
// caller's tensors; owns those that it creates from variables and numbers.
template <size_t N>
class Arguments {
 public:
  template <class... Rest>
  explicit Arguments(const Input& first, const Rest&... rest) {
    add_handle(first.get());
    (add(rest), ...);
  }

  std::span<tenon_tensor* const> tensors() const { return {handles_.data(), count_}; }
  const Statics* statics() const { return statics_; }  // NULL if there are none.

 private:
  // Appends a tensor that the caller keeps alive.
  void add_handle(tenon_tensor* x) { handles_[count_++] = x; }
  // Appends a tensor, variable or number, or stores the static arguments.
  template <class T>
  void add(const T& x) {
    if constexpr (std::is_same_v<T, Statics>) {
      statics_ = &x;
    } else if constexpr (std::is_base_of_v<Tensor, T>) {
      add_handle(x.get());
    } else {
      add_handle((made_[count_] = Tensor(x)).get());
    }
  }

  std::array<tenon_tensor*, N> handles_;
  std::array<Tensor, N> made_;
  size_t count_ = 0;
  const Statics* statics_ = nullptr;
};
template <class... Rest>
Arguments(const Input&, const Rest&...) -> Arguments<1 + sizeof...(Rest)>;

}  // namespace detail
}  // namespace tenon
