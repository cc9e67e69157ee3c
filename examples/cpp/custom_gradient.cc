// A square with a custom gradient: x + y instead of 2 x.

#include <iostream>
#include <tenon/tenon.hpp>

using namespace tenon;

int main() {
  const auto f = custom_gradient(
      [](const Tensor& x) { return square(x); },
      [](const Backward& call) { return std::vector{call.inputs[0] + call.outputs[0]}; });

  const Tensor three = scalar(3.f);
  std::cout << "f(3): " << f(three) << '\n';
  std::cout << "gradient: " << gradients_function(f)(three)[0] << '\n';
}
