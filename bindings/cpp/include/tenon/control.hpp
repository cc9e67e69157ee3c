// Branches and loops that depend on tensor values, eagerly and inside functions.
//
//   Tensor y = cond(greater(x, 0.f), [&] { return x * x; }, [&] { return -x; });
//   auto [i, z] = while_loop([&](Tensor i, Tensor z) { return less(i, n); },
//                            [&](Tensor i, Tensor z) { return std::tuple(i + 1, z * x); }, 0, x);
//
// See tenon/control.h for details.

#pragma once

#include <array>
#include <tenon/function.hpp>

namespace tenon {

// A branch, or the condition or body of a loop.
using Block = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

namespace detail {

// Returns a C block that calls `block`. `block` must outlive the C call that takes the result.
inline tenon_block c_block(const Block& block) {
  tenon_block c = {};
  c.payload = const_cast<Block*>(&block);
  c.function = [](void* payload, tenon_scope* scope, tenon_tensor* const* inputs, size_t n_inputs,
                  tenon_tensor** out_outputs, size_t max_outputs) {
    return no_throw([&] {
      const ScopeGuard in(scope);
      const std::vector<Tensor> outputs =
          (*static_cast<const Block*>(payload))(share_all(inputs, n_inputs));
      if (outputs.size() > max_outputs) {
        throw Error(Code::kInvalidArgument,
                    "a block returned " + std::to_string(outputs.size()) +
                        " tensors, but at most " + std::to_string(max_outputs) + " are allowed",
                    {});
      }
      set_outputs(outputs, out_outputs, outputs.size(), "a block", "outputs");
    });
  };
  return c;
}

inline constexpr size_t kMaxOutputs = 64;

}  // namespace detail

// Runs `then` if `predicate` is true, or else `otherwise`. Blocks receive no inputs. Returns the
// outputs of the block that ran.
inline std::vector<Tensor> cond(const Input& predicate, const Block& then, const Block& otherwise) {
  std::vector<tenon_tensor*> outputs(detail::kMaxOutputs);
  size_t n = 0;
  check(tenon_cond(current_scope(predicate.at()), predicate.get(), detail::c_block(then),
                   detail::c_block(otherwise), outputs.data(), outputs.size(), &n),
        predicate.at());
  outputs.resize(n);
  return detail::adopt_all(outputs);
}

// cond() for lambdas without parameters. They return a tensor, a vector, array or tuple of tensors,
// or nothing, and cond() returns the type that `then` returns.
template <class Then, class Else>
requires std::is_invocable_v<const Then&> && std::is_invocable_v<const Else&>
auto cond(const Input& predicate, const Then& then, const Else& otherwise) {
  const auto block = [](const auto& code) {
    return Block(
        [&code](std::span<const Tensor>) { return detail::call_with_tensors(code, {}, {}); });
  };
  using Result = std::invoke_result_t<const Then&>;
  std::vector<Tensor> outputs = cond(predicate, block(then), block(otherwise));
  if constexpr (!std::is_void_v<Result>) return detail::as_result<Result>(std::move(outputs));
}

// Runs the block at `index` and returns its outputs. An index out of range selects the last block.
inline std::vector<Tensor> switch_case(const Input& index, std::span<const Block> blocks) {
  std::vector<tenon_block> c_blocks;
  for (const Block& block : blocks) c_blocks.push_back(detail::c_block(block));
  std::vector<tenon_tensor*> outputs(detail::kMaxOutputs);
  size_t n = 0;
  check(tenon_case(current_scope(index.at()), index.get(), c_blocks.data(), c_blocks.size(),
                   outputs.data(), outputs.size(), &n),
        index.at());
  outputs.resize(n);
  return detail::adopt_all(outputs);
}

// How a loop inside a function stores residuals for its gradient; see TENON_LOOP_*.
enum class LoopPolicy : int32_t {
  stack = TENON_LOOP_STACK,
  recompute = TENON_LOOP_RECOMPUTE,
  bounded = TENON_LOOP_BOUNDED
};

struct WhileOptions {
  LoopPolicy policy = LoopPolicy::stack;
  int64_t max_trips = 0;  // Maximum number of iterations. 0: no limit; invalid for `bounded`.
};

// Runs `body` while `condition` is true, and returns the final carried values. Both blocks take the
// carried values; the body returns the next ones.
inline std::vector<Tensor> while_loop(const Block& condition, const Block& body,
                                      std::span<const Tensor> initial, WhileOptions how = {},
                                      SourceLocation at = here()) {
  tenon_while_options options = TENON_WHILE_OPTIONS_DEFAULT;
  options.policy = static_cast<int32_t>(how.policy);
  options.max_trips = how.max_trips;
  const auto c_initial = detail::handles(initial);
  std::vector<tenon_tensor*> values(initial.size());
  check(tenon_while_loop(current_scope(at), detail::c_block(condition), detail::c_block(body),
                         c_initial.data(), c_initial.size(), &options, values.data()),
        at);
  return detail::adopt_all(values);
}

// while_loop() for lambdas with one tensor parameter for each initial value. The body returns a
// tensor, or an array, pair or tuple of tensors, and the loop returns the same type. If the body
// returns a vector, the loop returns an array.
template <class Condition, class Body, class... Rest>
requires(std::is_convertible_v<Rest, Tensor>&&...) auto while_loop(WhileOptions how,
                                                                   const Condition& condition,
                                                                   const Body& body,
                                                                   const Input& first,
                                                                   const Rest&... rest) {
  constexpr size_t kCount = 1 + sizeof...(Rest);
  constexpr auto kAll = std::make_index_sequence<kCount>();
  using Result = decltype(detail::call_with_span(body, {}, kAll));
  const Tensor initial[] = {first.tensor(), Tensor(rest)...};
  std::vector<Tensor> found = while_loop(
      [&](std::span<const Tensor> in) {
        return detail::as_tensors(detail::call_with_span(condition, in, kAll));
      },
      [&](std::span<const Tensor> in) {
        return detail::as_tensors(detail::call_with_span(body, in, kAll));
      },
      std::span<const Tensor>(initial), how, first.at());
  if constexpr (detail::TensorTuple<std::remove_cvref_t<Result>>) {
    static_assert(std::tuple_size_v<std::remove_cvref_t<Result>> == kCount,
                  "while_loop: the body must return one tensor for each initial value");
    return detail::as_result<Result>(std::move(found));
  } else if constexpr (kCount == 1) {
    return std::move(found[0]);
  } else {
    return detail::as_result<std::array<Tensor, kCount>>(std::move(found));
  }
}
template <class Condition, class Body, class... Rest>
requires(std::is_convertible_v<Rest, Tensor>&&...) auto while_loop(const Condition& condition,
                                                                   const Body& body,
                                                                   const Input& first,
                                                                   const Rest&... rest) {
  return while_loop(WhileOptions(), condition, body, first, rest...);
}

// Returns the sizes of a tensor as a tensor. Inside a function the result is symbolic: each call
// computes it from the sizes of its inputs.
inline Tensor shape(const Input& x) {
  tenon_tensor* sizes = nullptr;
  check(tenon_shape(current_scope(x.at()), x.get(), &sizes), x.at());
  return Tensor::adopt(sizes);
}

// The results of a scan: the final carried values, and the stacked outputs.
struct ScanResult {
  std::vector<Tensor> carried, stacked;
};

// Iterates over the first axis of `xs`. The body takes the carried values, followed by one slice of
// each of `xs`. It returns the next carried values, followed by the outputs to be stacked.
inline ScanResult scan(const Block& body, std::span<const Tensor> initial,
                       std::span<const Tensor> xs, bool reverse = false,
                       LoopPolicy policy = LoopPolicy::stack, SourceLocation at = here()) {
  tenon_scan_options options = TENON_SCAN_OPTIONS_DEFAULT;
  options.reverse = reverse;
  options.policy = static_cast<int32_t>(policy);
  const auto c_initial = detail::handles(initial), c_xs = detail::handles(xs);
  std::vector<tenon_tensor*> carried(initial.size()), stacked(detail::kMaxOutputs);
  size_t n = 0;
  check(tenon_scan(current_scope(at), detail::c_block(body), c_initial.data(), c_initial.size(),
                   c_xs.data(), c_xs.size(), &options, carried.data(), stacked.data(),
                   stacked.size(), &n),
        at);
  stacked.resize(n);
  return {detail::adopt_all(carried), detail::adopt_all(stacked)};
}

}  // namespace tenon
