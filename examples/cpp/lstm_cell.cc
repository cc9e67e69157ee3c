// An LSTM cell: one matrix product and a dozen small calls, which a trace fuses.

#include <cmath>

#include "examples/cpp/eager_and_traced.hpp"

using namespace tenon;

// Returns the next h and c.
static std::vector<Tensor> lstm_step(const Tensor& x, const Tensor& h, const Tensor& c,
                                     const Tensor& weights) {
  const Tensor xhw = matmul(concat({x, h}, {.axis = 1}), weights);
  const std::vector<Tensor> part = split(xhw, 4, {.axis = 1, .num_outputs = 4});
  const Tensor value = tanh(part[0]);
  const Tensor in_gate = sigmoid(part[1]), forget_gate = sigmoid(part[2]);
  const Tensor out_gate = sigmoid(part[3]);
  const Tensor next_c = forget_gate * c + in_gate * value;
  return {out_gate * tanh(next_c), next_c};
}

int main() {
  return run_eager_and_traced([] {
    std::vector<float> values(4 * 8);
    for (size_t k = 0; k < values.size(); ++k) values[k] = std::sin(static_cast<float>(k));
    const int64_t shape[] = {4, 8};
    const Tensor weights(std::span<const float>(values), shape);
    const Tensor x = matrix<float>({{0.5f, -1}});
    Tensor h = matrix<float>({{0.25f, 0.75f}}), c = matrix<float>({{1, -0.5f}});
    const auto cell = function(lstm_step);
    for (int step = 0; step < 3; ++step) {
      const std::vector<Tensor> next = cell(x, h, c, weights);
      h = next[0], c = next[1];
      std::cout << "h: " << h << "\n";
    }
  });
}
