// A recurrent network over a sequence of any length: a loop over the steps, which collects its
// outputs in a list of tensors. One trace serves every length.

#include <numeric>

#include "examples/cpp/eager_and_traced.hpp"

using namespace tenon;

// Maps inputs, [batch, time, input], to states, [batch, time, state].
static Tensor run_network(const Tensor& x, const Tensor& in_weights, const Tensor& state_weights) {
  const Tensor by_time = transpose(x, {.perm = {1, 0, 2}});
  const TensorList steps = TensorList::unstack(by_time);
  const Tensor n_steps = shape(by_time)[0];
  const Tensor start = zeros_like(steps[0]);
  const auto [i, state, states] = while_loop(
      [&](const Tensor& i, const Tensor&, const TensorList&) { return less(i, n_steps); },
      [&](const Tensor& i, const Tensor& state, const TensorList& states) {
        const Tensor next = tanh(matmul(steps[i], in_weights) + matmul(state, state_weights));
        return std::tuple(i + 1, next, states.set(i, next));
      },
      0, start, TensorList::like(start));
  return transpose(states.stack(n_steps), {.perm = {1, 0, 2}});
}

int main() {
  return run_eager_and_traced([] {
    const Tensor in_weights = matrix<float>({{0.125f, -0.25f}, {-0.0625f, 0.25f}});
    const Tensor state_weights = matrix<float>({{1, 0.5f}, {-0.5f, 1}});
    const InputSpec any_length = {.shape = {TENON_SIZE_UNKNOWN, TENON_SIZE_UNKNOWN, 2}};
    const auto f =
        function([&](const Tensor& x) { return run_network(x, in_weights, state_weights); },
                 {.signature = {any_length}});
    for (const int64_t n_steps : {1, 3}) {
      std::vector<float> values(static_cast<size_t>(4 * n_steps));
      std::iota(values.begin(), values.end(), 1.f);
      const int64_t shape[] = {2, n_steps, 2};
      const Tensor x(std::span<const float>(values), shape);
      std::cout << f(x) << "\n";
    }
    std::cout << "traces: " << f.traces().size() << "\n";
  });
}
