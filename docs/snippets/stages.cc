// docs/start_here.md: the stages of a traced function in its first two executions.

#include <iostream>
#include <tenon/tenon.hpp>

using namespace tenon;

int main() {
  const Variable weight(matrix<float>({{1, 0}, {0, 1}, {1, 1}}), {.name = "weight"});
  const auto layer = function(
      [&](const Tensor& x) {
        const Tensor y = tanh(matmul(x, weight) * (0.5f + 0.5f) + 0.25f);
        return sum(y * y);
      },
      {.name = "layer"});
  const Tensor x = matrix<float>({{1, 2, 3}, {4, 5, 6}});
  for (int i = 0; i < 2; ++i) layer(x);
  std::cout << layer.traces()[0].stages();
}
