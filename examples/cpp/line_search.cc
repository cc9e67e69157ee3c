// Modifies the pixels of a small image until a classifier assigns it another class. The length of
// each step is halved until the objective decreases by at least the amount that the gradient
// predicts (Armijo's rule). The number of iterations therefore depends on the values of tensors.

#include <cstdio>
#include <tenon/tenon.hpp>

using namespace tenon;

int main() {
  const Tensor weights = matrix<float>({{2, -1, 0, 1}, {0, 1, -2, 1}, {-1, 0, 1, -1}});
  const auto objective = [&](const Tensor& image) {
    return -log_softmax(matmul(weights, image))[2];
  };

  Tensor image = vector({1.f, 0.5f, -0.5f, 0.25f});
  for (int step = 0; step < 10; ++step) {
    const Gradients start = gradients(objective, image);
    const Tensor& gradient = start.by_argument[0];
    const double value = start.value.item<double>();
    const double norm = sum(square(gradient)).item<double>();
    std::printf("-log p: %.4f\n", value);

    double rate = 1;
    Tensor next = image - rate * gradient;
    while (objective(next).item<double>() > value - rate * norm / 2) {
      rate /= 2;
      next = image - rate * gradient;
    }
    image = next;
  }
}
