// Computes the gradients of a loss with respect to every variable that it reads, without listing
// the variables.

#include <iostream>
#include <tenon/tenon.hpp>

using namespace tenon;

int main() {
  const Tensor x = vector<float>({1, 2, 3, 4});
  const Tensor y = vector<float>({3, 5, 7, 9});
  const Variable w(scalar(1.f), {.name = "w"});
  const Variable b(scalar(0.f), {.name = "b"});
  // Two statements, because C++ does not specify which operand of + is evaluated first.
  const auto loss = [&](const Tensor& x, const Tensor& y) {
    const Tensor slope = w * x;
    return mse(slope + b, y);
  };

  std::cout << "loss: " << loss(x, y) << '\n';
  for (const auto& [variable, gradient] : implicit_gradients(loss)(x, y)) {
    std::cout << "gradient by " << variable.name() << ": " << gradient << '\n';
  }
}
