// A square, its gradient, and the gradient of its gradient.

#include <iostream>
#include <tenon/tenon.hpp>

using namespace tenon;

int main() {
  const auto square = [](const Tensor& x) { return x * x; };
  const auto gradient = gradients_function(square);
  const auto second = gradients_function([&](const Tensor& x) { return gradient(x)[0]; });

  const Tensor three = scalar(3.f);
  std::cout << "square(3): " << square(three) << '\n';
  std::cout << "gradient: " << gradient(three)[0] << '\n';
  std::cout << "gradient of the gradient: " << second(three)[0] << '\n';
}
